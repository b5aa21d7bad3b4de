"""CPU time of the note format on a typical note of ~80 words: `python benchmarks/speed/note_format.py`.

The first row, PyYAML's C loader alone, is the yardstick: machines and their load differ, the ratios hardly do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

import yaml

from vault_memory.memory.links import links
from vault_memory.memory.markdown import append, parse, patch, render, split
from vault_memory.memory.merge import merge_bytes, merge_fields

ROUNDS, REPEATS = 300, 7


def typical_note() -> bytes:
    """A decision as the tool writes it, with two links and two tags in its body."""
    random = Random(7)
    words = [random.choice(("we", "moved", "the", "deploys", "region", "because", "latency")) for _ in range(76)]
    fields = {
        "id": "1ngvj1k9f3qw", "title": "Deploy with fly.io, not Heroku", "memory_type": "decision",
        "tags": ["deploy", "ops"], "project": "acme-api", "source": "agent", "agent": "claude-code",
        "session": "0b2f6c1e", "confidence": 0.9, "version": 1,
    }  # fmt: skip
    body = " ".join((*words, "[[fly-launch-checklist]]", "[text](other.md)", "#deploy", "#ops")) + "\n"
    return render(fields, body, relations={"supersedes": ["deploy-with-heroku"]})


def microseconds(work: Callable[[], object]) -> float:
    """The best of several runs, in µs of CPU a call."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        for _ in range(ROUNDS):
            work()
        best = min(best, time.process_time() - start)
    return best / ROUNDS * 1e6


def main() -> None:
    note = typical_note()
    block, memory = split(note).block or "", parse(note, "n.md")
    ours, theirs = patch(note, {"status": "archived"}), append(note, "more")
    rows: dict[str, Callable[[], object]] = {
        "yaml.load (CSafeLoader)": lambda: yaml.load(block, Loader=yaml.CSafeLoader),
        "parse": lambda: parse(note, "n.md"),
        "patch, two keys": lambda: patch(note, {"status": "archived", "version": 2}),
        "patch, nothing new": lambda: patch(note, {"version": 1}),
        "append": lambda: append(note, "more"),
        "render": lambda: render({"title": memory.title, "tags": memory.tags}, memory.content),
        "links": lambda: links(memory.content),
        "merge_bytes": lambda: merge_bytes(note, ours, theirs),
        "merge_fields": lambda: merge_fields(note, ours, theirs),
    }
    yardstick = 0.0
    for name, work in rows.items():
        taken = microseconds(work)
        yardstick = yardstick or taken
        print(f"{name:26}{taken:8.1f} µs{taken / yardstick:7.2f} ×")


if __name__ == "__main__":
    main()
