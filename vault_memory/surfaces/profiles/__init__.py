"""The tool sets of other memory systems over our operations: the names, defaults and results their users know."""
