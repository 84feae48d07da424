"""Texts of filters: read into a syntax tree, and written back."""
