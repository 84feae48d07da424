"""The embedded store: a directory with SQLite databases and Arrow files."""
