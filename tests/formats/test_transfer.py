"""Exports and imports of real vaults: nothing is lost, nothing is made twice, and what cannot go in is named."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from vault_memory import init_vault, open_vault
from vault_memory.errors import InvalidRequest, NotAllowed
from vault_memory.surfaces.python import VaultMemory

ENVIRON = {"VAULT_MEMORY_CONFIG": "/nonexistent/config.toml"}


def new_vault(folder: Path, **options: Any) -> VaultMemory:
    if not folder.exists():
        init_vault(folder, git=options.pop("git", False))
    options.pop("git", None)
    return open_vault(folder, environ=ENVIRON, actor="*", **options)


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """Twenty notes with everything that a note can state, some by hand, one with a picture."""
    root = bare(tmp_path / "full")
    folder = root / "memories" / "acme" / "fact"
    folder.mkdir(parents=True)
    statuses = ["active", "archived", "deleted", "invalid"]
    for n in range(18):
        other = f"note-{(n + 1) % 18}"
        text = (
            f"---\nid: imported-{n:02}\ntitle: 'Note: {n}'\nmemory_type: fact\nstatus: {statuses[n % 4]}\n"
            f"tags: [one, two-{n}]\naliases: [other {n}]\nproject: acme\nsource: agent\nagent: tester\n"
            f"importance: 0.7\nconfidence: 0.95\nverification: confirmed\npinned: true\n"
            f"expires_at: 2031-05-06T07:08:09Z\n"
            "created_at: 2020-01-02T03:04:05+00:00\nupdated_at: 2026-11-20T10:00:00.123456Z\nversion: 3\n"
            f'relates_to: ["[[{other}]]"]\nfavourite_colour: blue # mine\n---\n'
            f"Body {n} with a line.\nAnd [[{other}]].\n"
        )
        (folder / f"note-{n}.md").write_bytes(text.replace("\n", "\r\n" if n % 3 == 0 else "\n").encode())
    (root / "by hand.md").write_bytes("\ufeffJust a thought, with ![[picture.png]] beside.\n".encode())
    (root / "empty.md").write_bytes(b"")
    (root / "pictures").mkdir()
    (root / "pictures" / "picture.png").write_bytes(bytes(range(256)))
    with new_vault(root) as vm:
        vm.get(refs=["imported-00", "imported-04"])
    return root


def bare(root: Path) -> Path:
    """A vault without a single visible file."""
    init_vault(root, git=False)
    for path in sorted(root.iterdir()):
        if not path.name.startswith("."):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return root


def files_of(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)
    }


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[VaultMemory]:
    root = bare(tmp_path / "empty")
    with new_vault(root) as vm:
        yield vm


@pytest.mark.parametrize("form", ["json", "notes"])
def test_pt_01_export_and_import_lose_nothing_and_repeat_nothing(full: Path, tmp_path: Path, form: str) -> None:
    place = tmp_path / "out" / "export"
    with new_vault(full) as vm:
        done = vm.export(to=str(place), format=form)
        assert (done.count, done.attachments, done.left_out) == (20, 1, ())
        before = {
            item.ref: item for item in vm.list(limit=100, status="active,archived,deleted,invalid", touch=False).items
        }
    target = bare(tmp_path / "target")
    with new_vault(target) as vm:
        assert vm.import_(source=str(place)).counts == {"new": 20}
        assert files_of(target) == {}, "a plan writes nothing"
        report = vm.import_(source=str(place), execute=True)
        assert (report.counts, report.failed, report.attachments) == ({"new": 20}, 0, 1)
        assert files_of(target) == files_of(full)
        after = {
            item.ref: item for item in vm.list(limit=100, status="active,archived,deleted,invalid", touch=False).items
        }
        stated = {ref for ref, item in before.items() if item.memory.id}
        assert {r: (after[r].memory, after[r].access_count, after[r].last_accessed_at) for r in stated} == {
            r: (before[r].memory, before[r].access_count, before[r].last_accessed_at) for r in stated
        }
        again = vm.import_(source=str(place), execute=True)
        assert (again.counts, again.attachments) == ({"unchanged": 20}, 0)
        assert files_of(target) == files_of(full)
        assert vm.get(refs=["imported-00"], touch=False).memories[0].access_count == 1


@pytest.mark.parametrize("policy", ["skip", "replace", "keep_both"])
def test_pt_01_clashes_are_named_and_settled_by_the_policy(full: Path, tmp_path: Path, policy: str) -> None:
    place = tmp_path / "export.json"
    with new_vault(full) as vm:
        vm.export(to=str(place))
    exported = files_of(full)
    clashing = {f"memories/acme/fact/note-{n}.md" for n in (1, 2, 3)}
    for path in clashing:
        (full / path).write_bytes((full / path).read_bytes().replace(b"Body", b"Another body"))
    here = files_of(full)
    with new_vault(full) as vm:
        report = vm.import_(source=str(place), on_clash=policy, execute=True)
        outcome = {"skip": "skipped", "replace": "replaced", "keep_both": "kept_both"}[policy]
        assert report.counts == {"unchanged": 17, outcome: 3}
        assert {item.name for item in report.items} == clashing
        assert all("already" in item.reason for item in report.items)
        now = files_of(full)
        if policy == "keep_both":
            added = set(now) - set(here)
            assert len(added) == 3
            assert {path: now[path] for path in here} == here
            assert all(b"\nBody" in now[path] for path in added)
        else:
            assert now == (here if policy == "skip" else exported)
        vm.import_(source=str(place), on_clash=policy, execute=True)
        assert files_of(full) == now


def test_what_a_replacement_replaced_is_in_the_history(full: Path, tmp_path: Path) -> None:
    with new_vault(full) as vm:
        document = vm.export().data
        vm.update(ref="imported-04", content="what the person wrote meanwhile")
        vm.import_(data=document, on_clash="replace", execute=True)
        texts = [v.revision for v in vm.history(ref="imported-04").versions]
        assert len(texts) == 2
        restored = vm.restore(ref="imported-04", revision=texts[0])
        assert restored.memory.content == "what the person wrote meanwhile"


def test_a_bad_record_is_named_and_the_others_go_in(empty: VaultMemory) -> None:
    snapshot = {
        "version": 1,
        "exportedAt": "2026-01-01T00:00:00Z",
        "memories": [
            {
                "id": "a",
                "actorId": "bot",
                "memoryType": "fact",
                "content": "Good one",
                "createdAt": "2024-05-06T07:08:09Z",
            },
            {"id": "b", "actorId": "bot", "content": "   "},
            {"id": "c", "actorId": "bot", "content": "Bad", "importance": 7},
            {"id": "d", "content": "the token is ghp_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3"},
            {"id": "e", "content": "Bad time", "createdAt": "yesterday"},
            "not even an object",
            {"id": "g", "actorId": "bot", "content": "Good two", "tags": "x, y", "metadata": {"k": [1, 2]}},
        ],
    }
    report = empty.import_(data=snapshot, execute=True)
    assert report.counts == {"new": 2, "refused": 5}
    assert [item.name for item in report.items] == ["b", "c", "d", "e", "record 6"]
    assert "ghp_" not in json.dumps([item.reason for item in report.items])
    a, g = (empty.get(refs=[ref]).memories[0].memory for ref in ("a", "g"))
    assert a.created_at == a.updated_at == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert (a.actor, a.memory_type, g.memory_type, g.tags) == ("bot", "fact", "interaction", ("x", "y"))
    assert dict(g.metadata) == {"k": [1, 2]}
    assert empty.import_(data=snapshot, execute=True).counts == {"refused": 5, "unchanged": 2}


def test_memstack_snapshots_come_back_as_they_were(empty: VaultMemory, tmp_path: Path) -> None:
    memories = [
        {
            "id": f"m-{n}", "actorId": "bot", "memoryType": "decision", "content": f"Decision {n}", "importance": 0.25,
            "emotionalValence": -0.5, "tags": ["a"], "metadata": {"n": n}, "createdAt": "2024-01-02T03:04:05.678000Z",
            "sourceId": f"event-{n}", "expiresAt": "2031-01-01T00:00:00Z",
        }
        for n in range(3)
    ]  # fmt: skip
    empty.import_(data=memories, execute=True)
    exported = empty.export(format="memstack").data
    assert sorted(exported["memories"], key=lambda m: m["id"]) == memories
    assert exported["version"] == 1


def test_an_import_is_one_commit_that_can_be_reverted(tmp_path: Path) -> None:
    root = tmp_path / "git vault"
    init_vault(root)
    with new_vault(root) as vm:
        report = vm.import_(data=[{"id": f"m{n}", "content": f"Fact number {n}"} for n in range(5)], execute=True)
        assert report.counts == {"new": 5}
        entry = vm.history(ref="m0").versions[0]
        assert entry.commit == vm.history(ref="m4").versions[0].commit
        operation = next(
            line for line in Path(root, ".vault-memory/state/audit.jsonl").read_text().splitlines() if "import" in line
        )
        vm.undo(operation=json.loads(operation)["id"])
        assert vm.list(touch=False, source="import").total == 0


def test_a_session_takes_in_only_what_it_sees(tmp_path: Path) -> None:
    root = tmp_path / "scoped"
    init_vault(root, git=False)
    with open_vault(root, environ=ENVIRON, actor="*") as owner:
        owner.import_(data=[{"id": "secret", "actorId": "other", "content": "Owned by another"}], execute=True)
    with open_vault(root, environ=ENVIRON, actor="bot", project="acme") as vm:
        records = [
            {"id": "mine", "content": "No owner named"},
            {"id": "theirs", "actorId": "other", "content": "Not mine"},
            {"id": "secret", "actorId": "bot", "content": "An id of another actor"},
        ]
        report = vm.import_(data=records, execute=True, on_clash="replace")
        assert report.counts == {"new": 1, "refused": 2}
        memory = vm.get(refs=["mine"]).memories[0].memory
        assert (memory.actor, memory.project) == ("bot", "acme")
        assert vm.export(format="memstack").count == 1
    with open_vault(root, environ=ENVIRON, actor="*") as owner:
        assert owner.get(refs=["secret"]).memories[0].content == "Owned by another"


def test_the_same_text_under_another_id_is_not_taken_in_twice(empty: VaultMemory) -> None:
    empty.remember(content="The staging host is fern.", memory_type="fact", actor="bot")
    record = {"id": "x", "actorId": "bot", "memoryType": "fact", "content": "The staging host is fern."}
    skipped = empty.import_(data=[record], execute=True)
    assert skipped.counts == {"skipped": 1}
    assert "says the same" in skipped.items[0].reason
    assert empty.import_(data=[record], execute=True, on_clash="keep_both").counts == {"new": 1}


def test_callers_from_afar_name_no_files(full: Path, tmp_path: Path) -> None:
    from vault_memory.operations.context import Context
    from vault_memory.operations.transfer import Backup, Export, Import, backup, export, import_

    with new_vault(full) as vm:
        ctx = Context(vm._vault, vm._scope, datetime.now(UTC))
        for attempt in (
            lambda: export(ctx, Export(to=str(tmp_path / "x"))),
            lambda: import_(ctx, Import(source="/etc/passwd")),
            lambda: backup(ctx, Backup(to=str(tmp_path))),
        ):
            with pytest.raises(NotAllowed):
                attempt()


@pytest.mark.parametrize("zipped", [False, True])
def test_a_backup_is_a_vault_of_its_own(full: Path, tmp_path: Path, zipped: bool) -> None:
    with new_vault(full) as vm:
        made = Path(vm.backup(to=str(tmp_path / "backups"), zip=zipped).path)
    assert made.name.startswith("full-20")
    if zipped:
        unpacked = tmp_path / "unpacked"
        zipfile.ZipFile(made).extractall(unpacked)
        made_folder = unpacked
    else:
        made_folder = made
    assert files_of(made_folder).keys() - files_of(full).keys() == {"vault-memory-usage.json"}
    with new_vault(made_folder) as vm:
        assert vm.list(limit=1, status="active,archived,deleted,invalid", touch=False).total == 20
    restored = bare(tmp_path / "restored")
    with new_vault(restored) as vm:
        assert vm.import_(source=str(made), execute=True).counts == {"new": 20}
    assert files_of(restored) == files_of(full)


def test_an_export_overwrites_nothing(full: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken.json"
    taken.write_text("mine")
    with new_vault(full) as vm, pytest.raises(InvalidRequest):
        vm.export(to=str(taken))
    assert taken.read_text() == "mine"


def test_paths_that_lead_outside_are_refused(empty: VaultMemory, tmp_path: Path) -> None:
    document = {
        "format": "vault-memory",
        "version": 1,
        "memories": [{"path": "../outside.md", "text": "x"}, {"path": ".git/hooks/x.md", "text": "x"}],
        "attachments": [{"path": "../evil.sh", "base64": "eA=="}, {"path": ".git/config", "base64": "eA=="}],
    }
    report = empty.import_(data=document, execute=True)
    assert report.counts == {"refused": 2}
    assert report.attachments == 0
    assert len(report.warnings) == 2
    assert not (tmp_path / "outside.md").exists()
    assert not (tmp_path / "evil.sh").exists()
