"""What an agent may ask of a model: to think, and nothing that acts or looks elsewhere.

A hosted model may search the web, fetch an address, run code on its provider's computers or open
what an account has stored there. For an agent without a network each of these would be one.
"""

from collections.abc import Mapping, Sequence
from typing import Final, cast

PREFIX: Final = "/v1"

_QUESTIONS: Final = {
    ("POST", "/responses"),
    ("POST", "/chat/completions"),
    ("POST", "/messages"),
    ("POST", "/messages/count_tokens"),
    ("GET", "/models"),
}
_QUERIES: Final = ("", "beta=true")
# Tools that are run by the agent itself, in its sandbox: by their whole kind, or how it begins.
_OWN_TOOLS: Final = (None, "function", "custom", "namespace", "local_shell", "apply_patch")
_OWN_FAMILIES: Final = ("bash_", "text_editor_", "memory_")
_ADDRESSES: Final = ("url", "image_url", "file_url", "server_url")
_ELSEWHERE: Final = (
    "file_id", "mcp_servers", "container", "web_search_options", "conversation",
    "previous_response_id", "background",
)  # fmt: skip


class Refused(Exception):
    """A request that is not passed on; the text says why."""


def place_of(method: str, target: str) -> str:
    """Return the path of a question, after the prefix, with its query; raise `Refused` else."""
    path, _, query = target.partition("?")
    below = path.removeprefix(PREFIX)
    if not path.startswith(PREFIX) or (method, below) not in _QUESTIONS or query not in _QUERIES:
        raise Refused("Only questions to the model are passed on.")
    return f"{below}?{query}" if query else below


def screened(request: Mapping[str, object]) -> dict[str, object]:
    """Return a request without tools that others run; raise `Refused` where it names a place.

    >>> screened({"tools": [{"type": "function", "name": "sh"}, {"type": "web_search"}]})
    {'tools': [{'type': 'function', 'name': 'sh'}]}
    """
    kept = dict(request)
    if "tools" in kept:
        kept["tools"] = _own(kept["tools"])
    _require_here(kept)
    return kept


def _own(tools: object) -> list[object]:
    """Keep the tools that the agent runs itself; a namespace is a list of tools."""
    if not isinstance(tools, list):
        raise Refused("`tools` is no list.")
    kept: list[object] = []
    for tool in cast("Sequence[object]", tools):
        if not isinstance(tool, dict):
            raise Refused("A tool is one JSON object.")
        fields = cast("Mapping[str, object]", tool)
        if not _is_own(fields.get("type")):
            continue
        nested = {"tools": _own(fields["tools"])} if "tools" in fields else {}
        kept.append({**fields, **nested})
    return kept


def _is_own(kind: object) -> bool:
    return kind in _OWN_TOOLS or (isinstance(kind, str) and kind.startswith(_OWN_FAMILIES))


def _require_here(value: object) -> None:
    """Raise `Refused` where something is to be fetched, or was stored with the provider."""
    if isinstance(value, list):
        for one in cast("Sequence[object]", value):
            _require_here(one)
    elif isinstance(value, dict):
        fields = cast("Mapping[str, object]", value)
        for name, one in fields.items():
            if name in _ADDRESSES and isinstance(one, str) and not one.startswith("data:"):
                raise Refused("An address is not passed on: the model would fetch it.")
            if name in _ELSEWHERE and one:
                raise Refused(f"`{name}` is not passed on: it names what lies with the provider.")
            # What a tool was called with is a record, which nobody acts on; it may hold addresses.
            if not (name == "input" and fields.get("type") == "tool_use"):
                _require_here(one)
