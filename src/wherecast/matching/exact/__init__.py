"""What decides exactly, for indexes whose filters come and go one by one."""
