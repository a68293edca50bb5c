"""Training: a table becomes a tree.

learn             read, encode, grow, prune
learn_large       the same for rows that are not in memory
parameters        scikit-learn's parameters as a recipe
cross_validation  how good a recipe is on rows its trees have not seen
"""
