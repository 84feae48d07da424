"""One publication at a time: from a mapping to filter numbers, without Arrow."""
