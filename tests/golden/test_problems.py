"""The problem objects that leave every surface, word for word: clients match on them."""

from __future__ import annotations

import json
from pathlib import Path

from vault_memory import errors

GOLDEN = Path(__file__).parent / "problems.json"


def problems() -> dict[str, object]:
    named = {kind.__name__: kind("what happened", hint="what to do").problem() for kind in subclasses()}
    named["one field"] = errors.InvalidRequest.of("limit", "must be between 1 and 100", allowed=[1, 100]).problem()
    return named


def subclasses() -> list[type[errors.VaultError]]:
    return sorted(errors.VaultError.__subclasses__(), key=lambda kind: kind.exit_code)


def test_problems_are_what_clients_know() -> None:
    assert problems() == json.loads(GOLDEN.read_text("utf-8"))


def test_statuses_are_those_of_rfc_9457() -> None:
    for problem in problems().values():
        assert isinstance(problem, dict)
        assert {"type", "title", "status", "detail"} <= set(problem)
