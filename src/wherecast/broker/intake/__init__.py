"""Publications on their way in: decoded, validated, made ready for the log."""
