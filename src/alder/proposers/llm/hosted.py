"""Hosted models of OpenAI, Anthropic and Google; the only file that knows `pydantic_ai`.

Keys come from the providers' usual environment variables and are read by their own clients.
"""

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from alder.errors import BadStudy, MissingExtra, ModelFailed
from alder.ports import Form, Message, Reply
from alder.spelling import printable

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as Client

PROVIDERS: dict[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
"""Hosted providers, and the environment variables one of which holds the key."""

_SAID = 200


@final
@dataclass(frozen=True, slots=True, eq=False)
class Hosted:
    """A hosted model, asked through the client of its provider; `seconds` limits one request."""

    name: str
    client: "Client"
    seconds: float = 300.0

    def reply(self, messages: Sequence[Message], form: Form) -> Reply:
        """Ask once; raise `ModelFailed` where no reply came."""
        from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError

        try:
            response = _in_own_loop(self.client, messages, form, self.seconds)
        except ModelAPIError as error:
            status: int | None = getattr(error, "status_code", None)
            raise ModelFailed(
                f"{self.name} gave no reply: {_said(error)}",
                retry=status is None or status in (408, 409, 425, 429) or status >= 500,
                after=_after(error),
            ) from None
        except UnexpectedModelBehavior:
            return Reply("", money=None)  # a filter kept the reply back: a reply of nothing
        except UserError as error:
            raise ModelFailed(f"{self.name} cannot be asked: {_said(error)}") from None
        return _read(response)


def hosted(provider: str, model: str) -> Hosted:
    """Return a hosted model by provider and name; raise where its extra or its key is missing."""
    keys = PROVIDERS[provider]
    if not any(os.environ.get(key) for key in keys):
        raise BadStudy(
            f"{' or '.join(keys)} is not set; {provider} needs a key: export {keys[0]}=..., or use "
            f"a model that needs none: llm:local, llm:ollama:NAME."
        )
    try:
        from pydantic_ai.models import infer_model

        client = infer_model(f"{provider}:{model}")
    except ImportError:
        raise MissingExtra(
            f"llm:{provider} needs the clients of hosted models: pip install 'alder[llm]'."
        ) from None
    return Hosted(f"{provider}:{model}", client)


def _in_own_loop(
    client: "Client", messages: Sequence[Message], form: Form, seconds: float
) -> "ModelResponse":
    """Ask, in a thread of its own where this one runs an event loop, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_ask(client, messages, form, seconds))
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _ask(client, messages, form, seconds)).result()


async def _ask(
    client: "Client", messages: Sequence[Message], form: Form, seconds: float
) -> "ModelResponse":
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.settings import ModelSettings

    parts = [
        SystemPromptPart(one.text) if one.role == "system" else UserPromptPart(one.text)
        for one in messages
    ]
    shape = OutputObjectDefinition(dict(form.schema), name="proposal", strict=True)
    async with client:  # its connections belong to this event loop, and end with it
        return await model_request(
            client,
            [ModelRequest(parts=parts)],
            model_settings=ModelSettings(max_tokens=form.at_most, timeout=seconds),
            model_request_parameters=ModelRequestParameters(
                output_mode="native", output_object=shape, allow_text_output=True
            ),
        )


def _read(response: "ModelResponse") -> Reply:
    from pydantic_ai.messages import TextPart

    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    usage = response.usage
    return Reply(text, usage.input_tokens, usage.output_tokens, _price(response))


def _price(response: "ModelResponse") -> float | None:
    """Return the price in US dollars from the table that comes with the client, if it is there."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None


def _after(error: Exception) -> float:
    headers: dict[str, str] = getattr(error, "headers", None) or {}
    wait = headers.get("retry-after", "")
    return float(wait) if wait.isdecimal() and len(wait) < 5 else 0.0


def _said(error: Exception) -> str:
    """Repeat what a client says, shortened, and without any key it may repeat itself."""
    said = str(error)
    for name in (name for names in PROVIDERS.values() for name in names):
        key = os.environ.get(name)
        if key:
            said = said.replace(key, "(key)")
    return printable(said, _SAID)
