"""Each client's hook message is understood, and each gets an answer in its own shape."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.harness.clients import clients
from vault_memory.harness.events import EVENTS
from vault_memory.harness.hooks import answer, read_input

CLAUDE = {"session_id": "s1", "cwd": "/home/zoë/repo", "hook_event_name": "SessionStart", "source": "compact"}


def test_a_session_start_of_claude_code_codex_and_gemini() -> None:
    for client in ("claude-code", "codex", "gemini", "opencode"):
        message = read_input(json.dumps(CLAUDE), "session-start", client)
        assert (message.session, message.cwd, message.source) == ("s1", "/home/zoë/repo", "compact")
        told = json.loads(answer(message, "Zoë’s memory"))
        assert told == {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "Zoë’s memory"}}


def test_a_prompt_of_gemini_is_freed_of_what_another_hook_put_before_it() -> None:
    data = {"hook_event_name": "BeforeAgent", "prompt": "<hook_context>memory\ntext</hook_context>\n\nhello"}
    message = read_input(json.dumps(data), "prompt", "gemini")
    assert message.prompt == "hello"
    assert json.loads(answer(message, "x"))["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"


def test_cursor_speaks_its_own_shape() -> None:
    data = {"conversation_id": "c1", "workspace_roots": ["/repo"], "hook_event_name": "sessionStart"}
    message = read_input(json.dumps(data), "session-start", "cursor")
    assert (message.session, message.cwd) == ("c1", "/repo")
    assert json.loads(answer(message, "text")) == {"additional_context": "text"}


def test_a_compaction_and_an_end_bring_what_may_be_captured() -> None:
    compact = read_input('{"compact_summary": "we did things"}', "post-compact", "claude-code")
    assert compact.summary == "we did things"
    assert read_input('{"last_assistant_message": "done"}', "stop", "codex").reply == "done"


@pytest.mark.parametrize("event", [event for event in EVENTS if event not in ("session-start", "prompt")])
def test_events_that_take_no_text_get_an_empty_object(event: str) -> None:
    assert answer(read_input("{}", event, "claude-code"), "text") == "{}"  # type: ignore[arg-type]


@given(
    st.text()
    | st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)).map(
        json.dumps
    )
)
def test_no_message_is_too_odd(text: str) -> None:
    for client in clients():
        for event in EVENTS:
            assert isinstance(json.loads(answer(read_input(text, event, client.name), "text")), dict)


def test_every_hook_that_is_installed_is_one_we_answer() -> None:
    for client in clients():
        assert set(client.events) <= set(EVENTS)
