"""What endpoints of the OpenAI API answer: texts whole or in pieces, why each ended, and what an error says."""

import json
import logging
import math
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, TypeVar

import httpcore2
import httpx2

from nanoproof.common.web.http_client import MAX_ANSWER_BYTES
from nanoproof.inference.language_model import TextSample, cut_at

log = logging.getLogger(__name__)
T = TypeVar("T")

# -- Why a text ended ------------------------------------------------------------------------------------------------

Ending = Literal["end", "cut off", "failed"]
_NAMES: dict[Ending, str] = {
    # The model wrote its own end, or one of the texts of `stop`.
    "end": "stop stopped eos eos_token eos_found eot eom end end_turn end_of_turn end_of_text stop_sequence "
    "stop_string_found stop_token complete completed finish finished done normal tool_calls tool_use function_call",
    # It would have gone on: no tokens were left, or a filter stopped it. Such a text is a sample all the same. Asked
    # for again until it ends, the samples would be those that are short, and pass@k of nothing that was drawn.
    "cut off": "length max_tokens max_length max_new_tokens max_output_tokens model_length token_limit length_limit "
    "context_length model_context_window_exceeded incomplete not_finished content_filter safety recitation refusal "
    "blocklist prohibited_content spii error_toxic error_limit repetition none null",
    # The server did not finish its work, whatever the text was to be: it is asked again.
    "failed": "error abort aborted cancelled canceled network_error insufficient_system_resource timeout "
    "user_stopped model_unloaded preempted interrupted",
}
ENDINGS = {name: meaning for meaning, names in _NAMES.items() for name in names.split()}
"""What the reasons mean that servers of different makes give for the end of a text, as `_reason_name` writes them."""
_REASON_PREFIX = re.compile(r"^finish_?reason[._]")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LIMIT = re.compile(r"limit|length|max|budget|truncat|exceed|partial|filter|safety|guard|sensitive|moderat|block")
_FAILURE = re.compile(r"error|fail|abort|cancel")
_REASON_FIELDS = ("finish_reason", "finishReason", "stop_reason", "done_reason")
_warned: set[str] = set()


def _warn_once(about: str, message: str, *values: object) -> None:
    if about not in _warned:
        _warned.add(about)
        log.warning(message, *values)


def _reason_name(reason: str) -> str:
    """Write a reason as `ENDINGS` has it: `FinishReason.MAX_TOKENS`, `maxTokens` and `max-tokens` are one."""
    name = _HUMP.sub("_", reason.strip()).lower().replace("-", "_")
    return _REASON_PREFIX.sub("", name)


def ending(reason: str | None, text: str) -> Ending:
    """Return what the reason for a text's end means; an unknown one is said once.

    No reason at all means that the text was cut off. An unknown one counts as an end, unless it speaks of a limit or of
    a failure; but an empty text was hardly what a model wanted to say, and is taken for cut off.
    """
    if reason is None:
        _warn_once("no reason", "a text came without finish_reason: taken for cut off, as are all others like it")
        return "cut off"
    name = _reason_name(reason)
    known = ENDINGS.get(name)
    if known is not None:
        return known
    meaning: Ending = "end" if text else "cut off"
    shown = "the end of a text, of an empty one for cut off"
    if _FAILURE.search(name):
        meaning = "failed"
        shown = "a failure of the server"
    elif _LIMIT.search(name):
        meaning = shown = "cut off"
    _warn_once(f"reason {reason}", "finish_reason %.60r is unknown: taken for %s", reason, shown)
    return meaning


def reason_of(piece: Mapping[str, Any]) -> str | None:
    """Return why a text ended, as the first field says that has a reason; None where none has."""
    for field_name in _REASON_FIELDS:
        reason = piece.get(field_name)
        if isinstance(reason, Mapping):  # {"type": "stop"}
            reason = reason.get("type")
        if isinstance(reason, str) and reason:
            return reason
    return None


# -- Answers ---------------------------------------------------------------------------------------------------------


class Garbled(Exception):
    """An answer is not what the API promises."""


_STREAM = re.compile(rb"\s*(?:data|event|id|retry)?:")
"""Matches the beginning of a stream of events: JSON begins otherwise."""
_LINE_END = re.compile(rb"[\r\n]")
"""A line of a stream ends with either or both; empty lines say nothing here."""


_due = threading.local()
"""Of each thread, `at`: when the answer to its request must be there."""


@contextmanager
def answered_by(deadline: float) -> Iterator[None]:
    """Let reads of this thread end at a time. The limits of the client itself are for each piece that comes."""
    _due.at = deadline
    try:
        yield
    finally:
        del _due.at


class _BoundedStream(httpcore2.NetworkStream):
    """A connection whose reads heed `answered_by`: of headers nothing else is seen until they are whole."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self.write, self.close = stream.write, stream.close  # type: ignore[method-assign]
        self.get_extra_info = stream.get_extra_info  # type: ignore[method-assign]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = getattr(_due, "at", math.inf) - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the answer trickles")
        return self._stream.read(max_bytes, min(left, math.inf if timeout is None else timeout))

    def start_tls(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        return _BoundedStream(self._stream.start_tls(*args, **options))


class _BoundedBackend(httpcore2.SyncBackend):
    def connect_tcp(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        return _BoundedStream(super().connect_tcp(*args, **options))


def bound_reads(client: httpx2.Client) -> None:
    """Have all connections of a new client heed `answered_by`."""
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            transport._pool._network_backend = _BoundedBackend()


class Answer:
    """The body of a response, which must be there before the deadline and of a sane size."""

    def __init__(self, response: httpx2.Response, deadline: float) -> None:
        self._response, self._deadline = response, deadline
        self.is_stream = response.headers.get("Content-Type", "").lower().startswith("text/event-stream")

    def _blocks(self) -> Iterator[bytes]:
        size = 0
        for block in self._response.iter_bytes():
            size += len(block)
            if size > MAX_ANSWER_BYTES:
                raise Garbled(f"it has more than {MAX_ANSWER_BYTES >> 20} MB")
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the answer trickles")
            yield block

    def body(self) -> bytes:
        """Return all of it. Raises Garbled for one of unreasonable size."""
        return b"".join(self._blocks())

    def refusal(self) -> str:
        """Return what the body says of a refusal. Raises Garbled for one of unreasonable size."""
        return refusal_of(self.body())

    def json(self) -> dict[str, Any]:
        """Return the JSON object that the body is. Raises Garbled."""
        return read_json_object(self.body())

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the object that the body is, or those of a stream. Raises Garbled if one breaks off before its end.

        Some servers do not say the end of a stream: then every text must have its reason to end.
        """
        blocks = self._blocks()
        if not self.is_stream:
            body = b"".join(blocks)
            self.is_stream = _STREAM.match(body) is not None  # proxies call streams JSON, or text
            if not self.is_stream:
                yield read_json_object(body)
                return
            blocks = iter([body])
        rest, ended = b"", dict[Any, bool]()
        for block in chain(blocks, [b"\n"]):  # the last line may have no line break
            *lines, rest = _LINE_END.split(rest + block)
            for line in lines:
                data = line.strip()
                if not data.startswith(b"data:"):
                    continue
                data = data[len(b"data:") :].strip()
                if data == b"[DONE]":
                    return
                if not data or data.startswith(b":"):  # to keep the connection, from a proxy that wraps comments
                    continue
                event = read_json_object(data)
                yield event
                for piece in event["choices"] if isinstance(event.get("choices"), list) else ():
                    if isinstance(piece, Mapping):
                        index = piece.get("index")
                        ended[index] = ended.get(index, False) or reason_of(piece) is not None
        if not ended or not all(ended.values()):
            raise Garbled("the stream breaks off")


@dataclass
class Choice:
    """One text of an answer, put together from one piece or many."""

    text: list[str] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    reason: str | None = None
    num_tokens: int | None = None
    has_logprobs: bool = True
    says_elsewhere: bool = False
    error: str = ""

    def add(self, piece: Mapping[str, Any], is_stream: bool = False) -> None:
        """Add a piece: of completions, of a chat, or of a stream of either. Raises Garbled for what is none."""
        message, other = piece.get("message"), piece.get("delta")
        # Some streams end with the whole message beside the last piece of it.
        if message is None or (is_stream and isinstance(other, Mapping)):
            message = other
        if isinstance(message, Mapping):
            self.text.append(_text(message.get("content")))
            self.says_elsewhere |= any(message.get(name) for name in _OTHER_TEXTS)
        elif "text" in piece:
            self.text.append(_text(piece["text"]))
        # A message of null is that of a text which a filter held back, say: its reason counts.
        elif message or (reason_of(piece) is None and not is_stream):
            raise Garbled("a choice must have a message or a text")
        problem = piece.get("error")
        if problem:
            self.error = error_message({"error": problem})
        # A field of our own server: it knows the sum, not each token's.
        self.num_tokens = count_of(piece, "num_tokens", self.num_tokens)
        # In a stream the last piece alone has a reason, and may be followed by one of null.
        self.reason = reason_of(piece) or self.reason
        logprobs = piece.get("logprobs")
        if isinstance(logprobs, Mapping):
            # Completions have a list of numbers, chats a list of objects.
            listed, tokens = logprobs.get("token_logprobs"), logprobs.get("content")
            if not isinstance(listed, list):
                listed = list(map(_logprob, tokens)) if isinstance(tokens, list) else []
            # Some servers write -inf or NaN, or OpenAI's -9999, where they do not know.
            numbers = [number for number in listed if isinstance(number, int | float) and -9999 < number <= 0.001]
            self.has_logprobs &= len(numbers) == len(listed)
            self.logprobs += map(float, numbers)

    def sample(self, stop: Sequence[str], num_tokens: int) -> TextSample:
        """Return it as a sample; `num_tokens` is what to believe of its length where its tokens were not listed."""
        text, stopped = cut_at(_whole_characters("".join(self.text)), stop)
        if not text and self.says_elsewhere and self.ending == "end":
            _warn_once(
                "elsewhere",
                "an answer ended with no content, all of it is %s: does the server's parser fit the model?",
                " or ".join(f"`{name}`" for name in _OTHER_TEXTS),
            )
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
        if not self.text and self.reason is None:
            return "failed"  # of this one a stream holds signs of life alone: no sample of the model
        return ending(self.reason, "".join(self.text))


def _whole_characters(text: str) -> str:
    """Join halves of characters, which two pieces of a stream may have; one that stays alone is replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


_OTHER_TEXTS = ("reasoning_content", "reasoning", "thinking", "tool_calls", "refusal")
_TEXT_PARTS = ("text", "output_text")


def _logprob(token: object) -> object:
    if isinstance(token, Mapping):
        return token.get("logprob")
    return None


def _text(content: object) -> str:
    """Return the text of a message: a string, the parts of one without its thoughts, or none at all.

    A model that ran out of tokens while it was thinking has no content.
    """
    if content is None:
        return ""
    if isinstance(content, list):
        texts: list[str] = []
        for part in content:
            if isinstance(part, str):
                texts.append(part)
            elif isinstance(part, Mapping) and (part.get("type") or "text") in _TEXT_PARTS:
                texts.append(_text(part.get("text")))
        return "".join(texts)
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


def listed_models(answer: object) -> list[str]:
    """Return the names in a list of models: OpenAI's, ollama's, or one without an object around it; else none.

    None as well of a list that does not say what can be asked for: a page of a longer one (Anthropic), or Azure's
    catalogue, while requests name deployments.
    """
    entries = answer
    if isinstance(answer, Mapping):
        if answer.get("has_more"):
            return []
        entries = answer.get("data") or answer.get("models")
    if not isinstance(entries, list):
        return []
    names = []
    for entry in entries:
        name: object = entry
        if isinstance(entry, Mapping):
            if "lifecycle_status" in entry:
                return []
            name = entry.get("id") or entry.get("model") or entry.get("name")
        if isinstance(name, str):
            names.append(name)
    return names


def count_of(answer: Mapping[str, Any], name: str, otherwise: T) -> int | T:
    """Return the number of tokens that a field holds; `otherwise` where it holds none that can be."""
    count = answer.get(name)
    return count if isinstance(count, int) and 0 <= count < 1 << 31 else otherwise


def list_of(answer: Mapping[str, Any], name: str) -> list[Any]:
    """Return the list that a field holds. Raises Garbled if it holds none."""
    listed = answer.get(name)
    if not isinstance(listed, list):
        raise Garbled(f"`{name}` must be a list")
    return listed


# -- What an error says ----------------------------------------------------------------------------------------------

OF_COUNT = re.compile(
    # `n` by itself, as in `n: must be 1`, `body.n`, `[n]`, and no `\\n` of a quoted text.
    r"(?a-i:(?<![\w\\'-])n(?![\w'-])|'n')|"
    r"\bbest_of\b|candidate_?count|num_return_sequences|\bn_cmpl\b|parallel sampling|"
    r"(?:only one|single|multiple|more than one|too many|number of|at most \d+|requested \d+) "
    r"(?:completion|choice|candidate|sample|sequence|generation|output|response|return)s?\b(?! tokens?\b)|"
    r"completion choice",
    re.IGNORECASE,
)
"""Matches an error that is about how many texts were asked for at once."""
STREAM_ONLY = re.compile(
    r"\bstream(?:ing)?(?:[ _]mode|=true| parameter)|stream.{0,30}(?:required|only|enable|must)", re.I
)
"""Matches an error of an endpoint that sends texts only piece by piece."""
WRONG_ADDRESS = re.compile(r"unexpected endpoint or method", re.I)
"""Matches what LM Studio says, with status 200, of a path that it does not know."""
NOT_BY_WAITING = re.compile(
    # Gemini says so of the quota of a minute as well, and then when to come back.
    r"insufficient_quota|exceeded your current quota(?!.*retry in)|insufficient (?:balance|credit)",
    re.IGNORECASE | re.DOTALL,
)
"""Matches a refusal, as busy as a server calls itself, that waiting does not mend."""


def error_message(answer: object) -> str:
    """Return what an error answer says, "" for nothing: servers of different makes put it in different places.

    The field that a server complains of comes with it, in backticks.
    """
    if isinstance(answer, list):
        return "; ".join(filter(None, map(error_message, answer)))
    if not isinstance(answer, Mapping):
        return "" if answer is None else str(answer)
    message = ""
    names = ("error", "message", "detail", "errors", "msg", "error_msg")
    if isinstance(answer.get("error"), str):  # "Bad Request": the other fields say what is bad
        names = (*names[1:], "error")
    for name in names:
        if not message and answer.get(name):
            message = error_message(answer[name])
    metadata = answer.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("raw"):  # OpenRouter: what the provider behind it said
        message += f": {metadata['raw']}"
    fields = answer.get("loc") or answer.get("param")  # FastAPI's ["body", "n"], OpenAI's "n"
    if isinstance(fields, list) and fields:
        fields = fields[-1]
    if message and isinstance(fields, str) and f"`{fields}`" not in message:
        message = f"`{fields}`: {message}"
    return message


def refusal_of(body: bytes) -> str:
    """Return what the body of a refusal says: JSON, or a line of text; "" for a page of a proxy."""
    try:
        return error_message(json.loads(body))
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace").strip()
        return "" if text.startswith("<") else text


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
