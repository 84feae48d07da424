"""What applications hold: a broker in their own process, its publishers and subscribers."""
