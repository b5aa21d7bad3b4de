"""The watcher on a real vault: every way of saving and moving is reported, reading and ignored folders are not."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.files.vault_tree import make_vault
from vault_memory.errors import StorageError
from vault_memory.files.ignore import Ignore
from vault_memory.files.observers import SystemObserver
from vault_memory.files.scan import Scan, scan
from vault_memory.files.store import NoteStore
from vault_memory.files.watch import Watcher

linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
PATIENCE = 20.0


class Listener:
    """What a watcher handed on, and the vault as somebody would know it who scans only what is reported."""

    def __init__(self, root: Path, **options: object) -> None:
        self.root = root
        self.ignore = Ignore(root)
        self.store = NoteStore(root)
        self.batches: list[frozenset[str] | None] = []
        self.known: dict[str, bytes] = {}
        self.ever_known: set[str] = set()
        self.watcher = Watcher(root, self.ignore, self.take_in, tick_seconds=0.2, **options)  # type: ignore[arg-type]

    def take_in(self, paths: frozenset[str] | None) -> None:
        self.batches.append(paths)
        seen: Scan = scan(self.root, self.ignore, paths)
        for path in [path for path in self.known if path not in seen.files and seen.covers(path)]:
            del self.known[path]
        for path in seen.files:
            self.known[path] = self.store.read(path)
        self.ever_known |= self.known.keys()

    def settle(self) -> None:
        assert self.watcher.wait_idle(PATIENCE)

    def on_disk(self) -> dict[str, bytes]:
        return {path: self.store.read(path) for path in scan(self.root, self.ignore).files}

    def reported(self) -> set[str]:
        return set().union(*(batch or set() for batch in self.batches))

    def check(self) -> None:
        """After settling, what is known is what is on disk."""
        self.settle()
        assert self.known == self.on_disk()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault", {"swap.md": "first", "a/b/c.md": "x", "a/d.md": "x"})


@pytest.fixture
def listener(root: Path) -> Iterator[Listener]:
    listener = Listener(root)
    with listener.watcher:
        listener.check()
        assert listener.batches[0] is None
        listener.batches.clear()
        yield listener


def save_beside(note: Path, text: str) -> None:
    temp = note.with_name(".goutputstream-X1")
    temp.write_text(text)
    temp.replace(note)


def save_from_elsewhere(note: Path, text: str) -> None:
    temp = note.parent.parent / "temp-of-the-editor"
    temp.write_text(text)
    temp.replace(note)


def save_with_backup(note: Path, text: str) -> None:
    backup = note.with_name(note.name + "~")
    note.rename(backup)
    note.write_text(text)
    backup.unlink()


def save_like_vim(note: Path, text: str) -> None:
    probe = note.with_name("4913")
    probe.touch()
    probe.unlink()
    save_with_backup(note, text)


def save_in_place(note: Path, text: str) -> None:
    note.write_text(text)


def append(note: Path, text: str) -> None:
    with note.open("a") as file:
        file.write(text)


SAVES = [save_beside, save_from_elsewhere, save_with_backup, save_like_vim, save_in_place, append]


@pytest.mark.parametrize("save", SAVES)
def test_wt_03_every_way_of_saving_is_seen_and_no_other_name(
    listener: Listener, save: Callable[[Path, str], None]
) -> None:
    for word in ("apricot", "bergamot", "cardamom"):
        save(listener.root / "swap.md", word)
        listener.check()
        assert word.encode() in listener.known["swap.md"]
    assert listener.reported() == {"swap.md"}
    assert listener.ever_known == {"swap.md", "a/b/c.md", "a/d.md"}


def test_wt_01_reading_wakes_nobody(listener: Listener) -> None:
    started = time.process_time()
    for _ in range(50):
        for path in listener.root.rglob("*.md"):
            path.read_bytes()
        listener.on_disk()
    (listener.root / ".vault-memory/index").mkdir()
    (listener.root / ".vault-memory/index/catalog.sqlite").write_bytes(b"x" * 100_000)
    reading = time.process_time() - started
    listener.settle()
    assert listener.batches == []
    assert time.process_time() - started - reading < 0.1


def test_wt_02_the_watcher_writes_nothing_while_a_person_types(listener: Listener) -> None:
    live = listener.root / "live.md"
    text = ""
    for line in range(10):
        text += f"line {line}\n"
        live.write_text(text)
        before = live.stat()
        time.sleep(0.15)
        after = live.stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    listener.check()
    assert listener.known["live.md"] == text.encode()
    assert listener.reported() == {"live.md"}


@linux
def test_wt_04_ignored_folders_are_not_watched(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault", {f"notes/n{number}.md": "x" for number in range(50)})
    for number in range(3000):
        (root / f"node_modules/package{number}").mkdir(parents=True)
    for folder in (".git/objects/ab", ".obsidian/plugins/p", ".trash", ".vault-memory/index", "build/deep"):
        (root / folder).mkdir(parents=True)
        (root / folder / "t.md").write_text("tapir")
    (root / ".gitignore").write_text("build/\n")
    listener = Listener(root)
    with listener.watcher:
        listener.check()
        assert watches_of_this_process() == listener.watcher.status.watched == 2
        (root / "node_modules/package1/t.md").write_text("tapir")
        (root / "build/deep/t.md").write_text("tapir")
        (root / "notes/n1.md").write_text("changed")
        listener.check()
        assert listener.reported() == {"notes/n1.md"}
        assert b"tapir" not in listener.known.values()
    assert watches_of_this_process() == 0


def watches_of_this_process() -> int:
    lines = 0
    for info in Path("/proc/self/fdinfo").iterdir():
        try:
            lines += sum(line.startswith("inotify wd:") for line in info.read_text().splitlines())
        except OSError:
            continue
    return lines


def test_mv_03_folders_move_out_in_and_inside(listener: Listener, tmp_path: Path) -> None:
    root, elsewhere = listener.root, tmp_path / "elsewhere"
    shutil.move(root / "a", elsewhere)
    listener.check()
    assert set(listener.known) == {"swap.md"}
    (elsewhere / "d.md").write_text("written outside")
    listener.settle()
    assert listener.batches[-1] == {"a"}
    shutil.move(elsewhere, root / "back")
    listener.check()
    (root / "back").rename(root / "again")
    listener.check()
    (root / "again/b/c.md").write_text("in the renamed folder")
    listener.check()
    assert set(listener.known) == {"swap.md", "again/b/c.md", "again/d.md"}
    shutil.rmtree(root / "again")
    listener.check()
    assert set(listener.known) == {"swap.md"}


def test_what_is_written_into_a_folder_the_moment_it_is_made_is_found(listener: Listener) -> None:
    for number in range(30):
        place = listener.root / f"new{number}/x/y"
        place.mkdir(parents=True)
        (place / "n.md").write_text("x")
        (listener.root / f"new{number}/top.md").write_text("x")
    listener.check()
    assert len(listener.known) == 3 + 60


def test_a_checkout_of_a_thousand_notes_is_one_batch(listener: Listener) -> None:
    started = time.monotonic()
    for number in range(1000):
        place = listener.root / f"a/n{number}.md"
        place.write_text("x")
    written = time.monotonic() - started
    listener.check()
    assert len(listener.known) == 1003
    assert len(listener.batches) <= 1 + written / 1.0
    assert time.monotonic() - started < written + 10


def test_a_name_in_the_other_unicode_form_is_reported_by_its_path(listener: Listener) -> None:
    (listener.root / "u\u0308ber").mkdir()
    (listener.root / "u\u0308ber/cafe\u0301.md").write_text("one")
    listener.settle()
    (listener.root / "u\u0308ber/cafe\u0301.md").write_text("two")
    listener.settle()
    assert listener.batches[-1] == {"über/café.md"}


def test_changed_ignore_rules_have_everything_looked_at(listener: Listener) -> None:
    (listener.root / ".gitignore").write_text("a/b/\n")
    listener.check()
    assert None in listener.batches
    assert set(listener.known) == {"swap.md", "a/d.md"}
    (listener.root / "a/b/c.md").write_text("ignored")
    (listener.root / ".gitignore").unlink()
    listener.check()
    assert listener.known["a/b/c.md"] == b"ignored"
    (listener.root / "a/b/c.md").write_text("watched again")
    listener.check()


def test_a_lost_root_is_reported_removes_nothing_and_may_come_back(listener: Listener) -> None:
    root, away = listener.root, listener.root.with_name("away")
    known = dict(listener.known)
    root.rename(away)
    wait_for(lambda: listener.watcher.status.mode == "lost")
    assert listener.known == known
    (away / "swap.md").write_text("changed while away")
    assert listener.batches == []
    away.rename(root)
    wait_for(lambda: listener.watcher.status.mode == "watching")
    listener.check()
    assert listener.known["swap.md"] == b"changed while away"
    (root / "a/d.md").write_text("watched again")
    listener.check()


def test_an_unmounted_disk_removes_nothing(listener: Listener) -> None:
    known = dict(listener.known)
    listener.root.rename(listener.root.with_name("away"))
    listener.root.mkdir()
    wait_for(lambda: listener.watcher.status.mode == "lost")
    assert listener.known == known


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


class SlowIgnore(Ignore):
    """Holds the thread that reads events until it is let go."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.go = threading.Event()
        self.go.set()

    def note(self, folder: str, name: str) -> bool:
        if threading.current_thread().name != "vault-watcher" and name.startswith("flood"):
            self.go.wait()
        return super().note(folder, name)


@linux
def test_lost_events_have_everything_looked_at(root: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 50_000:
        pytest.skip("the queue of this system is too long to fill")
    listener = Listener(root)
    listener.ignore = ignore = SlowIgnore(root)
    listener.watcher = Watcher(root, ignore, listener.take_in, tick_seconds=0.2)
    flood = root / "a/flood.md"
    with listener.watcher:
        listener.settle()
        listener.batches.clear()
        ignore.go.clear()
        other = root / "a/flood2.md"
        for number in range(limit // 4 + 1000):  # created, written, closed, deleted: alternating, or they coalesce
            (flood if number % 2 else other).write_text("x")
            (flood if number % 2 else other).unlink()
        (root / "a/late").mkdir()
        (root / "a/late/n.md").write_text("its event was lost")
        ignore.go.set()
        wait_for(lambda: None in listener.batches)
        listener.settle()
        assert listener.known["a/late/n.md"] == b"its event was lost"
        (root / "a/late/n.md").write_text("and the folder is watched")
        listener.settle()
        assert listener.known["a/late/n.md"] == b"and the folder is watched"


def test_a_failing_receiver_is_called_again_with_what_came_since(root: Path) -> None:
    calls: list[frozenset[str] | None] = []

    def receive(paths: frozenset[str] | None) -> None:
        calls.append(paths)
        if len(calls) in (2, 3):
            (root / f"a/more{len(calls)}.md").write_text("x")
            raise StorageError("cannot read just now")

    with Watcher(root, Ignore(root), receive, tick_seconds=0.2) as watcher:
        assert watcher.wait_idle(PATIENCE)
        (root / "swap.md").write_text("second")
        wait_for(lambda: len(calls) >= 4)
        assert watcher.wait_idle(PATIENCE)
    assert calls[-1] is not None
    assert {"swap.md", "a/more2.md", "a/more3.md"} <= calls[-1]


def test_polling_finds_the_same_changes(root: Path) -> None:
    listener = Listener(root, polling=True)
    with listener.watcher:
        listener.check()
        assert listener.watcher.status.mode == "polling"
        (root / "swap.md").write_text("second text")
        wait_for(lambda: listener.known["swap.md"] == b"second text")
        shutil.rmtree(root / "a")
        wait_for(lambda: set(listener.known) == {"swap.md"})
        listener.batches.clear()
        time.sleep(1)
        assert listener.batches == []


LIMITED = """
import sys, time
from pathlib import Path
from vault_memory.files.ignore import Ignore
from vault_memory.files.watch import Watcher
root = Path(sys.argv[1])
seen = []
with Watcher(root, Ignore(root), seen.append, tick_seconds=0.1) as watcher:
    watcher.wait_idle(10)
    for number in range(int(sys.argv[2])):
        (root / f"later{number}").mkdir()
    deadline = time.monotonic() + 10
    while watcher.status.mode != "polling" and time.monotonic() < deadline:
        time.sleep(0.02)
    status, before = watcher.status, len(seen)
    (root / "d1/n.md").write_text("changed under polling")
    found = False
    while not found and time.monotonic() < deadline:
        time.sleep(0.02)
        found = any(paths is None or "d1/n.md" in paths for paths in seen[before:])
    sys.stdout.write(f"{status.mode}|{status.detail}|{found}")
"""


@linux
@pytest.mark.parametrize(
    ("limit", "watches", "later", "reason"),
    [
        ("max_inotify_watches", 20, 0, "watch limit"),
        ("max_inotify_watches", 60, 40, "watch limit"),
        ("max_inotify_instances", 0, 0, "instance limit"),
    ],
)
def test_wt_04_at_the_limit_of_the_system_it_polls_and_says_so(
    tmp_path: Path, limit: str, watches: int, later: int, reason: str
) -> None:
    """The limits are those of a user namespace of its own, so that they are real and nobody else's."""
    root = make_vault(tmp_path / "vault", {f"d{number}/n.md": "x" for number in range(40)})
    shell = f'echo {watches} > /proc/sys/user/{limit} && exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", shell, "sh"]
    if shutil.which("unshare") is None or subprocess.run([*command, "true"], capture_output=True).returncode:
        pytest.skip("user namespaces are not allowed here")
    done = subprocess.run(
        [*command, sys.executable, "-c", LIMITED, str(root), str(later)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    mode, detail, found = done.stdout.split("|")
    assert (mode, found) == ("polling", "True")
    assert reason in detail
    assert reason in done.stderr


def test_the_limit_reached_by_a_folder_made_later_is_not_silent(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener(root)
    with listener.watcher:
        listener.check()
        if listener.watcher.status.mode != "watching" or sys.platform != "linux":
            pytest.skip("inotify is Linux's")
        from watchdog.observers import inotify_c

        def exhausted(*_: object) -> int:
            raise OSError(errno.ENOSPC, "inotify watch limit reached")

        monkeypatch.setattr(inotify_c.InotifyFD, "add_callback", exhausted)
        (root / "late").mkdir()
        wait_for(lambda: listener.watcher.status.mode == "polling")
        (root / "late/n.md").write_text("x")
        wait_for(lambda: "late/n.md" in listener.known)


ENDING = """
import sys, threading, time
from pathlib import Path
from vault_memory.files.ignore import Ignore
from vault_memory.files.watch import Watcher
root = Path(sys.argv[1])
busy = threading.Event()
def receive(paths):
    busy.set()
    time.sleep(30 if "slow" in sys.argv else 0)
watcher = Watcher(root, Ignore(root), receive)
watcher.start()
busy.wait()
time.sleep(0.1)
sys.stdout.write("end\\n")
sys.stdout.flush()
if "stop" in sys.argv:
    watcher.stop()
"""


@pytest.mark.parametrize("how", [["stop"], [], ["slow"], ["slow", "stop"]])
def test_a_process_ends_within_a_second_whatever_the_watcher_does(root: Path, how: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDING, str(root), *how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "end\n"
    started = time.monotonic()
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")
    assert time.monotonic() - started < 2.5, "one second, on an idle machine"


@linux
def test_with_five_thousand_folders_it_costs_nothing_to_wait(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault")
    for number in range(5000):
        (root / f"f{number % 100}/g{number}").mkdir(parents=True)
    idle: list[float] = []
    with Watcher(root, Ignore(root), lambda _: None, on_idle=lambda: idle.append(time.monotonic())) as watcher:
        assert watcher.wait_idle(PATIENCE)
        assert watcher.status.watched == 5101
        started, calls = time.process_time(), len(idle)
        time.sleep(3)
        assert time.process_time() - started < 0.03
        assert len(idle) > calls, "it says that there is nothing to do, so that a lease can be renewed"


def test_a_hand_edit_is_handed_on_quickly(root: Path) -> None:
    waits: list[float] = []
    came = threading.Event()
    with Watcher(root, Ignore(root), lambda _: came.set()) as watcher:
        assert watcher.wait_idle(PATIENCE)
        for number in range(10):
            came.clear()
            started = time.monotonic()
            (root / "swap.md").write_text(f"edit {number}")
            assert came.wait(PATIENCE)
            waits.append(time.monotonic() - started)
            time.sleep(0.02)
    assert sorted(waits)[len(waits) // 2] < 0.3


class Heard:
    """The reports of a source alone."""

    def __init__(self) -> None:
        self.paths: list[str | None] = []
        self.gone = False

    def changed(self, path: str | None) -> None:
        self.paths.append(path)

    def lost(self) -> None:
        self.gone = True

    def failed(self, error: OSError) -> None:
        raise error


def test_the_observer_of_other_systems_reports_the_same_paths(root: Path, tmp_path: Path) -> None:
    (root / "node_modules/x").mkdir(parents=True)
    heard = Heard()
    source = SystemObserver(str(root), Ignore(root), heard)
    source.start()
    try:
        save_beside(root / "swap.md", "second")
        wait_for(lambda: "swap.md" in heard.paths)
        (root / "node_modules/x/n.md").write_text("x")
        (root / ".obsidian").mkdir()
        (root / ".obsidian/n.md").write_text("x")
        shutil.move(root / "a", tmp_path / "elsewhere")
        wait_for(lambda: "a" in heard.paths)
        (root / ".gitignore").write_text("x\n")
        wait_for(lambda: None in heard.paths)
        assert set(heard.paths) <= {"swap.md", "a", "a/b", "a/d.md", "a/b/c.md", None}
        shutil.rmtree(root)
        wait_for(lambda: heard.gone)
    finally:
        source.stop()


def test_two_watchers_of_one_vault_do_not_disturb_each_other(root: Path) -> None:
    one, two = Listener(root), Listener(root)
    with one.watcher:
        with two.watcher:
            two.check()
            (root / "swap.md").write_text("both")
            two.check()
        (root / "swap.md").write_text("the first alone")
        one.check()
