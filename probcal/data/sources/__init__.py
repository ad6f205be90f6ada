"""Sources of data sets: original files, OpenML, scikit-learn and generators of rows."""
