"""Models behind an OpenAI-compatible endpoint, as vLLM, SGLang, llama.cpp, ollama and our own server offer them.

A prompt is one request for all of its samples; what is missing in the answer is asked for again, as some servers give
one text whatever `n` says. Requests are repeated when a connection breaks, a server is busy, or an answer makes no
sense: after pauses that double and vary, or as long as `Retry-After` says, which holds for all threads.
"""

import json
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import numpy as np

from nanoproof.common.config import opt, validate
from nanoproof.common.errors import UserError
from nanoproof.common.web.http_client import MAX_ANSWER_BYTES, on_loopback, seconds_to_wait
from nanoproof.inference.language_model import GenerationOptions, TextSample, cut_at, unit_vectors
from nanoproof.search import policy

log = logging.getLogger(__name__)
T = TypeVar("T")

TOKEN_VARIABLE = "NANOPROOF_MODEL_TOKEN"
"""Environment variable with the token that an endpoint asks for."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.25, 30.0
CONNECT_SECONDS = 10.0
REPEATED_STATUSES = (408, 409, 425, 429, 500, 502, 503, 504, 529)
BUSY_STATUSES = (429, 503, 529)


@dataclass(frozen=True)
class EndpointOptions:
    """Endpoints (openai:)."""

    token_file: str | None = opt(None, f"File with the token of an endpoint (default: {TOKEN_VARIABLE}).")
    requests: int = opt(32, "Requests to an endpoint at a time.", min=1)
    requests_per_minute: float | None = opt(None, "Most requests in a minute (none: any number).", above=0)
    timeout: float = opt(600.0, "Seconds that an answer may take.", above=0, advanced=True)
    patience: float = opt(300.0, "Seconds for which a request is repeated that fails.", min=0, advanced=True)
    stream: bool = opt(False, "Ask for texts piece by piece, for proxies that close silent connections.", advanced=True)

    def __post_init__(self) -> None:
        validate(self, "model")

    def token(self) -> str | None:
        """Return the token to send. Raises UserError, which does not show it, if there is none in the file."""
        text = os.environ.get(TOKEN_VARIABLE, "")
        where = f"the environment variable {TOKEN_VARIABLE}"
        if self.token_file is not None:
            where = f"--model-token-file {self.token_file}"
            try:
                text = Path(self.token_file).expanduser().read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise UserError(f"{where} cannot be read: {getattr(error, 'strerror', None) or 'no text'}") from None
        text = text.strip()
        if not text.isascii() or any(character.isspace() for character in text):
            raise UserError(f"{where} holds no token: it must be one word of ASCII")
        if self.token_file is not None and not text:
            raise UserError(f"{where} is empty")
        return text or None


class _Repeat(Exception):
    """A request failed in a way that may pass; `error` is raised when patience is over."""

    def __init__(self, error: policy.PolicyError, seconds: float | None = None) -> None:
        super().__init__(str(error))
        self.error, self.seconds = error, seconds


class _Garbled(Exception):
    """An answer is not what the API promises."""


class OpenAIModel:
    """A model of an OpenAI-compatible endpoint. Any number of threads may share it."""

    def __init__(
        self,
        base: str,
        model: str | None,
        options: EndpointOptions | None = None,
        *,
        chat: bool = False,
        special: bool = False,
        token: str | None = None,
        silence_seconds: float | None = None,
    ) -> None:
        """`base` ends where `/completions` follows, `http://host:8000/v1` say; `model` may be left out if there is one.

        With `chat` prompts are messages of a user to `/chat/completions`. With `special` the endpoint, a server of
        ours, is asked to read markers such as `<|tactic|>` in prompts as control tokens. A `token` takes the place of
        that of the options. `silence_seconds` is how long nothing may come (default: the timeout of the options); a
        stream of ours is never silent for long. Raises UserError for an address that is none, PolicyUnreachable if
        nobody answers there, and PolicyAccessDenied.
        """
        self._options, self._chat, self.special = options or EndpointOptions(), chat, special
        self._base, host = _checked_base(base)
        self._token = token or self._options.token()
        self._silence = min(self._options.timeout, silence_seconds or self._options.timeout)
        if self._token and token is None and self._base.startswith("http:") and not on_loopback(host):
            log.warning("the token travels to %s unencrypted: use https", host)
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        self._client = httpx2.Client(
            headers={**headers, "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(self._silence, connect=CONNECT_SECONDS, pool=None),
            limits=httpx2.Limits(max_connections=self._options.requests, max_keepalive_connections=None),
            follow_redirects=False,
        )
        self._closed = threading.Event()
        self._slots = threading.BoundedSemaphore(self._options.requests)
        self._threads = ThreadPoolExecutor(self._options.requests, "openai-model")
        self._lock = threading.Lock()
        self._next_start = self._resume_at = 0.0
        self._with_logprobs = True
        try:
            self._model = self._find_model(model)
        except BaseException:
            self.close()
            raise
        self.name = self.identity = f"openai:{self._base}#{self._model}"

    def _find_model(self, model: str | None) -> str:
        """Check that somebody answers, and which models there are, as far as the endpoint says."""
        try:
            answer = self._client.get(f"{self._base}/models")
        except httpx2.TransportError as error:
            raise policy.PolicyUnreachable(f"{self._base} cannot be reached: {self._clean(error)}") from None
        if answer.status_code in (401, 403):
            raise self._denied(answer.status_code)
        try:
            listed = [str(each["id"]) for each in answer.json()["data"]]
        except (ValueError, KeyError, TypeError):
            listed = []
        if model is None and len(listed) == 1:
            return listed[0]
        if model is None:
            raise UserError(f"openai:{self._base}: name a model behind #{_among(listed)}")
        if listed and model not in listed:
            raise UserError(f"openai:{self._base}#{model}: there is no such model{_among(listed)}")
        return model

    # -- texts -----------------------------------------------------------------------------------------------------

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        """Continue prompts, in order. What a server draws with a seed, and whether it heeds it, is its own affair.

        Raises BadState for what the endpoint refuses, PolicyAccessDenied, and after `patience` PolicyBusy,
        PolicyUnreachable, PolicyTimeout or PolicyServerError.
        """
        work = list(zip(prompts, seeds, strict=True))
        if len(work) == 1:
            return [self._continue(*work[0], options)]
        try:
            futures = [self._threads.submit(self._continue, prompt, seed, options) for prompt, seed in work]
        except RuntimeError as error:
            raise policy.PolicyClosed(f"{self.name} is closed") from error
        try:
            return [future.result() for future in futures]
        except CancelledError as error:
            raise policy.PolicyClosed(f"{self.name} was closed") from error
        finally:
            for future in futures:
                future.cancel()

    def _continue(self, prompt: str, seed: int, options: GenerationOptions) -> list[TextSample]:
        samples: list[TextSample] = []
        while len(samples) < options.num_samples:
            body = self._body(prompt, options.num_samples - len(samples), _seed(seed, len(samples)), options)
            path = "/chat/completions" if self._chat else "/completions"
            samples += self._ask(path, body, lambda lines: self._read_samples(lines, options))
        return samples[: options.num_samples]

    def _body(self, prompt: str, count: int, seed: int, options: GenerationOptions) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model, "n": count, "max_tokens": options.max_new_tokens, "seed": seed}
        body |= {"temperature": options.temperature, "top_p": options.top_p}
        if self._chat:
            body["messages"] = [{"role": "user", "content": prompt}]
        else:
            body["prompt"] = prompt
        if self._with_logprobs:
            body["logprobs"] = True if self._chat else 1
        if options.stop:
            body["stop"] = list(options.stop)
        if self._options.stream:
            body["stream"] = True
        return body | self._special_field()

    def _special_field(self) -> dict[str, Any]:
        """The field of our own server, which others may refuse."""
        return {"parse_special": True, "truncate_prompt_tokens": -1} if self.special else {}

    def _read_samples(self, answer: "_Answer", options: GenerationOptions) -> list[TextSample]:
        """Read the texts of an answer: those that are whole. Raises _Garbled if there are none."""
        whole = answer.events() if answer.is_stream else iter([answer.json()])
        choices: dict[int, _Choice] = {}
        num_tokens = None
        for event in whole:
            for number, given in enumerate(_list(event, "choices")):
                if not isinstance(given, Mapping):
                    raise _Garbled("`choices` must hold objects")
                index = given.get("index", number)
                choices.setdefault(index if isinstance(index, int) else number, _Choice()).add(given)
            usage = event.get("usage")
            counted = usage.get("completion_tokens") if isinstance(usage, Mapping) else None
            num_tokens = counted if isinstance(counted, int) else num_tokens
        ended = [choice for _, choice in sorted(choices.items()) if choice.reason is not None and choice.has_text]
        if not ended:
            raise _Garbled("there is no whole text in it")
        share = 0 if num_tokens is None else round(num_tokens / len(ended))
        return [choice.sample(options.stop, share) for choice in ended]

    # -- numbers ---------------------------------------------------------------------------------------------------

    def score(self, prompt: str, continuation: str) -> float:
        """Return the log-probability of a continuation: the endpoint reads both (`echo`) and writes nothing.

        A token across the border counts whole. Raises UserError for endpoints that cannot do that, as chats.
        """
        if self._chat:
            raise UserError(f"{self.name}: a chat has no log-probabilities of given texts")
        body = {"model": self._model, "prompt": prompt + continuation, "max_tokens": 0, "echo": True, "logprobs": 1}
        body |= self._special_field()
        try:
            return self._ask("/completions", body, lambda answer: _echoed(answer.json(), len(prompt)))
        except policy.BadState as error:
            raise UserError(f"{self.name} scores no texts: {error}") from error

    def num_tokens(self, text: str) -> int:
        """Guess how many tokens a text has, rather too many: one for three bytes."""
        return -(-len(text.encode("utf-8", "surrogatepass")) // 3)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the endpoint's vectors, float32 (N, C), scaled to length 1. Raises UserError if it has none."""
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)

        def read(answer: _Answer) -> np.ndarray:
            rows = sorted(_list(answer.json(), "data"), key=lambda row: int(row["index"]))
            vectors_NC = np.array([row["embedding"] for row in rows], dtype=np.float64)
            if vectors_NC.ndim != 2 or len(vectors_NC) != len(texts) or not np.isfinite(vectors_NC).all():
                raise _Garbled("there must be a vector of numbers for each text")
            return vectors_NC

        try:
            return unit_vectors(self._ask("/embeddings", {"model": self._model, "input": list(texts)}, read))
        except policy.BadState as error:
            raise UserError(f"{self.name} embeds no texts: {error}") from error

    # -- requests --------------------------------------------------------------------------------------------------

    def _ask(self, path: str, body: dict[str, Any], read: "Callable[[_Answer], T]") -> T:
        """POST until there is an answer that `read` can read, or patience is over."""
        started, pause = time.monotonic(), FIRST_PAUSE_SECONDS
        while True:
            self._wait_for_turn()
            try:
                with self._slots:
                    return self._post(path, body, read)
            except _Repeat as problem:
                seconds = pause * random.uniform(0.5, 1.5)
                if problem.seconds is not None:
                    seconds = problem.seconds * random.uniform(1.0, 1.2)
                    with self._lock:
                        self._resume_at = max(self._resume_at, time.monotonic() + problem.seconds)
                if time.monotonic() + seconds - started > self._options.patience:
                    raise problem.error from None
                log.debug("%s, again in %.1f s", problem, seconds)
                self._sleep(seconds)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            except policy.BadState as error:
                if not (self._with_logprobs and "logprob" in str(error) and "logprobs" in body and "echo" not in body):
                    raise
                log.warning("%s gives no log-probabilities: counts of samples stand for them", self.name)
                self._with_logprobs = False
                body = {name: value for name, value in body.items() if name != "logprobs"}

    def _wait_for_turn(self) -> None:
        """Wait while the endpoint asks all to, and as long as the limit on requests in a minute demands."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._resume_at, self._next_start)
            if self._options.requests_per_minute is not None:
                self._next_start = start + 60 / self._options.requests_per_minute
        self._sleep(start - now)

    def _sleep(self, seconds: float) -> None:
        if self._closed.wait(seconds) if seconds > 0 else self._closed.is_set():
            raise policy.PolicyClosed("the model was closed")

    def _post(self, path: str, body: dict[str, Any], read: "Callable[[_Answer], T]") -> T:
        deadline = time.monotonic() + self._options.timeout
        where = f"{self._base}{path}"
        try:
            with self._client.stream("POST", where, json=body) as response:
                answer = _Answer(response, deadline)
                if response.status_code == 200:
                    return read(answer)
                raise self._refusal(where, response, answer)
        except httpx2.TimeoutException as error:
            message = f"{where} did not answer in {self._silence:g} s"
            if isinstance(error, httpx2.ConnectTimeout):
                raise _Repeat(policy.PolicyUnreachable(f"{where} cannot be reached in {CONNECT_SECONDS:g} s")) from None
            raise _Repeat(policy.PolicyTimeout(message)) from None
        except httpx2.TransportError as error:
            raise _Repeat(policy.PolicyUnreachable(f"{where} cannot be reached: {self._clean(error)}")) from None
        except (_Garbled, KeyError, TypeError, ValueError) as error:
            message = f"{where} answered nonsense: {self._clean(error)}"
            raise _Repeat(policy.PolicyServerError(message)) from None

    def _refusal(self, where: str, response: httpx2.Response, answer: "_Answer") -> Exception:
        code = response.status_code
        if code in (401, 403):
            return self._denied(code)
        try:
            said = _message(answer.json())
        except _Garbled:
            said = None
        message = f"{where} answered {code}" + (f": {self._clean(said)}" if said else "")
        if code in REPEATED_STATUSES:
            kinds = {429: policy.PolicyBusy, 529: policy.PolicyBusy, 408: policy.PolicyTimeout}
            gone = policy.PolicyUnreachable if code in (502, 503, 504) else policy.PolicyServerError
            seconds = seconds_to_wait(response.headers.get("Retry-After")) if code in BUSY_STATUSES else None
            return _Repeat(kinds.get(code, gone)(message), seconds)
        return (policy.BadState if code in (400, 413, 422) else policy.PolicyServerError)(message)

    def _denied(self, code: int) -> policy.PolicyAccessDenied:
        hint = f"give one in {TOKEN_VARIABLE} or --model-token-file" if self._token is None else "it refuses our token"
        return policy.PolicyAccessDenied(f"{self._base} answered {code}: {hint}")

    def _clean(self, said: object) -> str:
        """Return one line of what a server or library says, without our token."""
        text = " ".join(str(said).split())
        if self._token:
            text = text.replace(self._token, "***")
        return text[:300] or type(said).__name__

    def close(self) -> None:
        """Close the connections; calls that wait for their turn get PolicyClosed."""
        self._closed.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._client.close()


# -- Answers ---------------------------------------------------------------------------------------------------------


class _Answer:
    """The body of a response, which must be there before the deadline and of a sane size."""

    def __init__(self, response: httpx2.Response, deadline: float) -> None:
        self._response, self._deadline = response, deadline
        self.is_stream = response.headers.get("Content-Type", "").startswith("text/event-stream")

    def _blocks(self) -> Iterator[bytes]:
        size = 0
        for block in self._response.iter_bytes():
            size += len(block)
            if size > MAX_ANSWER_BYTES:
                raise _Garbled(f"it has more than {MAX_ANSWER_BYTES >> 20} MB")
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the answer trickles")
            yield block

    def json(self) -> dict[str, Any]:
        """Return the JSON object that the body is. Raises _Garbled."""
        return _object(b"".join(self._blocks()))

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the objects of a stream of events. Raises _Garbled if it breaks off before its end is said."""
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
                yield _object(data)
        raise _Garbled("the stream breaks off")


@dataclass
class _Choice:
    """One text of an answer, put together from one piece or many."""

    text: list[str] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    reason: str | None = None
    num_tokens: int | None = None
    has_text: bool = False
    has_logprobs: bool = True

    def add(self, given: Mapping[str, Any]) -> None:
        """Add a piece: of completions, of a chat, or of a stream of either. Raises _Garbled for what is none."""
        said = given.get("message", given.get("delta"))
        text = said.get("content") if isinstance(said, Mapping) else given.get("text")
        if isinstance(text, str):
            self.text.append(text)
            self.has_text = True
        elif text is not None:
            raise _Garbled("a text must be a string")
        counted = given.get("num_tokens")  # a field of our own server: it knows the sum, not each token's
        self.num_tokens = counted if isinstance(counted, int) else self.num_tokens
        reason = given.get("finish_reason")
        self.reason = reason if isinstance(reason, str) else self.reason
        logprobs = given.get("logprobs")
        if isinstance(logprobs, Mapping):
            listed = logprobs.get("token_logprobs")
            if listed is None:
                listed = [each.get("logprob") for each in logprobs.get("content") or ()]
            numbers = [number for number in listed if isinstance(number, int | float)]
            self.has_logprobs &= len(numbers) == len(listed)
            self.logprobs += map(float, numbers)

    def sample(self, stop: Sequence[str], num_tokens: int) -> TextSample:
        """Return it as a sample; `num_tokens` is what to believe of its length where its tokens were not listed."""
        text, stopped = cut_at("".join(self.text), stop)
        known = bool(self.logprobs) and self.has_logprobs
        length = len(self.logprobs) if known else num_tokens
        length = length if self.num_tokens is None else self.num_tokens
        return TextSample(text, sum(self.logprobs) if known else None, length, stopped or self.reason == "stop")


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise _Garbled("it is no JSON") from None
    if not isinstance(found, dict):
        raise _Garbled("it is no JSON object")
    return found


def _list(found: Mapping[str, Any], name: str) -> list[Any]:
    listed = found.get(name)
    if not isinstance(listed, list):
        raise _Garbled(f"`{name}` must be a list")
    return listed


def _message(found: Mapping[str, Any]) -> object:
    """Return what an error answer says: servers of different makes put it in different places."""
    error = found.get("error", found)
    if isinstance(error, Mapping):
        return error.get("message") or error.get("detail") or ""
    return error


def _echoed(found: Mapping[str, Any], border: int) -> float:
    """Add up the log-probabilities of the tokens that reach beyond a character of the text."""
    logprobs = _list(found, "choices")[0]["logprobs"]
    starts, values = logprobs["text_offset"], logprobs["token_logprobs"]
    ends = [*starts[1:], float("inf")]
    return float(sum(value for end, value in zip(ends, values, strict=True) if end > border and value is not None))


def _seed(seed: int, drawn: int) -> int:
    """Return the seed of a request: that of the prompt, or another one where samples of it are there already."""
    if drawn == 0:
        return seed % 2**63
    return int(np.random.SeedSequence([seed % 2**64, drawn]).generate_state(1)[0]) & 0x7FFFFFFF


def _checked_base(base: str) -> tuple[str, str]:
    """Return the address without a slash at its end, and its host. Raises UserError, which shows no password."""
    try:
        parts = urlsplit(base)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise UserError("openai: not an address; expected http://host:port/v1#model") from None
    if parts.username is not None or parts.password is not None or parts.query:
        raise UserError(f"openai: leave secrets out of the address, and give them in {TOKEN_VARIABLE}")
    if parts.scheme not in ("http", "https") or not host:
        raise UserError(f"openai:{base}: expected http://host:port/v1#model, or https")
    return base.rstrip("/"), host


def _among(listed: list[str]) -> str:
    more = ", ..." if len(listed) > 5 else ""
    return f" (it has {', '.join(listed[:5])}{more})" if listed else ""
