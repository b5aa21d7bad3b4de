"""MCP: the operations as tools, memories as resources, over stdio or HTTP. Imports the SDK only in `server`."""
