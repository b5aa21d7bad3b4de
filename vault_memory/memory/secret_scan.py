"""Finds secrets in a text: keys, tokens, private keys, passwords. Tells where and what kind; never returns the secret.

The detectors of detect-secrets do the work, beside the formats it does not know yet. Importing them takes a third of a
second, so they are loaded only for a text that holds anything a secret could be. What ordinary notes are full of (git
hashes, UUIDs, checksums, encoded data in prose) is no secret without a word beside it that says so.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from msgspec import Struct

_NEVER: Final = frozenset(
    # addresses, and entropy without context: what prose is full of; passwords by name are judged by `_passwords`
    "IPPublicDetector Base64HighEntropyString HexHighEntropyString KeywordDetector ArtifactoryDetector".split()
)
_NEWER: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("GitHub token", r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{50,}"),
        ("Anthropic key", r"\bsk-ant-[A-Za-z0-9]{3,}-[A-Za-z0-9_-]{20,}"),
        ("OpenAI key", r"\bsk-(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|\bsk-[A-Za-z0-9]{40,}"),
        ("Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
        ("Google OAuth secret", r"\bGOCSPX-[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_-]{30,}"),
        ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
        ("AWS key id", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
        ("Slack token", r"\bxox[abeprs]-[A-Za-z0-9-]{20,}|\bxapp-\d-[A-Za-z0-9-]{20,}"),
        ("Slack webhook", r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}"),
        ("GitLab token", r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_-]{20,}"),
        ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
        ("PyPI token", r"\bpypi-AgE[A-Za-z0-9_-]{40,}"),
        ("Vault token", r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
        ("DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}"),
        ("Shopify token", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
        ("Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,}|\bwhsec_[A-Za-z0-9+/=]{24,}"),
        ("Databricks token", r"\bdapi[a-f0-9]{32}"),
        ("Linear key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
        ("Notion token", r"\bntn_[A-Za-z0-9]{40,}|\bsecret_[A-Za-z0-9]{43}\b"),
        ("Supabase token", r"\bsb(?:p|_secret)_[A-Za-z0-9_-]{30,}"),
        ("Fly.io token", r"\bFlyV1\s+fm\d?_[A-Za-z0-9+/=_-]{20,}|\bfo1_[A-Za-z0-9_-]{40,}"),
        ("age secret key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
        ("Sentry token", r"\bsntrys_[A-Za-z0-9+/=_-]{40,}"),
        ("private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    )
)
_NAMES: Final = (
    "pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|passwort|kennwort|contrase[nñ]a"
    "|(?:api|auth|access|private|client|account|master|encryption|signing|secret)[ _-]?key"
)
_CAMEL_NAMES: Final = "Pass(?:word|wd|phrase|code)?|Pwd|Secret|Token|Credential|(?:Api|Auth|Access|Private|Secret)Key"
_PASSWORD: Final = re.compile(
    rf"""(?:(?<![^\W\d_])(?i:{_NAMES})|(?<=[a-z])(?:{_CAMEL_NAMES}))(?:_?\d{{1,2}}|_(?:prod|dev|live|test|value|key))?
        ["'`\]]{{0,2}}\ {{0,4}}(?::=|=>|={{1,3}}|:|\b(?:is|was)\b)\ {{0,4}}
        (?P<quote>["'`]?)(?P<value>[^\s"'`<>]{{8,200}})""",
    re.X,
)
_BEARER: Final = re.compile(r"\b(?:Bearer|Basic|Authorization:\s*token)\s+(?P<value>[A-Za-z0-9_\-.=+/]{20,})")
_RUN: Final = re.compile(r"[A-Za-z0-9_\-+/=.:]{20,}")
_MARK: Final = re.compile(r"PRIVATE KEY|PuTTY|://[^\s/@]{1,200}:[^\s/@]{1,200}@")
_WINDOW: Final = 2_000
_OVERLAP: Final = 300
"""Detectors read so many characters at a time: some take time with the square of a text's length."""
_PLAIN_LONG: Final = re.compile(r"(?:sha\d+[:-])?[a-f0-9]{7,128}|[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}", re.I)
_PLACEHOLDER: Final = re.compile(
    r"^[$%{<\[(]|[*x.]{4,}|\.\.\.|…|^(?:your|my|the|some|example|change|replace|insert|placeholder|dummy|fake|test)[_-]?"
    r"|process\.env|os\.environ|getenv|env\.|secrets\.|vault:|op://|redacted|\(\)",
    re.I,
)
_ENTROPY_BITS: Final = 3.0
"""Shannon entropy per character from which a value counts as a password; most words of prose lie below."""


class Secret(Struct, frozen=True):
    """Something that should not be written down: what kind, and where it begins (line and column from 1)."""

    kind: str
    line: int
    column: int


def scan_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets in a text, in order, one for each place. The secrets themselves are not in the answer."""
    found: dict[int, str] = {}
    for start, kind in (*_newer(text), *_passwords(text), *_detected(text)):
        found.setdefault(start, kind)
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", text))]
    placed = []
    for start in sorted(found):
        line = bisect_right(starts, start)
        placed.append(Secret(found[start], line, start - starts[line - 1] + 1))
    return tuple(_one_a_place(placed))


def _one_a_place(found: list[Secret]) -> Iterator[Secret]:
    """Two detectors may begin at different characters of one secret: the first of a line's neighbours is enough."""
    last: Secret | None = None
    for secret in found:
        if last is None or secret.line != last.line or secret.column - last.column > 60:
            yield secret
            last = secret


def _newer(text: str) -> Iterator[tuple[int, str]]:
    for kind, pattern in _NEWER:
        for match in pattern.finditer(text):
            if not _placeholder(match.group()):
                yield match.start(), kind


def _passwords(text: str) -> Iterator[tuple[int, str]]:
    for match in _PASSWORD.finditer(text):
        if _is_password(match["value"].rstrip(".,;:!?)]}")):
            yield match.start("value"), "password"
    for match in _BEARER.finditer(text):
        if _is_password(match["value"]):
            yield match.start("value"), "bearer token"


def _is_password(value: str) -> bool:
    """A value of enough entropy and more than one kind of sign; words, numbers, paths and placeholders are none."""
    if len(value) < 8 or _PLACEHOLDER.search(value) or value.startswith(("/", "./", "~", "http://", "https://")):
        return False
    lower, upper = any(c.islower() for c in value), any(c.isupper() for c in value)
    digit = any(c.isdigit() for c in value)
    sign = any(not c.isalnum() and c not in "-_./:," for c in value)
    if _PLAIN_LONG.fullmatch(value):  # a hash, unless it is called a secret by name
        return len(value) >= 32
    if sum((lower, upper, digit, sign)) < 2 or not (digit or sign):
        return False
    if re.fullmatch(
        r"[\w-]+\.[\w.-]*\w|[A-Z][A-Z0-9_]*|[\w.]+[\[(].*|[a-z]+\d{0,4}(?:[-_][a-z\d]+)*", value
    ):  # a.reference, A_VARIABLE, a_call(…, some-words
        return False
    return _entropy(value) >= _ENTROPY_BITS or (digit and sign)


def _detected(text: str) -> Iterator[tuple[int, str]]:
    for start, part in _suspicious(text):
        for detector in _detectors():
            for pattern in detector.denylist:
                for match in pattern.finditer(part):
                    if _stands(detector, match):
                        yield start + match.start(), detector.secret_type


def _suspicious(text: str) -> Iterator[tuple[int, str]]:
    """The parts of lines that hold anything a detector could find, with where they begin."""
    for line in re.finditer(r"[^\r\n]+", text):
        for start in range(line.start(), line.end(), _WINDOW):
            part = text[start : min(start + _WINDOW + _OVERLAP, line.end())]
            if _MARK.search(part) or any(map(_odd, _RUN.findall(part))):
                yield start, part


def _odd(run: str) -> bool:
    """Whether a long run of signs may be a token: letters and digits, and neither a hash nor a UUID."""
    plain = run.strip("./:=-_")
    letters, digits = any(c.isalpha() for c in run), any(c.isdigit() for c in run)
    return letters and digits and not _PLAIN_LONG.fullmatch(plain)


def _stands(detector: Any, match: re.Match[str]) -> bool:
    value = match.group()
    if _placeholder(value):
        return False
    valid = getattr(detector, "is_formally_valid", None)
    return valid is None or bool(valid(value))


def _placeholder(value: str) -> bool:
    """A key of one letter repeated, or one that says that it is an example."""
    tail = value[-16:]
    return len(set(tail)) <= 3 or bool(
        re.search(r"example|your|placeholder|x{6}|\*{4}|password@|:pass@|\{|\$", value, re.I)
    )


@cache
def _detectors() -> tuple[Any, ...]:
    from importlib import import_module
    from pkgutil import iter_modules

    import detect_secrets.plugins as plugins
    from detect_secrets.plugins.base import RegexBasedDetector

    modules = [import_module(f"{plugins.__name__}.{module.name}") for module in iter_modules(plugins.__path__)]
    classes = {
        found.__name__: found
        for module in modules
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, RegexBasedDetector) and found is not RegexBasedDetector
    }
    return tuple(classes[name]() for name in sorted(classes) if name not in _NEVER)


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
