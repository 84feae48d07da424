"""Between clients and a store: publications in, notifications out."""
