"""Trees of other programs.

A tree that was read in is sound and predicts as the other program does; what the source does not contain
(surrogates, counts of wrong classes, names of classes that are never predicted) is filled in as each reader documents.
"""
