"""The broker in process."""
