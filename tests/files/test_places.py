"""Network and synced folders are recognised, and index and state leave them."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_memory.files.places import Place, folders_of, place_of

LINUX = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 22 0:40 / {root}/nfs rw,relatime shared:1 - nfs4 server:/export rw,vers=4.2
41 22 0:41 / {root}/with\\040space rw - cifs //server/share rw
42 22 0:42 / {root}/sshfs rw - fuse.sshfs me@host: rw
43 22 0:43 / {root}/ntfs rw - fuseblk /dev/sdb1 rw
44 22 0:44 / {root}/wsl rw - 9p C: rw
45 40 0:45 / {root}/nfs/local rw - ext4 /dev/vdb rw
46 22 0:46 / {root}/over rw - nfs a:/ rw
47 22 0:47 / {root}/over rw - xfs /dev/vdc rw
"""
MACOS = """\
/dev/disk3s1 on / (apfs, sealed, local, read-only, journaled)
//me@nas/share on {root}/Nas Share (smbfs, nodev, nosuid, mounted by me)
"""


@pytest.mark.parametrize(
    ("folder", "service"),
    [
        ("nfs/vault", "NFS"),
        ("nfs", "NFS"),
        ("with space/v", "SMB"),
        ("sshfs/v", "FUSE (sshfs)"),
        ("ntfs/v", None),
        ("wsl/v", "9P (a folder of the host)"),
        ("nfs/local/v", None),
        ("over/v", None),
        ("nfs-not/v", None),
        ("plain/v", None),
    ],
)
def test_pt_network_folders_of_linux(tmp_path: Path, folder: str, service: str | None) -> None:
    place = place_of(tmp_path / folder, LINUX.format(root=str(tmp_path.resolve())))
    assert (place and place.service, place and place.network) == (service, service and True)


def test_network_folders_of_macos(tmp_path: Path) -> None:
    table = MACOS.format(root=str(tmp_path.resolve()))
    assert place_of(tmp_path / "Nas Share/v", table) == Place("SMB", network=True)
    assert place_of(tmp_path / "Documents/v", table) is None


@pytest.mark.parametrize(
    ("folder", "service"),
    [
        ("Dropbox/v", "Dropbox"),
        ("Dropbox (Work)/a/v", "Dropbox"),
        ("OneDrive/v", "OneDrive"),
        ("OneDrive - Company/v", "OneDrive"),
        ("Library/Mobile Documents/iCloud~md~obsidian/Documents/v", "iCloud"),
        ("iCloudDrive/v", "iCloud"),
        ("Library/CloudStorage/GoogleDrive-me@example.com/My Drive/v", "Google Drive"),
        ("Dropboxes/v", None),
        ("notes about OneDrive/v", None),
    ],
)
def test_synced_folders_by_their_name(tmp_path: Path, folder: str, service: str | None) -> None:
    place = place_of(tmp_path / folder, "")
    assert place == (Place(service, network=False) if service else None)


@pytest.mark.parametrize(("mark", "service"), [(".stfolder", "Syncthing"), (".dropbox.cache", "Dropbox")])
def test_synced_folders_by_their_mark(tmp_path: Path, mark: str, service: str) -> None:
    (tmp_path / "shared" / mark).mkdir(parents=True)
    assert place_of(tmp_path / "shared/v", "") == Place(service, network=False)


def test_a_local_vault_keeps_its_own(tmp_path: Path) -> None:
    folders = folders_of(tmp_path, "")
    assert folders.place is None
    assert folders.index == tmp_path / ".vault-memory/index"
    assert folders.state == tmp_path / ".vault-memory/state"


def test_elsewhere_each_vault_gets_folders_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    one, two = (folders_of(tmp_path / "Dropbox" / name / "vault", "") for name in ("a", "b"))
    assert one.place is not None
    assert one.index.is_relative_to(tmp_path / "cache/vault-memory")
    assert one.state.is_relative_to(tmp_path / "data/vault-memory")
    assert one.index.parent.name.startswith("vault-")
    assert len({one.index, two.index, one.state, two.state}) == 4
    assert folders_of(tmp_path / "Dropbox/a/vault", "") == one


def test_this_system_can_be_asked(tmp_path: Path) -> None:
    place = place_of(tmp_path)
    assert place is None or place.network
