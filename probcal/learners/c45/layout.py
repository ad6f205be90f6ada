"""Where the arrays of the compiled functions hold what."""

ROW = 32
"""An entry of a numeric column is an int64: the code of the value from this bit on, and the row below it."""

ATTRIBUTE, FIRST_CHILD, N_CHILDREN, EMPTY = range(4)
"""Columns of the whole numbers of a tree's nodes. A leaf has no children and the attribute -1."""

CUT, TOTAL, BRANCH, COUNTS = range(4)
"""Columns of the real numbers of a tree's nodes.

CUT is the largest value of the first branch, or the level that the first of two branches takes, or -1 if each level has
a branch. TOTAL is the weight of the rows, and BRANCH the weight that the parent's split gives to the branch. From
COUNTS on are the weights of the classes in the node, and then those of the branch.
"""
