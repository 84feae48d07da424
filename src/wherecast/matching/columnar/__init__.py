"""The columnar index: packed trees of boxes over 16-bit cells."""
