"""Long-term memory for AI agents and people, kept as plain Markdown notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["__version__", "init_vault", "open_vault"]

if TYPE_CHECKING:
    from vault_memory.surfaces.python import init_vault, open_vault


def __getattr__(name: str) -> Any:
    """Load the Python surface only when it is asked for, so that the command line starts fast."""
    if name in ("init_vault", "open_vault"):
        from vault_memory.surfaces import python

        return getattr(python, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
