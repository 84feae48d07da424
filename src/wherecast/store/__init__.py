"""What is kept: the contracts of a store, their implementations, and blobs under a URI."""
