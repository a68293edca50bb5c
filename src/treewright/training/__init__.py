"""Training: a table becomes a tree.

learn             read, encode, grow, prune
parameters        scikit-learn's parameters as a recipe
cross_validation  how good a recipe is on rows its trees have not seen
"""
