"""The arithmetic of a node, step by step: `explain_node`, and text, html and markdown to write it."""
