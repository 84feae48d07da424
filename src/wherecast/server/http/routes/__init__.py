"""The paths of the server, a module each."""
