"""Classifiers of many class weights fitted together, for learners where that changes no label."""
