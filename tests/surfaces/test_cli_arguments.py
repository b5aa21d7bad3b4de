"""One parser for every surface: what it accepts, and the words in which it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from vault_memory.errors import InvalidRequest
from vault_memory.surfaces.arguments import as_list, bounds, nearest, parse, shape_of


class Note(BaseModel):
    """A request with one field of each shape."""

    model_config = ConfigDict(extra="forbid")

    content: str
    title: str | None = None
    tags: list[str] | None = None
    limit: int = Field(10, ge=1, le=100)
    importance: Annotated[float, Field(ge=0, le=1)] | None = None
    days: float | None = Field(None, gt=0)
    pinned: bool | None = None
    since: datetime | None = None
    kind: Literal["note", "fact"] = "note"
    metadata: Mapping[str, Any] | None = None


def lenient(**arguments: Any) -> Note:
    return parse(Note, {"content": "x", **arguments}, lenient=True)[0]


def refused(lenient_too: bool = True, **arguments: Any) -> dict[str, Any]:
    with pytest.raises(InvalidRequest) as caught:
        parse(Note, {"content": "x", **arguments}, lenient=lenient_too)
    errors = caught.value.extra["errors"]
    assert len(errors) == 1
    return dict(errors[0])


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (["a", "b"], ["a", "b"]),
        ('["a","b"]', ["a", "b"]),
        ("a, b", ["a", "b"]),
        ("a", ["a"]),
        ("", None),
        (None, None),
    ],
)
def test_mc_02_every_form_of_a_list_means_the_same(given: Any, stored: Any) -> None:
    assert lenient(tags=given).tags == stored


@pytest.mark.parametrize("given", ["5", 5.0, " 5 ", 5])
def test_mc_02_numbers_may_come_as_text(given: Any) -> None:
    assert lenient(limit=given).limit == 5


@pytest.mark.parametrize("name", ["title", "tags", "limit", "importance", "pinned", "since", "kind", "metadata"])
@pytest.mark.parametrize("nothing", [None, ""])
def test_mc_02_null_and_empty_text_mean_not_given(name: str, nothing: Any) -> None:
    assert lenient(**{name: nothing}) == lenient()


def test_mc_02_a_numeric_title_is_text() -> None:
    assert lenient(title=2024).title == "2024"


def test_mc_02_nonsense_names_the_argument_and_shows_an_example() -> None:
    error = refused(limit="five")
    assert error["field"] == "limit"
    assert "such as 5" in error["message"]


def test_mc_02_an_unknown_argument_is_named_in_a_warning() -> None:
    request, warnings = parse(Note, {"content": "x", "limt": 3}, lenient=True)
    assert request == lenient()
    assert warnings == ("unknown argument 'limt' was ignored; did you mean 'limit'?",)


def test_a_required_text_may_be_empty_so_that_the_operation_can_judge_it() -> None:
    assert parse(Note, {"content": ""}, lenient=True)[0].content == ""


def test_strict_parsing_refuses_an_unknown_argument_with_the_nearest_name() -> None:
    error = refused(lenient_too=False, limt=3)
    assert error["field"] == "limt"
    assert "did you mean 'limit'" in error["message"]
    assert "content" in error["allowed"]


def test_strict_parsing_takes_no_comma_text_for_a_list() -> None:
    assert refused(lenient_too=False, tags="a, b")["field"] == "tags"


def test_bounds_are_named_even_on_an_annotated_optional_number() -> None:
    assert refused(importance=2)["message"] == "must be between 0 and 1"
    assert refused(limit=0)["allowed"] == {"minimum": 1, "maximum": 100}


def test_a_bound_that_may_not_be_reached_is_named() -> None:
    assert refused(days=0)["message"] == "input should be greater than 0"


def test_a_choice_lists_what_it_takes() -> None:
    assert refused(kind="fct")["allowed"] == ["note", "fact"]


def test_a_missing_argument_says_what_it_would_take() -> None:
    with pytest.raises(InvalidRequest, match="content: is required: text, such as"):
        parse(Note, {}, lenient=True)


def test_a_missing_choice_lists_what_it_takes() -> None:
    class Choice(BaseModel):
        way: Literal["by_age", "by_decay"]

    with pytest.raises(InvalidRequest, match="way: is required: one of by_age, by_decay"):
        parse(Choice, {}, lenient=False)


def test_all_wrong_arguments_are_named_at_once() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse(Note, {"limit": 0, "kind": "x"}, lenient=True)
    assert {error["field"] for error in caught.value.extra["errors"]} == {"content", "limit", "kind"}


def test_a_refusal_never_repeats_the_value_it_refuses() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse(Note, {"content": {"password": "hunter2-secret"}}, lenient=True)
    assert "hunter2" not in str(caught.value.problem())


def test_times_and_objects_may_come_as_text() -> None:
    request = lenient(since="2026-04-06T14:12:00Z", metadata='{"a": 1}')
    assert request.since == datetime(2026, 4, 6, 14, 12, tzinfo=UTC)
    assert request.metadata == {"a": 1}


def test_shapes_see_through_annotations_and_optionals() -> None:
    fields = Note.model_fields
    assert shape_of(fields["importance"].annotation).shape == "number"
    assert shape_of(fields["tags"].annotation).nullable
    assert shape_of(fields["kind"].annotation).choices == ("note", "fact")
    assert bounds(fields["limit"]) == (1, 100)


def test_brackets_that_are_no_json_are_comma_text() -> None:
    assert as_list("[[Kiln log]], b") == ["[[Kiln log]]", "b"]


def test_nearest_finds_a_slip_and_nothing_else() -> None:
    assert nearest("memory-typ", ["memory_type", "title"]) == "memory_type"
    assert nearest("zebra", ["memory_type", "title"]) is None
