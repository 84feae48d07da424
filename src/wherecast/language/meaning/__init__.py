"""What a filter means: expressions, constants, constraints, normal forms, covering."""
