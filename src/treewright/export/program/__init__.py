"""A tree as a language-independent program, which every exporter writes down in its own syntax."""
