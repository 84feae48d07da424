"""Columns of filters, read without a loop over the filters."""
