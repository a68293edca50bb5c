"""Trees of other programs. Comes in: an estimator, or the text another program wrote. Goes out: a `Tree`.

Always holds: a tree that was read in is sound and answers as the other program says it would; what the source does not
tell (surrogates, counts of wrong classes, names of classes that are never answered) is filled in as each reader
documents.
"""
