"""What a profile is: tools, resources and prompts. Owns the list of profiles; each is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import Struct, field

from vault_memory.errors import InvalidRequest
from vault_memory.surfaces.mcp.tools import Hint, Opener

if TYPE_CHECKING:
    from vault_memory.operations.context import Context


class AnyTool(Protocol):
    """What the server asks of a tool, be it a native one or another system's."""

    @property
    def name(self) -> str:
        """The name it is called by."""

    @property
    def description(self) -> str:
        """What it says of itself."""

    @property
    def hint(self) -> Hint:
        """Whether it reads, writes or destroys."""

    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""

    def answer(self, open_context: Opener, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The answer as blocks of text."""


class Template(Struct, frozen=True):
    """A kind of resource: its name, its URI template, what it holds, and how one is read from its URI."""

    name: str
    uri: str
    description: str
    read: Callable[[Context, str], str | None]
    """The text of the resource; None when the URI is none of this kind."""
    mime_type: str = "text/markdown"


class PromptArgument(Struct, frozen=True):
    """One argument of a prompt."""

    name: str
    description: str
    required: bool = False


class Prompt(Struct, frozen=True):
    """A prompt that a person picks: what it becomes is text for the model."""

    name: str
    description: str
    arguments: tuple[PromptArgument, ...]
    text: Callable[[Context, Mapping[str, str]], str]


class Profile(Struct, frozen=True):
    """The tools, resources and prompts that a server shows."""

    tools: tuple[AnyTool, ...]
    templates: tuple[Template, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    instructions: str = field(default="")
    """Empty: those of the core."""


_HERE: Final = "vault_memory.surfaces.profiles"
PROFILES: Final[Mapping[str, str]] = {
    "core": f"{_HERE}.native:core",
    "full": f"{_HERE}.native:full",
    "memai": f"{_HERE}.memai:profile",
    "memstack": f"{_HERE}.memstack:profile",
    "memstack-harness": f"{_HERE}.harness:profile",
    "actor": f"{_HERE}.actor:profile",
    "contract": f"{_HERE}.contract:profile",
    "curated": f"{_HERE}.curated:profile",
}
"""Where each profile is made."""


def load_profile(name: str) -> Profile:
    """The profile of that name.

    Raises:
        InvalidRequest: there is none.
    """
    if name not in PROFILES:
        raise InvalidRequest.of("profile", f"unknown profile '{name}'", allowed=sorted(PROFILES))
    module, attribute = PROFILES[name].split(":")
    made = getattr(import_module(module), attribute)()
    assert isinstance(made, Profile)
    return made
