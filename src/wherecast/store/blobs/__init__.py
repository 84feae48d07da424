"""Named blobs under a URI, and this host's copies of them."""
