"""What endpoints of the OpenAI API answer: texts whole or in pieces, why each ended, and what an error says."""

import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2

from nanoproof.common.web.http_client import MAX_ANSWER_BYTES
from nanoproof.inference.language_model import TextSample, cut_at

log = logging.getLogger(__name__)

# -- Why a text ended ------------------------------------------------------------------------------------------------

Ending = Literal["end", "cut off", "failed"]
_NAMES: dict[Ending, str] = {
    # The model wrote its own end, or one of the texts of `stop`.
    "end": "stop eos eos_token eot eom end end_turn end_of_turn stop_sequence stop_token complete completed finish "
    "finished done normal tool_calls tool_use function_call",
    # It would have gone on: no tokens were left, or a filter stopped it. Such a text is a sample all the same. Asked
    # for again until it ends, the samples would be those that are short, and pass@k of nothing that was drawn.
    "cut off": "length max_tokens max_length max_new_tokens max_output_tokens model_length token_limit length_limit "
    "context_length model_context_window_exceeded incomplete content_filter content-filter safety recitation refusal "
    "blocklist prohibited_content spii",
    # The server did not finish its work, whatever the text was to be: it is asked again.
    "failed": "error abort aborted cancelled canceled network_error insufficient_system_resource",
}
ENDINGS = {name: meaning for meaning, names in _NAMES.items() for name in names.split()}
"""What the reasons mean that servers of different makes give for the end of a text, in lower case."""
_unknown_reasons: set[str] = set()


def ending(reason: str | None, text: str) -> Ending:
    """Return what the reason for a text's end means; an unknown one is said once.

    No reason at all means that the text was cut off. An unknown one counts as an end, as all servers have a name for
    their limits; but an empty text was hardly what a model wanted to say, and is taken for cut off.
    """
    if reason is None:
        return "cut off"
    known = ENDINGS.get(reason.lower())
    if known is not None:
        return known
    if reason not in _unknown_reasons:
        _unknown_reasons.add(reason)
        log.warning("finish_reason %.60r is unknown: taken for the end of a text, of an empty one for cut off", reason)
    return "end" if text else "cut off"


# -- Answers ---------------------------------------------------------------------------------------------------------


class Garbled(Exception):
    """An answer is not what the API promises."""


class Answer:
    """The body of a response, which must be there before the deadline and of a sane size."""

    def __init__(self, response: httpx2.Response, deadline: float) -> None:
        self._response, self._deadline = response, deadline
        self.is_stream = response.headers.get("Content-Type", "").startswith("text/event-stream")

    def _blocks(self) -> Iterator[bytes]:
        size = 0
        for block in self._response.iter_bytes():
            size += len(block)
            if size > MAX_ANSWER_BYTES:
                raise Garbled(f"it has more than {MAX_ANSWER_BYTES >> 20} MB")
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the answer trickles")
            yield block

    def json(self) -> dict[str, Any]:
        """Return the JSON object that the body is. Raises Garbled."""
        return read_json_object(b"".join(self._blocks()))

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the objects of a stream of events. Raises Garbled if it breaks off before its end is said."""
        rest = b""
        for block in self._blocks():
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                data = line.strip()
                if not data.startswith(b"data:"):
                    continue
                data = data[len(b"data:") :].strip()
                if data == b"[DONE]":
                    return
                yield read_json_object(data)
        raise Garbled("the stream breaks off")


@dataclass
class Choice:
    """One text of an answer, put together from one piece or many."""

    text: list[str] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    reason: str | None = None
    num_tokens: int | None = None
    has_logprobs: bool = True

    def add(self, piece: Mapping[str, Any]) -> None:
        """Add a piece: of completions, of a chat, or of a stream of either. Raises Garbled for what is none."""
        message = piece.get("message", piece.get("delta"))
        if isinstance(message, Mapping):
            self.text.append(_text(message.get("content")))
        elif "text" in piece:
            self.text.append(_text(piece["text"]))
        else:
            raise Garbled("a choice must have a message or a text")
        num_tokens = piece.get("num_tokens")  # a field of our own server: it knows the sum, not each token's
        if isinstance(num_tokens, int):
            self.num_tokens = num_tokens
        # In a stream the last piece alone has a reason, and may be followed by one of null.
        reason = piece.get("finish_reason")
        if isinstance(reason, str):
            self.reason = reason
        logprobs = piece.get("logprobs")
        if isinstance(logprobs, Mapping):
            # Completions have a list of numbers, chats a list of objects.
            listed = logprobs.get("token_logprobs")
            if listed is None:
                listed = [token.get("logprob") for token in logprobs.get("content") or ()]
            numbers = [number for number in listed if isinstance(number, int | float)]
            self.has_logprobs &= len(numbers) == len(listed)
            self.logprobs += map(float, numbers)

    def sample(self, stop: Sequence[str], num_tokens: int) -> TextSample:
        """Return it as a sample; `num_tokens` is what to believe of its length where its tokens were not listed."""
        text, stopped = cut_at("".join(self.text), stop)
        logprob: float | None = None
        # A text of which some tokens have no number would seem likelier than it is.
        if self.logprobs and self.has_logprobs:
            logprob, num_tokens = sum(self.logprobs), len(self.logprobs)
        if self.num_tokens is not None:
            num_tokens = self.num_tokens
        return TextSample(text, logprob, num_tokens, stopped or self.ending == "end")

    @property
    def ending(self) -> Ending:
        """Why the text ended."""
        return ending(self.reason, "".join(self.text))


def _text(content: object) -> str:
    """Return the text of a message: a string, the parts of one without its thoughts, or none at all.

    A model that ran out of tokens while it was thinking has no content.
    """
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        return "".join(_text(part.get("text")) for part in parts)
    if not isinstance(content, str):
        raise Garbled("a text must be a string")
    return content


def read_json_object(data: bytes) -> dict[str, Any]:
    """Read a JSON object. Raises Garbled."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise Garbled("it is no JSON") from None
    if not isinstance(value, dict):
        raise Garbled("it is no JSON object")
    return value


def list_of(answer: Mapping[str, Any], name: str) -> list[Any]:
    """Return the list that a field holds. Raises Garbled if it holds none."""
    listed = answer.get(name)
    if not isinstance(listed, list):
        raise Garbled(f"`{name}` must be a list")
    return listed


def error_message(answer: Mapping[str, Any]) -> object:
    """Return what an error answer says: servers of different makes put it in different places."""
    error = answer.get("error", answer)
    if isinstance(error, Mapping):
        return error.get("message") or error.get("detail") or ""
    return error


def echoed(answer: Mapping[str, Any], border: int) -> float:
    """Add up the log-probabilities of the tokens that reach beyond a character of the text."""
    logprobs = list_of(answer, "choices")[0]["logprobs"]
    starts, values = logprobs["text_offset"], logprobs["token_logprobs"]
    ends = [*starts[1:], float("inf")]
    total = 0.0
    for end, value in zip(ends, values, strict=True):
        # The first token of all has none: nothing is before it.
        if end > border and value is not None:
            total += value
    return total
