"""A tree as shapes in the plane, before they become svg or matplotlib."""
