"""The BE-Tree: filters in a tree of attributes and halved domains, changed one by one."""
