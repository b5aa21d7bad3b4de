"""The single write path: what a write keeps, refuses and records, against hands that write at the same time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operations.conftest import ENVIRON
from vault_memory import open_vault
from vault_memory.errors import InvalidRequest, MalformedNote, MemoryNotFound, NotAllowed, Rejected, RevisionConflict
from vault_memory.surfaces.python import VaultMemory

NOTE = "".join(f"line {n}\n" for n in range(1, 11))


def test_a_stored_memory_is_one_readable_note_with_its_content_byte_for_byte(vm: VaultMemory, root: Path) -> None:
    content = "---\nnot front matter\n---\r\ntwo  \n\n\n"
    stored = vm.remember(content=content, title="Odd text", tags=["a b", "1e3"], metadata={"mine": "12:30"})
    text = (root / stored.memory.path).read_bytes().decode()
    assert text.endswith(content)
    assert stored.memory.path == "memories/global/note/odd-text.md"
    read = vm.get(refs=[stored.memory.id]).memories[0]
    assert read.content == content
    assert read.tags == ("a b", "1e3")
    assert dict(read.metadata) == {"mine": "12:30"}


def test_a_second_note_of_the_same_title_stands_beside_the_first(vm: VaultMemory) -> None:
    paths = [vm.remember(content=f"text {n}", title="Same").memory.path for n in range(3)]
    assert [path.rpartition("/")[2] for path in paths] == ["same.md", "same 2.md", "same 3.md"]


def test_version_rises_only_when_something_changed(vm: VaultMemory, root: Path) -> None:
    memory = vm.remember(content="text", tags=["a"]).memory
    assert vm.update(ref=memory.id, tags=["a"]).outcome == "unchanged"
    before = (root / memory.path).read_bytes()
    changed = vm.update(ref=memory.id, tags=["a", "b"])
    assert (changed.outcome, changed.memory.version) == ("updated", 2)
    assert len(set(before.splitlines()) ^ set((root / memory.path).read_bytes().splitlines())) <= 6
    assert vm.update(ref=memory.id, content="text").outcome == "unchanged"


def test_an_edit_of_a_persons_note_adds_neither_id_nor_stamps(vm: VaultMemory, root: Path) -> None:
    note = root / "mine.md"
    note.write_bytes(b"\xef\xbb\xbf---\r\ntitle: Mine # keep\r\n---\r\n\r\nBody  \r\n")
    vm.update(ref="mine.md", status="archived")
    assert note.read_bytes() == b"\xef\xbb\xbf---\r\ntitle: Mine # keep\r\nstatus: archived\r\n---\r\n\r\nBody  \r\n"


def test_fn_03_a_title_that_two_notes_share_is_never_guessed(vm: VaultMemory, root: Path) -> None:
    for team, text in (("red", "red at nine"), ("blue", "blue at ten")):
        (root / "teams" / team).mkdir(parents=True)
        (root / "teams" / team / "Standup.md").write_text(f"---\nid: {team}1\n---\n{text}\n")
    for call in (
        lambda: vm.update(ref="Standup", tags=["x"]),
        lambda: vm.move(ref="Standup", path="x"),
        lambda: vm.forget(ref="Standup"),
        lambda: vm.get(refs=["Standup"]),
    ):
        with pytest.raises(InvalidRequest) as refused:
            call()
        assert {c["path"] for c in refused.value.extra["candidates"]} == {
            "teams/red/Standup.md",
            "teams/blue/Standup.md",
        }
    with pytest.raises(MemoryNotFound):
        vm.get(refs=["Stand"])
    assert vm.update(ref="teams/red/Standup.md", tags=["x"]).memory.id == "red1"
    assert vm.forget(ref="blue1").memory.path == "teams/blue/Standup.md"
    found = {hit.memory.path for hit in vm.search(query="Standup", include_archived=True).hits}
    assert found == {"teams/red/Standup.md", "teams/blue/Standup.md"}


def test_cc_03_an_older_copy_never_overwrites_what_a_person_wrote(vm: VaultMemory, root: Path) -> None:
    note = root / "note.md"
    note.write_text(NOTE)
    token = vm.get(refs=["note.md"]).memories[0].revision
    with note.open("a") as file:
        file.write("do not ship on friday\n")
    for call in (
        lambda: vm.update(ref="note.md", content="mine", if_revision=token),
        lambda: vm.forget(ref="note.md", if_revision=token),
        lambda: vm.delete(ref="note.md", if_revision=token),
        lambda: vm.move(ref="note.md", path="other.md", if_revision=token),
    ):
        with pytest.raises(RevisionConflict) as refused:
            call()
        assert "do not ship on friday" in refused.value.extra["current"]["text"]
    assert note.read_text() == NOTE + "do not ship on friday\n"
    vm.append(ref="note.md", text="appended", if_revision=token)
    assert note.read_text() == NOTE + "do not ship on friday\nappended\n"
    replaced = vm.update(ref="note.md", content="all new\n")
    kept = [version for version in vm.history(ref="note.md").versions if version.revision]
    assert replaced.outcome == "updated"
    assert "do not ship on friday" in vm._vault.version("note.md", kept[0].revision).decode()


def test_a_stale_patch_merges_when_other_fields_were_changed_and_not_when_the_same(vm: VaultMemory, root: Path) -> None:
    memory = vm.remember(content="text", importance=0.7).memory
    vm.update(ref=memory.id, tags=["other"])
    merged = vm.update(ref=memory.id, importance=0.9, if_revision=memory.revision)
    assert (merged.memory.importance, merged.memory.tags) == (0.9, ("other",))
    with pytest.raises(RevisionConflict):
        vm.update(ref=memory.id, importance=0.1, if_revision=memory.revision)
    with pytest.raises(RevisionConflict):
        vm.update(ref=memory.id, tags=["x"], if_version=1)


def test_a_conflicted_note_is_found_and_refused(vm: VaultMemory, root: Path) -> None:
    (root / "plan.md").write_text("# Plan\n<<<<<<< ours\nblue\n=======\nred\n>>>>>>> theirs\n")
    before = (root / "plan.md").read_bytes()
    with pytest.raises(MalformedNote):
        vm.update(ref="plan.md", tags=["x"])
    with pytest.raises(MalformedNote):
        vm.append(ref="plan.md", text="more")
    assert (root / "plan.md").read_bytes() == before
    assert "conflict_markers" in {finding["code"] for finding in vm.status().findings}


@pytest.mark.parametrize("content", ["", "   \n", "\t"])
def test_blank_content_is_refused_before_anything_is_written(vm: VaultMemory, root: Path, content: str) -> None:
    with pytest.raises(Rejected):
        vm.remember(content=content)
    assert not (root / "memories" / "global").exists()


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt", "..\\..\\secret", "/tmp/t/secret.txt", "a/../../secret.txt", "%2e%2e%2fsecret.txt",
        "%252e%252e/secret", "C:\\x", "\\\\host\\share", "../vault-evil/x", "notes/\0.md", ".git/hooks/post-commit",
        ".obsidian/app.json", "~/.ssh/config",
    ],
)  # fmt: skip
def test_se_01_no_path_leads_outside(vm: VaultMemory, root: Path, path: str) -> None:
    memory = vm.remember(content="inside").memory
    outside = {p: p.stat().st_mtime_ns for p in root.parent.rglob("*") if root not in (p, *p.parents)}
    for call in (
        lambda: vm.remember(content="x", path=path),
        lambda: vm.move(ref=memory.id, path=path),
        lambda: vm.get(refs=[path]),
        lambda: vm.update(ref=path, tags=["x"]),
        lambda: vm.forget(ref=path),
    ):
        with pytest.raises(NotAllowed):
            call()
    assert {p: p.stat().st_mtime_ns for p in root.parent.rglob("*") if root not in (p, *p.parents)} == outside
    assert [item.ref for item in vm.list().items] == [memory.id]


def test_se_02_symlinks_are_not_followed(vm: VaultMemory, root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_text("canary")
    (tmp_path / "secret.md").write_text("canary")
    (root / "real.md").write_text("harmless words")
    (root / "leak.md").symlink_to(tmp_path / "secret.md")
    (root / "dir").symlink_to(tmp_path / "outside")
    (root / "self").symlink_to(root)
    (root / "a").symlink_to(root / "b")
    (root / "b").symlink_to(root / "a")
    (root / "ok.md").symlink_to(root / "real.md")
    assert not vm.search(query="canary").hits
    assert [item.path for item in vm.list().items] == ["real.md"]
    for ref in ("leak.md", "dir/x.md"):
        with pytest.raises((NotAllowed, MemoryNotFound)):
            vm.get(refs=[ref])
    with pytest.raises(NotAllowed):
        vm.remember(content="x", path="dir/new.md")
    assert sorted(p.name for p in (tmp_path / "outside").iterdir()) == ["x.md"]


def test_mv_01_links_follow_a_move_a_rename_and_name_what_a_delete_breaks(vm: VaultMemory, root: Path) -> None:
    for folder in ("inbox", "projects"):
        (root / folder).mkdir()
    (root / "inbox" / "idea.md").write_text("---\nid: idea1\n---\n## Plan\n")
    links = [
        "[[idea]]", "[[inbox/idea|the idea]]", "[[inbox/idea#Plan]]", "![[inbox/idea]]", "[text](../inbox/idea.md)",
        "[abs](/inbox/idea.md)",
    ]  # fmt: skip
    code = "```\n[[inbox/idea]]\n```\n`[[inbox/idea]]`\n"
    index = root / "projects" / "index.md"
    index.write_text("\n".join(links) + "\n" + code)
    vm.move(ref="idea1", path="projects/idea.md")
    assert index.read_text().splitlines()[:6] == [
        "[[idea]]",
        "[[projects/idea|the idea]]",
        "[[projects/idea#Plan]]",
        "![[projects/idea]]",
        "[text](idea.md)",
        "[abs](/projects/idea.md)",
    ]
    assert index.read_text().endswith(code)
    moved = vm.move(ref="idea1", path="projects/concept.md").memory
    assert (moved.id, moved.path) == ("idea1", "projects/concept.md")
    text = index.read_text()
    assert text.count("concept") == 6
    assert text.endswith(code)


def test_a_bad_item_does_not_stop_the_others(vm: VaultMemory) -> None:
    answer = vm.remember_many(
        memories=[{"content": "Port 5433 is billing"}, {"content": " "}, {"nope": 1}, {"content": "Port 5434 is mail"}]
    )
    assert [result.outcome == "rejected" for result in answer.results] == [False, True, True, False]
    assert vm.list().total == 2


def test_nothing_of_another_project_can_be_seen_or_changed(root: Path, vm: VaultMemory) -> None:
    secret = vm.remember(content="acme only", project="acme").memory
    shared = vm.remember(content="Everyone uses pnpm").memory
    with open_vault(root, environ=ENVIRON, project="beta") as beta:
        assert [item.ref for item in beta.list().items] == [shared.id]
        for call in (
            lambda: beta.get(refs=[secret.id]),
            lambda: beta.update(ref=secret.id, tags=["x"]),
            lambda: beta.delete(ref=secret.path),
            lambda: beta.relate(from_ref=shared.id, to_ref=secret.id),
        ):
            with pytest.raises(MemoryNotFound) as refused:
                call()
            assert "acme" not in str(refused.value.extra)
        with pytest.raises(NotAllowed):
            beta.remember(content="x y z", project="acme")
        assert beta.remember(content="beta's own").memory.project == "beta"


def test_what_was_deleted_is_hidden_and_comes_back_whole(vm: VaultMemory, root: Path) -> None:
    memory = vm.remember(content="here today").memory
    before = (root / memory.path).read_text()
    vm.delete(ref=memory.id)
    assert vm.list().total == 0
    assert vm.list(status="deleted").total == 1
    assert not vm.search(query="today").hits
    with pytest.raises(MemoryNotFound):
        vm.get(refs=[memory.id])
    vm.restore(ref=memory.id)
    now = (root / memory.path).read_text()
    lines = {line.split(":")[0] for line in set(before.splitlines()) ^ set(now.splitlines())}
    assert lines <= {"status", "version", "updated_at"}
    assert vm.get(refs=[memory.id]).memories[0].content == "here today"
