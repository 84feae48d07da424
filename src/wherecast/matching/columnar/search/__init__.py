"""How a batch is matched: encoded, searched through trees or scanned, checked exactly."""
