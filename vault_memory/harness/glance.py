"""A quick look into a vault for hooks: its catalog, brought up to the disk only when something changed.

Owns when the vault proper is opened at all: its writing parts cost more to import than a hook may take. Notes are never
written from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from vault_memory.config import Config
from vault_memory.files.ignore import Ignore
from vault_memory.files.lease import Lease
from vault_memory.files.places import folders_of
from vault_memory.files.scan import diff, scan
from vault_memory.index.catalog import Catalog

if TYPE_CHECKING:
    from vault_memory.files.places import Folders

REFRESH_MS: Final = 100.0
"""Time for reading notes that changed while no watcher ran; the rest is for whoever asks next."""


class Glance(Struct, frozen=True):
    """An open catalog and where the vault keeps its local state."""

    catalog: Catalog
    state: Path


@contextmanager
def glance(root: Path, config: Config) -> Iterator[Glance]:
    """The vault's catalog, in step with the disk as far as the time allows.

    Raises:
        VaultNotFound, StorageError, IndexUnavailable: it cannot be read.
    """
    folders = folders_of(root)
    catalog = Catalog.open(folders.index)
    try:
        if not _in_step(root, config, catalog, folders):
            _refresh(root, config)
        yield Glance(catalog, folders.state)
    finally:
        catalog.close()


def _in_step(root: Path, config: Config, catalog: Catalog, folders: Folders) -> bool:
    """True when a watcher vouches for the catalog, or a walk shows nothing new."""
    lease = Lease(folders.state / "watcher.lease").state()
    if lease is not None and lease.clean_ns:
        return True
    seen = scan(root, Ignore(root, config.notes.ignore), max_bytes=config.notes.max_note_bytes)
    return not diff(seen, catalog.known())


def _refresh(root: Path, config: Config) -> None:
    from vault_memory.vault import Vault

    with Vault.open(root, config) as vault:
        vault.refresh(budget_ms=REFRESH_MS)
