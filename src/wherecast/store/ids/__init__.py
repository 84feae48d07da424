"""Ids of publications: given, hashed, remembered, and sifted for duplicates."""
