"""Pictures drawn with matplotlib: the tree, its decision boundary, its size against its error."""
