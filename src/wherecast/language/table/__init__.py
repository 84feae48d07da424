"""The predicate table: filters as arrays, the form that every index is built from."""
