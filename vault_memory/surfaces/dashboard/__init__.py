"""The dashboard: static pages over the REST operations, and the browser's session. No logic of memories lives here."""
