"""Trees of other programs.

A tree that was read in is sound and predicts as the other program says it would; what the source does not tell
(surrogates, counts of wrong classes, names of classes that are never predicted) is filled in as each reader documents.
"""
