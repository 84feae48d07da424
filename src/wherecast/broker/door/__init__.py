"""The door: the one place where a process writes to the log of its store."""
