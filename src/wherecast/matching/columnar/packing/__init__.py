"""How packed trees are built: entries, plan, weights of cells, order, headers."""
