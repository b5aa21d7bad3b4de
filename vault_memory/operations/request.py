"""What the request models share: strictness, the write options and the filter fields."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from vault_memory.errors import InvalidRequest
from vault_memory.memory.filter import Filter
from vault_memory.operations.context import Context

MAX_PAGE = 100


def _aware(value: datetime) -> datetime:
    """A time without a zone is UTC (NOTE_FORMAT: one documented rule for naive and date-only values)."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _time(value: Any) -> Any:
    if value in (None, ""):
        return None
    if isinstance(value, datetime):
        return _aware(value)
    if isinstance(value, str):
        try:
            return _aware(datetime.fromisoformat(value))
        except ValueError:
            raise ValueError("must be a date or time such as 2026-04-06 or 2026-04-06T14:12:00Z") from None
    raise ValueError("must be a date or time such as 2026-04-06 or 2026-04-06T14:12:00Z")


Time = Annotated[datetime, BeforeValidator(_time)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Request(BaseModel):
    """Base of every request: unknown fields are refused, values are never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class WriteRequest(Request):
    """Options of every operation that changes something."""

    if_revision: str | None = Field(None, description="Write only if the note still has this revision.")
    if_version: int | None = Field(None, ge=1, description="Write only if the note still has this version.")
    reason: str | None = Field(None, max_length=2000, description="Why; goes to the history and the audit log.")


class FilterRequest(Request):
    """The filters that list, search and the plans have in common."""

    status: str | None = Field(None, description="active, archived, invalid or deleted; comma-separated for several.")
    memory_type: str | None = Field(None, description="Only this type; comma-separated for several.")
    tag: str | None = Field(None, description="Only memories with exactly this tag.")
    tags: list[str] | None = Field(None, description="Only memories with any of these tags.")
    project: str | None = Field(None, description="Only this project ('global' for memories without one).")
    domain: str | None = Field(None, description="Only this domain.")
    actor: str | None = Field(None, description="Only this actor's memories.")
    session: str | None = Field(None, description="Only this session.")
    source: str | None = Field(None, description="human, agent, crawl or import.")
    url: str | None = Field(None, description="Only memories of this page.")
    site: str | None = Field(None, description="Only memories of this site (host name).")
    created_after: Time | None = Field(None, description="Created at or after this time.")
    created_before: Time | None = Field(None, description="Created before this time.")
    updated_after: Time | None = Field(None, description="Updated at or after this time.")
    updated_before: Time | None = Field(None, description="Updated before this time.")

    def filter(self, ctx: Context, *, default: tuple[str, ...]) -> Filter:
        """The Filter these fields describe; `default` are the statuses when none is asked for.

        Raises:
            InvalidRequest: an unknown status, type or source; the error names the allowed values.
        """
        from vault_memory.operations.filters import build_filter

        return build_filter(self, ctx, default)


def refused(error: ValidationError) -> InvalidRequest:
    """A model's complaint as our error: one `{field, message}` for each field."""
    errors = [
        {"field": ".".join(map(str, item["loc"])) or "request", "message": item["msg"].removeprefix("Value error, ")}
        for item in error.errors(include_url=False)
    ]
    return InvalidRequest("; ".join(f"{e['field']}: {e['message']}" for e in errors), errors=errors)
