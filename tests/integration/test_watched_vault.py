"""A vault with `vault-memory watch` running in a process of its own: editors, moves and folders, as people use them.

Questions come from this process, which looks at no disk while another one watches: what they find, the watcher found.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.product import Product, until
from vault_memory import open_vault
from vault_memory.surfaces.python import VaultMemory


@pytest.fixture
def product(make: Callable[..., Product]) -> Product:
    product = make()
    product.watch()
    return product


@pytest.fixture
def vm(product: Product) -> Iterator[VaultMemory]:
    with open_vault(product.root) as vm:
        yield vm


def found(vm: VaultMemory, words: str) -> list[str]:
    return [hit.memory.path for hit in vm.search(query=words, mode="keyword", touch=False).hits]


def holders(vm: VaultMemory, id: str) -> list[str]:
    return [item.path for item in vm.list(limit=100, touch=False).items if item.id == id]


@pytest.mark.parametrize("watched", [False, True])
def test_mv_02_a_note_moved_by_hand_is_updated_in_its_new_place(make: Callable[..., Product], watched: bool) -> None:
    product = make()
    with open_vault(product.root) as vm:
        written = vm.remember(content="The plan is to sail at dawn", title="Plan", path="inbox/plan.md")
    if watched:
        product.watch()
    target = product.root / "projects/2026/plan.md"
    target.parent.mkdir(parents=True)
    (product.root / "inbox/plan.md").rename(target)
    with open_vault(product.root) as vm:
        assert (
            vm.update(ref=written.memory.id, content="The plan is to sail at noon").memory.path
            == "projects/2026/plan.md"
        )
        assert "noon" in target.read_text()
        again = vm.remember(content="The plan is to sail at noon", title="Plan", path="inbox/plan.md")
        assert again.outcome == "duplicate"
        assert not (product.root / "inbox/plan.md").exists()
        assert holders(vm, written.memory.id) == ["projects/2026/plan.md"]
        assert found(vm, "sail noon") == ["projects/2026/plan.md"]
        with vm._vault.catalog.reading() as sql:
            assert sql.execute("SELECT count(DISTINCT path) FROM notes JOIN chunks USING (note)").fetchone() == (1,)
    assert not list(product.root.rglob("inbox/*.md"))


def test_mv_03_folders_move_out_in_and_about(product: Product, vm: VaultMemory, tmp_path: Path) -> None:
    area, outside = product.root / "area", tmp_path / "outside"
    (area / "deep").mkdir(parents=True)
    outside.mkdir()
    for n in range(12):
        (area / ("deep" if n % 2 else ".") / f"n{n}.md").write_text(f"---\nid: in{n}\n---\nmarzipan {n}\n")
    for n in range(5):
        (outside / f"o{n}.md").write_text(f"---\nid: out{n}\n---\nnougat {n}\n")
    until(lambda: len(vm.search(query="marzipan", mode="keyword", limit=50).hits) == 12)
    area.rename(tmp_path / "elsewhere")
    until(lambda: not found(vm, "marzipan"))
    outside.rename(product.root / "arrived")
    until(lambda: len(found(vm, "nougat")) == 5)
    (product.root / "arrived").rename(product.root / "settled")
    until(lambda: sorted(found(vm, "nougat")) == [f"settled/o{n}.md" for n in range(5)])
    assert vm.get(refs=["settled/o3.md"]).memories[0].id == "out3"
    assert holders(vm, "out3") == ["settled/o3.md"]


@pytest.mark.slow
def test_wt_01_idling_and_reading_cost_nothing(make: Callable[..., Product]) -> None:
    idle(make(), 500, 60)


def test_wt_01_a_settled_watcher_neither_works_nor_writes(make: Callable[..., Product]) -> None:
    idle(make(), 50, 8)


def idle(product: Product, notes: int, seconds: float) -> None:
    for n in range(notes):
        (product.root / f"n{n}.md").write_text(f"# Note {n}\n\nabout topic {n}\n")
    product.watch()
    with open_vault(product.root) as vm:
        catalog = vm._vault.catalog
        until(lambda: catalog.meta("applied_text") == catalog.generation and not catalog.underived_count(), 90)
        until(lambda: catalog.meta("bases_expired"), 60)  # the chores of the day are done
        index = vm._vault.folders.index

        def state() -> object:
            files = {p: p.stat().st_mtime_ns for p in index.rglob("*") if p.is_file() and "-shm" not in p.name}
            return catalog.generation, files

        time.sleep(1)
        before, cpu = state(), product.cpu_seconds()
        time.sleep(seconds)
        assert state() == before
        for file in product.root.rglob("*.md"):
            file.read_bytes()
        for n in range(20):
            vm.search(query=f"topic {n}", touch=False)
        time.sleep(seconds / 2)
        assert state() == before
        assert product.cpu_seconds() - cpu < 0.02 * 1.5 * seconds


@pytest.mark.parametrize(("saves", "pause"), [(5, 0.3), pytest.param(15, 1.0, marks=pytest.mark.slow)])
def test_wt_02_a_note_under_an_editor_is_never_written(
    product: Product, vm: VaultMemory, saves: int, pause: float
) -> None:
    live, buffer = product.root / "live.md", "# Live\n"
    for n in range(saves):
        buffer += f"line number{n}\n"
        live.write_text(buffer)
        mine = live.stat()
        time.sleep(pause)
        now = live.stat()
        assert (now.st_ino, now.st_mtime_ns) == (mine.st_ino, mine.st_mtime_ns)
    until(lambda: found(vm, f"number{saves - 1}") == ["live.md"])
    assert live.read_text() == buffer


def save_beside(note: Path, text: str, tmp_path: Path) -> None:
    temporary = note.with_name(".goutputstream-X1")
    temporary.write_text(text)
    temporary.replace(note)


def save_from_elsewhere(note: Path, text: str, tmp_path: Path) -> None:
    (tmp_path / "swap.tmp").write_text(text)
    (tmp_path / "swap.tmp").replace(note)


def save_with_backup(note: Path, text: str, tmp_path: Path) -> None:
    note.rename(note.with_name("swap.md~"))
    note.write_text(text)
    note.with_name("swap.md~").unlink()


def test_wt_03_every_way_of_saving_is_seen_and_the_note_is_never_gone(
    product: Product, vm: VaultMemory, tmp_path: Path
) -> None:
    note, before = product.root / "swap.md", "cherry"
    note.write_text("---\nid: swapid\n---\ncherry\n")
    until(lambda: found(vm, "cherry") == ["swap.md"])
    for save, word in ((save_beside, "apricot"), (save_from_elsewhere, "bergamot"), (save_with_backup, "cardamom")):
        save(note, f"---\nid: swapid\n---\n{word}\n", tmp_path)

        def seen(word: str = word) -> bool:
            assert holders(vm, "swapid") == ["swap.md"]
            return found(vm, word) == ["swap.md"]

        until(seen, pause=0.2)
        assert found(vm, before) == []
        before = word
    assert {item.path for item in vm.list(limit=100).items} == {"swap.md"}


def test_wt_04_ignored_folders_are_neither_watched_nor_found(make: Callable[..., Product]) -> None:
    product = make()
    for n in range(300):
        folder = product.root / "node_modules" / f"package{n}"
        folder.mkdir(parents=True)
        (folder / "README.md").write_text("a tapir\n")
    for folder in (".trash", ".obsidian/plugins"):
        (product.root / folder).mkdir(parents=True, exist_ok=True)
        (product.root / folder / "hidden.md").write_text("a tapir\n")
    for n in range(50):
        (product.root / f"area{n % 5}").mkdir(exist_ok=True)
        (product.root / f"area{n % 5}" / f"n{n}.md").write_text(f"lemur {n}\n")
    product.watch()
    with open_vault(product.root) as vm:
        until(lambda: len(vm.search(query="lemur", mode="keyword", limit=100).hits) == 50)
        assert found(vm, "tapir") == []
    assert product.watcher is not None
    infos = Path(f"/proc/{product.watcher.pid}/fdinfo")
    watches = sum(info.read_text().count("inotify wd") for info in infos.iterdir())
    assert 5 <= watches <= 20


def test_wt_04_at_the_systems_limit_every_surface_says_that_it_polls(make: Callable[..., Product]) -> None:
    """The limit is one of a user namespace of its own, so that it is real and nobody else's."""
    product = make()
    for n in range(40):
        (product.root / f"area{n}").mkdir()
    limited = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    limited += ['echo 20 > /proc/sys/user/max_inotify_watches && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*limited, "true"], capture_output=True).returncode:
        pytest.skip("user namespaces are not allowed here")
    product.watch(limited)
    until(lambda: product.ask("status")["watcher"]["mode"] == "polling")
    assert "watch limit" in product.ask("status")["watcher"]["detail"]
    doctor = product.cli("doctor", ok=False)
    assert doctor.returncode == 3
    assert "max_user_watches" in doctor.stdout
    (product.root / "area39" / "late.md").write_text("quartz\n")
    until(lambda: product.found("quartz") == ["area39/late.md"])
    assert product.watcher is not None
    product.watcher.terminate()
    assert "polling" in product.watcher.communicate(timeout=30)[1]
    product.watcher = None


def test_a_checkout_of_another_branch_is_followed(product: Product, vm: VaultMemory) -> None:
    for n in range(200):
        (product.root / f"n{n}.md").write_text(f"quartz {n}\n")
    product.commit_all()
    product.git("switch", "-q", "-c", "side")
    for n in range(100):
        (product.root / f"n{n}.md").unlink()
    for n in range(100, 200):
        (product.root / f"n{n}.md").write_text(f"basalt {n}\n")
    product.commit_all()
    until(lambda: vm.search(query="quartz", mode="keyword").hits == () and len(found(vm, "basalt")) == 10)
    assert product.git("switch", "-q", "main").returncode == 0
    until(lambda: not found(vm, "basalt"))
    counts = vm.list(q="quartz", limit=1).total
    assert counts == 200


def test_a_commit_alone_dates_the_notes_that_state_no_date(product: Product, vm: VaultMemory) -> None:
    (product.root / "old.md").write_text("quartz\n")
    until(lambda: found(vm, "quartz") == ["old.md"])
    product.git("add", "old.md")
    product.git("commit", "-q", "-m", "kept since then", "--date", "2020-02-02T12:00:00Z")

    def years() -> set[int]:
        return {item.created_at.year for item in vm.list(touch=False).items if item.created_at}

    until(lambda: years() == {2020}, 20)


def test_the_vault_going_away_takes_no_note_with_it(product: Product, vm: VaultMemory, tmp_path: Path) -> None:
    (product.root / "here.md").write_text("quartz\n")
    until(lambda: found(vm, "quartz") == ["here.md"])
    away = tmp_path / "away"
    product.root.rename(away)
    time.sleep(2.5)
    away.rename(product.root)
    until(lambda: found(vm, "quartz") == ["here.md"])
    (product.root / "there.md").write_text("basalt\n")
    until(lambda: found(vm, "basalt") == ["there.md"], 40)


def test_a_killed_watcher_is_replaced_and_nothing_is_missed(product: Product, vm: VaultMemory) -> None:
    (product.root / "one.md").write_text("quartz\n")
    until(lambda: found(vm, "quartz") == ["one.md"])
    product.kill_watcher()
    (product.root / "two.md").write_text("basalt\n")
    assert found(vm, "basalt") == ["two.md"]
    product.watch()
    (product.root / "one.md").write_text("granite\n")
    (product.root / "two.md").rename(product.root / "three.md")
    until(lambda: found(vm, "granite") == ["one.md"] and found(vm, "basalt") == ["three.md"])
