"""The studio: a page on this machine where a tree is grown by hand, and the thin server behind it.

The work is the library's (`editing`, `inspection`, `reporting`); here are the session, its journal and the routes.
"""
