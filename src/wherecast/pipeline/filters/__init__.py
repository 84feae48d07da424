"""Sets of filters: how they are read, compiled, stored as blobs, versioned and loaded."""
