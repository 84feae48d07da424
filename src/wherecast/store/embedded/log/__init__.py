"""`log.db`: publications, changes, and the registry that they make."""
