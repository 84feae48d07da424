"""Small calls that are done together."""
