"""How sure a tree is: refits on resamples, held-out scores, intervals and tests."""
