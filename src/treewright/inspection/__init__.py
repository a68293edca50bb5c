"""Inspection: what a tree does, and why.

ranking                     every column's best split (ranking_text)
derivation/                 the arithmetic of a node: explain_node
explain_row                 the path of a row (one_row, row_text, row_html)
counterfactuals             the smallest changes of a row that change its prediction (allowed_values)
shap                        Shapley values
rules/                      rules and rule lists
importance, permutation     which columns matter
masking                     which columns a chosen split hides
histograms                  the rows of every node, for pictures
"""
