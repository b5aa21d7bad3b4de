"""Every deliberate failure: its code, exit code, HTTP status and hint. Owns no behaviour beyond describing itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class VaultError(Exception):
    """A failure that was foreseen; it leaves through every surface as the same problem object.

    Args:
        detail: what happened, in one sentence a person can act on.
        hint: what to do next; empty when the detail already says it.
        extra: further members of the problem object (JSON-compatible values), such as `rival` or `candidates`.
    """

    code: ClassVar[str] = "error"
    title: ClassVar[str] = "Error"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str, *, hint: str = "", **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.extra: Mapping[str, Any] = extra

    def problem(self) -> dict[str, Any]:
        """The RFC 9457 problem object: type, title, status, detail, code and, when there are any, hint and extras."""
        body: dict[str, Any] = {
            "type": f"urn:vault-memory:{self.code}",
            "title": self.title,
            "status": self.http_status,
            "code": self.code,
            "detail": self.detail,
        }
        if self.hint:
            body["hint"] = self.hint
        if self.retryable:
            body["retryable"] = True
        return body | dict(self.extra)


class InvalidRequest(VaultError):
    """An argument is missing, unknown or out of bounds; `errors` lists `{field, message, allowed?}`."""

    code, title, exit_code, http_status = "invalid_request", "Invalid request", 2, 422

    @classmethod
    def of(cls, field: str, message: str, *, allowed: object = None, hint: str = "") -> InvalidRequest:
        """The error for one field; `allowed` names the values or bounds that would have been accepted."""
        error: dict[str, Any] = {"field": field, "message": message}
        if allowed is not None:
            error["allowed"] = allowed
        return cls(f"{field}: {message}", hint=hint, errors=[error])


class PartialFailure(VaultError):
    """Some items of a batch failed; the others were carried out."""

    code, title, exit_code, http_status = "partial_failure", "Some items failed", 3, 200


class VaultNotFound(VaultError):
    """No vault was found; the detail says where it was looked for."""

    code, title, exit_code, http_status = "vault_not_found", "No vault", 10, 404


class VaultLocked(VaultError):
    """Another process holds the vault; `holder` names it when known."""

    code, title, exit_code, http_status = "vault_locked", "Vault is busy", 11, 423
    retryable = True


class MemoryNotFound(VaultError):
    """No memory answers to the reference; `nearest` names what looks like it."""

    code, title, exit_code, http_status = "memory_not_found", "No such memory", 12, 404


class RevisionConflict(VaultError):
    """The note changed since it was read; `current` carries its revision and text."""

    code, title, exit_code, http_status = "revision_conflict", "The note changed meanwhile", 13, 409


class Rejected(VaultError):
    """A write gate refused; `gate`, `reason` and, when there is one, `rival` say why."""

    code, title, exit_code, http_status = "rejected", "Not stored", 14, 409


class ConfirmationNeeded(VaultError):
    """The plan must be confirmed first; `plan` and `phrase` say what and how."""

    code, title, exit_code, http_status = "confirmation_needed", "Needs confirmation", 15, 428


class IndexUnavailable(VaultError):
    """An index cannot be used just now; the detail says what still works."""

    code, title, exit_code, http_status = "index_unavailable", "Index unavailable", 16, 503
    retryable = True


class NotAllowed(VaultError):
    """Outside the vault, the scope or the rights of the caller."""

    code, title, exit_code, http_status = "not_allowed", "Not allowed", 17, 403


class MalformedNote(VaultError):
    """The note's text cannot be edited safely; `path`, `line` and the reason are given and nothing was written."""

    code, title, exit_code, http_status = "malformed_note", "Malformed note", 18, 409


class StorageError(VaultError):
    """The disk refused: full, read-only, unreadable; the detail names the file and nothing was half done."""

    code, title, exit_code, http_status = "storage_failed", "The disk refused", 19, 507
