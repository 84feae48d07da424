"""The store in memory: for tests, and for brokers that may forget."""
