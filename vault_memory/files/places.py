"""Where a vault lies, and where its index and local state go because of that. Owns the judgement; makes no folder.

Databases and locks do not work reliably on network folders, and a sync service would carry half-written ones to other
machines; there index/ moves to the user's cache folder and state/ to the user's data folder.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

HOME: Final = ".vault-memory"
_APP: Final = "vault-memory"
_MOUNTINFO: Final = Path("/proc/self/mountinfo")
_WINDOWS_REMOTE: Final = 4

_NETWORK: Final[Mapping[str, str]] = {
    "nfs": "NFS",
    "nfs4": "NFS",
    "cifs": "SMB",
    "smb2": "SMB",
    "smb3": "SMB",
    "smbfs": "SMB",
    "afpfs": "AFP",
    "webdav": "WebDAV",
    "davfs": "WebDAV",
    "afs": "AFS",
    "ceph": "Ceph",
    "lustre": "Lustre",
    "9p": "9P (a folder of the host)",
    "virtiofs": "virtiofs (a folder of the host)",
    "vboxsf": "VirtualBox (a folder of the host)",
    "vmhgfs": "VMware (a folder of the host)",
    "prl_fs": "Parallels (a folder of the host)",
    "drvfs": "WSL (a Windows drive)",
}
_MARKS: Final = ((".stfolder", "Syncthing"), (".dropbox.cache", "Dropbox"))
_NAMES: Final = (
    (re.compile(r"OneDrive([ -].+)?"), "OneDrive"),
    (re.compile(r"Dropbox( \(.+\))?"), "Dropbox"),
    (re.compile(r"iCloud ?Drive|Mobile Documents|com~apple~CloudDocs"), "iCloud"),
    (re.compile(r"Google ?Drive(-.+)?"), "Google Drive"),
)


class Place(Struct, frozen=True):
    """What is special about the folder that a vault lies in."""

    service: str
    """Its name for people: `NFS`, `Dropbox`, …"""
    network: bool
    """True when other machines change files without this system knowing: the watcher has to poll."""


class Folders(Struct, frozen=True):
    """The folders for derived files and for local state, and why they are not in the vault (None: they are)."""

    index: Path
    state: Path
    place: Place | None


def place_of(root: Path, mount_table: str | None = None) -> Place | None:
    """The network or synced folder that `root` lies in; None on an ordinary local disk.

    Args:
        mount_table: text of the system's mount table (`/proc/self/mountinfo`, or what `mount` prints on macOS).
    """
    root = root.resolve()
    return _network(root, mount_table) or _synced(root)


def folders_of(root: Path, mount_table: str | None = None) -> Folders:
    """Where the vault at `root` keeps index and state."""
    place = place_of(root, mount_table)
    if place is None:
        return Folders(root / HOME / "index", root / HOME / "state", None)
    from platformdirs import user_cache_path, user_data_path

    root = root.resolve()
    name = f"{root.name or 'vault'}-{hashlib.sha256(str(root).encode()).hexdigest()[:16]}"
    return Folders(user_cache_path(_APP) / name / "index", user_data_path(_APP) / name / "state", place)


def _network(root: Path, mount_table: str | None) -> Place | None:
    if sys.platform == "win32" and mount_table is None:
        return _windows_network(root)
    kinds = dict(_mounts(_system_mounts() if mount_table is None else mount_table))
    kind = next((kinds[str(folder)] for folder in (root, *root.parents) if str(folder) in kinds), "")
    if kind.startswith("fuse."):
        return Place(f"FUSE ({kind.removeprefix('fuse.')})", network=True)
    return Place(_NETWORK[kind], network=True) if kind in _NETWORK else None


def _windows_network(root: Path) -> Place | None:
    import ctypes

    drive_type = ctypes.windll.kernel32.GetDriveTypeW(root.anchor)  # type: ignore[attr-defined,unused-ignore]
    remote = root.anchor.startswith("\\\\") or drive_type == _WINDOWS_REMOTE
    return Place("a network drive", network=True) if remote else None


def _system_mounts() -> str:
    if sys.platform == "linux":
        try:
            return _MOUNTINFO.read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    try:
        return subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False, timeout=5).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _mounts(table: str) -> Iterator[tuple[str, str]]:
    """Mount point and file system of each line; a later mount on the same point hides the earlier one."""
    for line in table.splitlines():
        if match := re.match(r"\d+ \d+ \S+ \S+ (\S+) .*? - (\S+) ", line):
            point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), match[1])
            yield point, match[2]
        elif match := re.match(r"\S+ on (.+) \((\w+)[,)]", line):
            yield match[1], match[2]


def _synced(root: Path) -> Place | None:
    for folder in (root, *root.parents):
        for pattern, service in _NAMES:
            if pattern.fullmatch(folder.name):
                return Place(service, network=False)
        for mark, service in _MARKS:
            if (folder / mark).exists():
                return Place(service, network=False)
    return None
