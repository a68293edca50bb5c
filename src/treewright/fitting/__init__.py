"""Linear models of the nodes of a grown tree, fitted by least squares.

regressors   what may enter the model of each node
moments      means and products of deviations per node, from passes over the rows
fit_models   the tree with models
"""
