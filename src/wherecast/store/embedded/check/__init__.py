"""The check of a store's directory."""
