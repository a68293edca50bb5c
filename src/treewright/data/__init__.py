"""Tables: read, described, encoded.

    reader      any table, file or query becomes a `Frame` (frame, columns, series, sources/)
    kinds       what kind each column is
    schema      the description of columns and target, without data
    encoding    a `Frame` becomes `Encoded` arrays, by its schema
    rows        `Encoded` rows put together
    survey      missing values and infinite numbers, counted before anything starts
    value_text  values as text

Importing this package loads nothing: `schema` needs the standard library alone.
"""
