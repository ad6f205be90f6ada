"""Classifiers of many class weights fitted together, for learners where that changes no label.

``probcal.fast_paths.shortcut`` says what a shortcut is and how a learner declares one; ``docs/fast-paths.md`` has an
example, and what is promised.
"""
