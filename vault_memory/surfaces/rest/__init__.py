"""The server: REST, MCP over HTTP, events and metrics over one vault. Imported only by `vault-memory serve`."""
