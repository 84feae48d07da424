"""The trees: betree and forest."""
