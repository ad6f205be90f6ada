"""Fast paths: fit the classifiers of many class weights at once, for learners where that changes no label.

``probcal.fast_paths.fast_path`` defines what a fast path is and how a learner declares one.
``docs/performance.md`` has an example and the guarantees.
"""
