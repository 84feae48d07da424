"""The functions and operators of formulas: what types they take and give, and what they mean."""
