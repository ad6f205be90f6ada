"""Witnesses: cheap cells with stored predictions, which show whether an edit of the code changed a number.

A witness stands for one setting: a learner and a method with their parameters, on two classes or on several. Settings
that differ in a number only share a witness. All run on data that come with the packages, so that everybody can compute
them. All cells are computed in new processes with the instruction set of ``probcal.runner.instruction_set``.
"""
