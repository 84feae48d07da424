"""The server at the door of its broker: what requests hand in, and the answers back."""
