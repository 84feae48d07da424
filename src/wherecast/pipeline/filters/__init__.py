"""Sets of filters: read, compiled, stored as blobs, versioned and loaded."""
