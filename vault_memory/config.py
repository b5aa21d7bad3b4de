"""Settings as one frozen value: defaults < user file < vault file (allow-listed keys) < VAULT_MEMORY_* < flags.

Loaded by surfaces only; everything below receives a `Config`. A vault's own file is data from strangers: it may tune
vocabulary, ranking, decay, curation and git policy, and nothing that names a host, a command, a model or a path.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from vault_memory.errors import InvalidRequest

CONFIG_FILE = Path(".vault-memory", "config.toml")
USER_ONLY: Final = frozenset({"index.model", "capture", "default_vault", "llm"})
"""Settings and tables that a vault, which may come from somebody else, cannot make."""


class Vocabulary(Struct, frozen=True):
    """Words a vault adds to the built-in ones."""

    memory_types: tuple[str, ...] = ()
    relation_types: tuple[str, ...] = ()


class Notes(Struct, frozen=True):
    """Where new notes go and what counts as a note."""

    folder: str = "memories"
    ignore: tuple[str, ...] = ()
    max_note_bytes: int = 5_000_000
    stamps: bool = True


class Git(Struct, frozen=True):
    """When writes are committed: `auto` commits unless the vault lies inside a bigger repository."""

    auto_commit: Literal["auto", "on", "off"] = "auto"
    batch_seconds: float = 2.0


class Decay(Struct, frozen=True):
    """How confidence fades with disuse (see memory/decay.py for the formula)."""

    enabled: Literal["auto", "on", "off"] = "auto"
    half_life_days: float = 30.0
    half_life_days_by_type: Mapping[str, float] = field(default_factory=dict)
    min_importance: float = 0.1
    prune_threshold: float = 0.05
    max_memories_per_user: int = 1000


class Curation(Struct, frozen=True):
    """The write gates and the automatic upkeep."""

    duplicate_threshold: float = 0.92
    distinct_threshold: float = 0.85
    low_signal: bool = True


class Ranking(Struct, frozen=True):
    """Weights of the ranking features (see docs/search.md); change them only with a measurement."""

    bm25: float = 0.3
    maxsim: float = 0.7
    cosine: float = 0.5
    window: float = 0.5
    context: float = 0.3
    neighbours: float = 0.4
    session: float = 0.9
    answer: float = 0.35
    feedback: float = 0.3
    name: float = 0.5
    date: float = 1.1
    question: float = 0.2
    adjustment: float = 0.15


class Index(Struct, frozen=True):
    """Where searches leave the exact vector scan for LanceDB, and which model embeds."""

    lancedb_from: int = 50_000
    model: str = ""


class Llm(Struct, frozen=True):
    """An optional language model; set as a unit by the highest layer that sets any of it."""

    provider: Literal["", "openai", "anthropic", "ollama"] = ""
    model: str = ""
    base_url: str = ""
    api_key: str = ""
    api_key_env: str = ""
    api_key_file: str = ""
    timeout_seconds: float = 30.0


class Config(Struct, frozen=True):
    """All settings. `Config()` is a working default."""

    vocabulary: Vocabulary = Vocabulary()
    notes: Notes = Notes()
    git: Git = Git()
    decay: Decay = Decay()
    curation: Curation = Curation()
    ranking: Ranking = Ranking()
    index: Index = Index()
    domain_case: Literal["preserve", "lower", "upper"] = "preserve"
    capture: bool = False
    default_vault: str = ""
    llm: Llm = Llm()


T = TypeVar("T", bound=Struct)


def load_config(
    root: Path | None, *, environ: Mapping[str, str] | None = None, user_file: Path | None = None
) -> Config:
    """The settings for the vault at `root` (None: no vault).

    Environment variables are `VAULT_MEMORY_<SECTION>_<KEY>`, for instance `VAULT_MEMORY_DECAY_HALF_LIFE_DAYS=14`.

    Raises:
        InvalidRequest: an unknown key or a value of the wrong type; the message names the file and the key.
    """
    environ = os.environ if environ is None else environ
    config = Config()
    user_file = user_config_file(environ) if user_file is None else user_file
    config = _merged(config, _read(user_file), str(user_file), trusted=True)
    if root is not None:
        vault_file = root / CONFIG_FILE
        config = _merged(config, _read(vault_file), str(CONFIG_FILE), trusted=False)
    return _merged(config, _from_environ(environ), "the environment", trusted=True)


def user_config_file(environ: Mapping[str, str] | None = None) -> Path:
    """The user's own settings file: `$VAULT_MEMORY_CONFIG`, else config.toml in the platform's config folder."""
    environ = os.environ if environ is None else environ
    if named := environ.get("VAULT_MEMORY_CONFIG"):
        return Path(named)
    from platformdirs import user_config_path

    return user_config_path("vault-memory") / "config.toml"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest.of(str(path), f"not valid TOML: {error}") from error


def _from_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings that VAULT_MEMORY_* variables name; other variables with that prefix are not ours to judge."""
    found: dict[str, Any] = {}
    for name, value in asdict(Config()).items():
        if not isinstance(value, Struct):
            if (text := environ.get(f"VAULT_MEMORY_{name.upper()}")) is not None:
                found[name] = text
            continue
        for key in value.__struct_fields__:
            text = environ.get(f"VAULT_MEMORY_{name.upper()}_{key.upper()}")
            if text is not None:
                found.setdefault(name, {})[key] = text
    return found


def _merged(base: T, data: Mapping[str, Any], where: str, *, trusted: bool, prefix: str = "") -> T:
    """`base` with the keys of `data`; unknown keys, wrong types and (untrusted) user-only keys are refused."""
    hints = get_type_hints(type(base))
    changes: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{prefix}{key}"
        if key not in base.__struct_fields__:
            raise InvalidRequest.of(name, f"unknown setting in {where}", allowed=sorted(base.__struct_fields__))
        if name in USER_ONLY and not trusted:
            raise InvalidRequest.of(name, f"may be set in your own settings only, not in {where}")
        current = getattr(base, key)
        if isinstance(current, Struct):
            if not isinstance(value, Mapping):
                raise InvalidRequest.of(name, f"must be a table in {where}")
            start = Llm() if isinstance(current, Llm) else current
            changes[key] = _merged(start, value, where, trusted=trusted, prefix=f"{name}.")
        else:
            changes[key] = _converted(value, hints[key], name, where)
    return replace(base, **changes)


def _converted(value: Any, hint: Any, name: str, where: str) -> Any:
    origin = get_origin(hint)
    if origin is Literal:
        return _choice(value, get_args(hint), name, where)
    if origin is tuple:
        return _texts(value, name, where)
    if origin is not None:
        return _numbers(value, name, where)
    if hint is bool:
        return _flag(value, name, where)
    if hint in (int, float):
        return _number(value, hint, name, where)
    if not isinstance(value, str):
        raise InvalidRequest.of(name, f"must be text in {where}")
    return value


def _choice(value: Any, allowed: tuple[str, ...], name: str, where: str) -> str:
    text = {True: "on", False: "off", "true": "on", "false": "off"}.get(value, value) if "on" in allowed else value
    if text not in allowed:
        raise InvalidRequest.of(name, f"not an allowed value in {where}", allowed=list(allowed))
    return str(text)


def _texts(value: Any, name: str, where: str) -> tuple[str, ...]:
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise InvalidRequest.of(name, f"must be a list of texts in {where}")
    return tuple(part for part in parts if part)


def _numbers(value: Any, name: str, where: str) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise InvalidRequest.of(name, f"must be a table of numbers in {where}")
    return {str(key): float(_number(number, float, f"{name}.{key}", where)) for key, number in value.items()}


def _flag(value: Any, name: str, where: str) -> bool:
    known = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in known:
        return known[value.lower()]
    raise InvalidRequest.of(name, f"must be true or false in {where}")


def _number(value: Any, kind: type, name: str, where: str) -> float | int:
    try:
        if isinstance(value, bool):
            raise ValueError
        number = kind(value)
    except (TypeError, ValueError):
        raise InvalidRequest.of(name, f"must be a number in {where}") from None
    if number != number or number in (float("inf"), float("-inf")) or number < 0:
        raise InvalidRequest.of(name, f"must be a finite number, 0 or more, in {where}")
    return int(number) if kind is int else float(number)
