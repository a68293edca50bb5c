"""Rules: the paths of a tree as conditions, and ordered rule lists in the manner of C4.5rules."""
