"""Reading filters."""
