"""Signing in through a browser (OAuth 2.1): the `mcp` package speaks the protocol, this keeps, asks and decides."""
