"""Other brokers on the same machine, in the same run."""
