"""The covering forest: filters below those that cover them, changed one by one."""
