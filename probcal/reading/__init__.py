"""The one reader of users' tables: CSV, Parquet and ARFF to typed columns, for training and for new rows."""
