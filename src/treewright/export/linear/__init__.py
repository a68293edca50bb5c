"""Linear models of leaves, as each language and format writes them."""
