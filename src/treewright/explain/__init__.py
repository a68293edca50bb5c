"""Reading a tree: the arithmetic behind it, the path of a row, rules, importances.

Comes in: a tree, and where a question is about rows, a table. Goes out: frozen values that print themselves.
Always holds: nothing here changes a tree or learns one to keep; a formula is asked of the core, never written again.
"""
