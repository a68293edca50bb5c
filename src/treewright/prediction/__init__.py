"""Prediction: rows find their leaf.

predict      predict, predict_proba, apply, predict_batches
routing      encoded rows through the compiled router
encode_rows  a table encoded by a tree's schema, with or without its target
scores       one number for the predictions of some rows
evaluation   confusion matrix and residuals
"""
