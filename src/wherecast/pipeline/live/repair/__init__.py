"""What a live pipeline does after damage and deaths: mends segments, finds poison."""
