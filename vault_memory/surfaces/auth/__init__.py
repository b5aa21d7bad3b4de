"""Who may ask what over HTTP: tokens, the callers they stand for, and the guard against foreign web pages."""
