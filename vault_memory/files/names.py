"""Which names a folder holds, regardless of case. Owns a memory of folder listings, each valid while its mtime is."""

from __future__ import annotations

import os
from typing import Final

from vault_memory.files.paths import normal

_FOLDERS: Final = 256


def folded(name: str) -> str:
    """The form in which two names clash on some file system: NFC and case-folded."""
    return normal(name).casefold()


class FolderNames:
    """Folded names by folder.

    A folder is listed again when its mtime moved, so a burst of new notes in a big folder lists it once. A name that
    somebody else makes in the same clock tick can be missed; equal names are refused by the disk in any case.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, set[str]]] = {}

    def of(self, folder: str) -> set[str]:
        """The folded names in the folder, not to be changed; empty when it does not exist."""
        try:
            mtime_ns = os.stat(folder).st_mtime_ns
        except FileNotFoundError:
            return set()
        known = self._known.get(folder)
        if known is None or known[0] != mtime_ns:
            known = self._keep(folder, mtime_ns, {folded(name) for name in os.listdir(folder)})
        return known[1]

    def has(self, place: str) -> bool:
        """True when the folder of `place` holds its name in some case."""
        folder, name = os.path.split(place)
        return folded(name) in self.of(folder)

    def added(self, place: str) -> None:
        """Tell that we made `place`, right after `has` denied it."""
        folder, name = os.path.split(place)
        if known := self._known.get(folder):
            known[1].add(folded(name))
            self._keep(folder, os.stat(folder).st_mtime_ns, known[1])

    def forget(self, place: str) -> None:
        """Tell that the folder of `place` changed in some other way."""
        self._known.pop(os.path.dirname(place), None)

    def _keep(self, folder: str, mtime_ns: int, names: set[str]) -> tuple[int, set[str]]:
        if len(self._known) >= _FOLDERS and folder not in self._known:
            self._known.clear()
        self._known[folder] = (mtime_ns, names)
        return self._known[folder]
