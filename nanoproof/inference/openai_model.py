"""Models behind an OpenAI-compatible endpoint, as vLLM, SGLang, llama.cpp, ollama and our own server offer them.

A prompt is one request for all of its samples; what is missing in the answer is asked for again, as some servers give
one text whatever `n` says. Requests are repeated when a connection breaks, a server is busy, or an answer makes no
sense: after pauses that double and vary, or as long as `Retry-After` says, which holds for all threads.
"""

import contextlib
import copy
import json
import logging
import os
import random
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urljoin

import httpx2
import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.common.web.http_client import on_loopback, seconds_to_wait
from nanoproof.inference.language_model import GenerationOptions, TextSample, chat_messages, unit_vectors
from nanoproof.inference.model_options import TOKEN_VARIABLE, EndpointOptions
from nanoproof.inference.openai_address import TO_HTTPS, address_hint, among, checked_base, may_serve, proxy_for
from nanoproof.inference.openai_answers import (
    NOT_BY_WAITING,
    OF_COUNT,
    STREAM_ONLY,
    WRONG_ADDRESS,
    Answer,
    Choice,
    Garbled,
    answered_by,
    bound_reads,
    count_of,
    echoed,
    error_message,
    list_of,
    listed_models,
    refusal_of,
)
from nanoproof.search import policy

log = logging.getLogger(__name__)
_certificates = cache(httpx2.create_ssl_context)  # those of the system: to read them takes 35 ms for each client
T = TypeVar("T")

FIRST_PAUSE_SECONDS, TOLD_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.25, 4.0, 30.0
CONNECT_SECONDS = 10.0
SILENCE_SECONDS, LONGEST_SILENCE_SECONDS = 10.0, 120.0  # without a list of models: then that is said, then an error
REPEATED_STATUSES = (408, 409, 425, 429)  # and those of servers and of proxies before them, 500 and above
NEVER_STATUSES = (501, 505)  # not implemented, no such version of HTTP
BUSY_STATUSES = (429, 503, 529)
ERRORS_OF_STATUS: dict[int, type[policy.PolicyError]] = {
    429: policy.PolicyBusy,
    529: policy.PolicyBusy,  # "overloaded" of some providers
    408: policy.PolicyTimeout,
    502: policy.PolicyUnreachable,
    503: policy.PolicyUnreachable,
    504: policy.PolicyUnreachable,
}
"""What a request that is repeated in vain fails with; PolicyServerError for other statuses."""


class NoSuchModel(policy.PolicyServerError):
    """An endpoint does not hold the model, or the adapters, that a request names."""


class _Repeat(Exception):
    """A request failed in a way that may pass; `error` is raised when patience is over."""

    def __init__(self, error: policy.PolicyError, seconds: float | None = None) -> None:
        super().__init__(str(error))
        self.error, self.seconds = error, seconds


class OpenAIModel:
    """A model of an OpenAI-compatible endpoint. Any number of threads may share it."""

    def __init__(
        self,
        base: str,
        model: str | None,
        options: EndpointOptions | None = None,
        *,
        chat: bool = False,
        system: str = "",
        special: bool = False,
        token: str | None = None,
        silence_seconds: float | None = None,
        any_model: bool = False,
    ) -> None:
        """`base` ends where `/completions` follows, `http://host:8000/v1` say; `model` may be left out if there is one.

        With `chat` prompts are messages of a user to `/chat/completions`, behind one of the `system` if it is given.
        With `special` the endpoint, a server of ours, is asked to read markers such as `<|tactic|>` in prompts as
        control tokens. A `token` takes the place of that of the options. `silence_seconds` is how long nothing may come
        (default: the timeout of the options); a stream of ours is never silent for long. With `any_model` the first of
        several counts where `model` is left out. Raises UserError for an
        address that is none, PolicyUnreachable if nobody answers there, and PolicyAccessDenied.
        """
        self._options, self._chat, self.special = options or EndpointOptions(), chat, special
        self.system = system
        self._base, host = checked_base(base)
        # Servers say that they listen on 0.0.0.0, and people copy it: as a target it is this machine.
        is_here = on_loopback(host) or host in ("0.0.0.0", "::")
        private = self._base.startswith("https:") or is_here
        self._token = token or self._options.token(private)
        self._silence = min(self._options.timeout, silence_seconds or self._options.timeout)
        if self._token and token is None and self._base.startswith("http:") and not is_here:
            log.warning("the token travels to %s unencrypted: use https", host)
        # Uncompressed: a small answer may unpack to more than memory holds.
        headers = {"Accept-Encoding": "identity"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        self._proxy = ""
        if not is_here:
            self._proxy = proxy_for(self._base)
        try:
            self._client = httpx2.Client(
                trust_env=not is_here,  # what listens on this machine is not reached through a proxy
                verify=_certificates(trust_env=not is_here),
                headers=headers,
                timeout=httpx2.Timeout(self._silence, connect=CONNECT_SECONDS, pool=None),
                limits=httpx2.Limits(max_connections=self._options.requests, max_keepalive_connections=None),
                follow_redirects=False,  # the token would go wherever a server points
            )
        except (ImportError, ValueError, httpx2.InvalidURL) as error:  # a proxy of SOCKS without its package, or none
            raise UserError(self._unreachable(f"openai:{self._base}", error)) from None
        except OSError as error:  # of SSL's kind as well
            named = os.environ.get("SSL_CERT_FILE", "the system")
            raise UserError(f"openai:{self._base}: the certificates of {named} cannot be read: {error}") from None
        bound_reads(self._client)
        self._closed = threading.Event()
        self._slots = threading.BoundedSemaphore(self._options.requests)
        self._threads = ThreadPoolExecutor(self._options.requests, "openai-model")
        self._lock = threading.Lock()
        self._next_start = self._resume_at = 0.0
        self._refused: list[str] = []
        self._most_at_once = sys.maxsize
        self._stream = self._options.stream
        self._checks_name = self._has_told = False
        try:
            self._model = self._find_model(model, any_model)
        except BaseException:
            self.close()
            raise
        self.name = self.identity = f"openai:{self._base}#{self._model}"

    def listed(self, wait: bool = False) -> list[str]:
        """Return the names of the models that the endpoint has, as far as it says. Raises PolicyUnavailable.

        With `wait` it is asked again while it is busy, as with loading its model.
        """

        def ask() -> tuple[int, bytes]:
            answer, body = self._get_models()
            if wait and answer.status_code in BUSY_STATUSES:
                reason, retry_after = refusal_of(body), answer.headers.get("Retry-After")
                raise self._refusal(f"{self._base}/models", answer.status_code, reason, retry_after)
            return answer.status_code, body

        try:
            code, body = self._repeatedly(ask)
        except httpx2.TransportError as error:
            raise policy.PolicyUnreachable(self._unreachable(self._base, error)) from None
        except (httpx2.DecodingError, Garbled):
            return []
        if code in (401, 403):
            raise self._denied(code, refusal_of(body))
        try:
            return listed_models(json.loads(body))
        except (ValueError, RecursionError):
            return []  # some servers have no such list; they are asked all the same

    def _get_models(self) -> tuple[httpx2.Response, bytes]:
        """Ask for the list; who waits for a server that says nothing, or starts a machine first, is told."""
        where, longest = f"{self._base}/models", min(self._silence, LONGEST_SILENCE_SECONDS)

        def get(seconds: float) -> tuple[httpx2.Response, bytes]:
            deadline = time.monotonic() + seconds
            with answered_by(deadline), self._client.stream("GET", where, timeout=seconds) as answer:
                return answer, Answer(answer, deadline).body()

        try:
            return get(min(longest, SILENCE_SECONDS))
        except httpx2.ReadTimeout:
            log.warning("%s has not answered in %g s; waiting for %g s more", where, SILENCE_SECONDS, longest)
            return get(longest)

    def _find_model(self, model: str | None, any_model: bool) -> str:
        """Check that somebody answers, and which models there are, as far as the endpoint says."""
        listed = self.listed(wait=model is None)
        if model is None and listed and (any_model or len(listed) == 1):
            return listed[0]
        # ollama lists `llama3:latest` and Gemini `models/gemini-pro`, and both know them without that as well.
        same = [name for name in listed if name.removeprefix("models/").removesuffix(":latest") == model]
        if model not in listed and len(same) == 1:
            return same[0]
        if model is None:
            raise UserError(f"openai:{self._base}: name a model behind #{among(listed)}")
        if listed and model not in listed and not may_serve(listed, model):
            raise UserError(f"openai:{self._base}#{model}: there is no such model{among(listed)}")
        return model

    def as_model(self, name: str) -> "OpenAIModel":
        """Return the same endpoint for another model of it; it is closed with the first.

        What is answered must be of that very model. A name that the endpoint does not hold raises NoSuchModel.
        """
        view = copy.copy(self)
        view._model = name
        view._checks_name = True
        view.name = view.identity = f"openai:{self._base}#{name}"
        return view

    def post_plain(self, path: str, body: dict[str, Any], seconds: float) -> tuple[int, str]:
        """POST what is no part of OpenAI's API, once; returns status and text. Raises httpx2.TransportError."""
        with answered_by(time.monotonic() + seconds):
            answer = self._client.post(f"{self._base}{path}", json=body, timeout=seconds)
        return answer.status_code, self._clean(answer.text)

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
            try:
                samples += self._ask(path, body, lambda lines: self._read_samples(lines, options))
            except policy.BadState as error:
                self._ask_otherwise(str(error), body, options)
        return samples[: options.num_samples]

    def _body(self, prompt: str, count: int, seed: int, options: GenerationOptions) -> dict[str, Any]:
        count = min(count, self._most_at_once)
        body: dict[str, Any] = {"model": self._model, "n": count, "max_tokens": options.max_new_tokens, "seed": seed}
        body |= {"temperature": options.temperature, "top_p": options.top_p}
        if self._chat:
            body["messages"] = chat_messages(prompt, self.system)
        else:
            body["prompt"] = prompt
        body["logprobs"] = 1  # how many alternatives, of which a chat's API has another field
        if self._chat:
            body["logprobs"] = True
        if options.stop:
            body["stop"] = list(options.stop)
        if self._stream:
            body["stream"] = True
        for name in self._refused:
            value = body.pop(name, None)
            if name == "max_tokens":
                body["max_completion_tokens"] = value
        return body | self._special_field()

    def _ask_otherwise(self, error_text: str, body: Mapping[str, Any], options: GenerationOptions) -> None:
        """Leave out of all requests what the endpoint refuses by name. Raises BadState if that is not possible.

        `seed` and `stop` change nothing that is drawn (texts are cut at `stop` here as well), nor do the temperature
        and `top_p` that endpoints have anyway.
        """
        effects = {
            "logprobs": "it gives no log-probabilities, counts of samples stand for them",
            "seed": "it heeds no seed",
            "stop": "texts are cut at the ends that were asked for after they are written",
        }
        reason = error_text.partition(": ")[2]  # behind the address, which may hold the names of parameters
        if _names(reason, "max_tokens") and _UNKNOWN.search(reason):  # and not that it is too large
            effects["max_tokens"] = "it wants max_completion_tokens"
        # At another temperature the samples would be other ones than those asked for: then it is an error.
        if options.temperature == 1.0:
            effects["temperature"] = "it draws with its own, and 1 was asked for"
        if options.top_p == 1.0:
            effects["top_p"] = "it draws with its own, and 1 was asked for"
        count = body.get("n", 1)
        with self._lock:
            named = [name for name in effects if name in body and _names(reason, name)]
            if named:
                if named[0] not in self._refused:  # another thread may have learned it in the meantime
                    self._refused.append(named[0])
                    log.warning("%s: %s (%s)", self.name, effects[named[0]], reason)
            elif count > 1 and (not reason or OF_COUNT.search(reason)):
                # Halved, as no server says in a form of its own how many it gives.
                if count <= self._most_at_once:
                    self._most_at_once = count // 2
                    log.warning("%s: texts asked for at a time: %d (%s)", self.name, self._most_at_once, reason)
            elif "n" in body and OF_COUNT.search(reason):
                self._refused.append("n")
            elif "stream" not in body and STREAM_ONLY.search(reason):
                self._stream = True
            else:
                raise policy.BadState(error_text)

    def _special_field(self) -> dict[str, Any]:
        """Return the fields that our own server knows, and others may refuse."""
        if not self.special:
            return {}
        return {"parse_special": True, "truncate_prompt_tokens": -1}

    def _read_samples(self, answer: "Answer", options: GenerationOptions) -> list[TextSample]:
        """Read the texts of an answer but those that the server failed at. Raises Garbled if there are none."""
        choices: dict[int, Choice] = {}
        num_tokens = 0
        errors: list[str] = []
        for event in answer.events():
            # A server that answers with another model than was asked for would teach its tactics as this one's.
            if self._checks_name and event.get("model", self._model) != self._model:
                raise NoSuchModel(f"{self._base} answered as {event.get('model')}, and {self._model} was asked for")
            # With status 200: OpenRouter's way; of others `{"object": "error", "message": ..}`, `{"msg": ..}`
            if not event.get("choices") and (event.get("error") or ("choices" not in event and error_message(event))):
                raise self._error_within(event.get("error") or event)
            if event.get("error"):
                errors.append(error_message(event))
            if answer.is_stream and event.get("choices") is None:
                event = {**event, "choices": []}  # a sign of life, or what was used
            for number, piece in enumerate(list_of(event, "choices")):
                if not isinstance(piece, Mapping):
                    raise Garbled("`choices` must hold objects")
                index = number
                # What comes whole is told apart by its place: some servers number all of it 0.
                if answer.is_stream and isinstance(piece.get("index"), int):
                    index = piece["index"]
                choices.setdefault(index, Choice()).add(piece, answer.is_stream)
            usage = event.get("usage")
            if isinstance(usage, Mapping):
                num_tokens = count_of(usage, "completion_tokens", num_tokens)
        ended = [choice for _, choice in sorted(choices.items()) if choice.ending != "failed"]
        if not ended:
            errors += [choice.error for choice in choices.values() if choice.error]
            raise Garbled(": ".join(["there is no text in it", *errors[:1]]))
        # The count is of all texts together: each gets its share, where its own tokens are not listed.
        share = round(num_tokens / len(ended))
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
            return self._ask("/completions", body, lambda answer: echoed(answer.json(), len(prompt)))
        except policy.BadState as error:
            raise UserError(f"{self.name} scores no texts: {error}") from error

    def greedy_logprob(self, prompt: str) -> float | None:
        """Return the log-probability of the likeliest token behind a prompt; None where the endpoint tells none."""
        options = GenerationOptions(max_new_tokens=1, temperature=0)
        return self._continue(prompt, 0, options)[0].logprob

    def num_tokens(self, text: str) -> int:
        """Guess how many tokens a text has, rather too many: one for three bytes."""
        return -(-len(text.encode("utf-8", "surrogatepass")) // 3)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the endpoint's vectors, float32 (N, C), scaled to length 1. Raises UserError if it has none."""
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)

        def read(answer: Answer) -> np.ndarray:
            rows = sorted(list_of(answer.json(), "data"), key=lambda row: int(row["index"]))
            vectors_NC = np.array([row["embedding"] for row in rows], dtype=np.float64)
            if vectors_NC.ndim != 2 or len(vectors_NC) != len(texts) or not np.isfinite(vectors_NC).all():
                raise Garbled("there must be a vector of numbers for each text")
            return vectors_NC

        try:
            return unit_vectors(self._ask("/embeddings", {"model": self._model, "input": list(texts)}, read))
        except policy.BadState as error:
            raise UserError(f"{self.name} embeds no texts: {error}") from error

    # -- requests --------------------------------------------------------------------------------------------------

    def _ask(self, path: str, body: dict[str, Any], read: "Callable[[Answer], T]") -> T:
        """POST until there is an answer that `read` can read, or patience is over."""

        def attempt() -> T:
            self._wait_for_turn()
            with self._slots:
                return self._post(path, body, read)

        return self._repeatedly(attempt)

    def _repeatedly(self, attempt: Callable[[], T]) -> T:
        """Try until it does not fail in a way that may pass, or patience is over."""
        started, pause = time.monotonic(), FIRST_PAUSE_SECONDS
        while True:
            try:
                return attempt()
            except _Repeat as problem:
                # Varied, so that threads which failed together do not come back together.
                seconds = pause * random.uniform(0.5, 1.5)
                if problem.seconds is not None:
                    seconds = problem.seconds * random.uniform(1.0, 1.2)
                    with self._lock:
                        self._resume_at = max(self._resume_at, time.monotonic() + problem.seconds)
                if time.monotonic() + seconds - started > self._options.patience:
                    raise problem.error from None
                log.debug("%s, again in %.1f s", problem, seconds)
                left = self._options.patience - (time.monotonic() - started)
                if pause >= TOLD_PAUSE_SECONDS and not self._has_told:  # who waits wants to know what for
                    self._has_told = True
                    log.warning("%s; asked again for up to %.0f s more (--model-patience)", problem, left)
                self._sleep(seconds)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _wait_for_turn(self) -> None:
        """Wait while the endpoint asks all to, and as long as the limit on requests in a minute demands."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._resume_at, self._next_start)
            if self._options.requests_per_minute is not None:
                self._next_start = start + 60 / self._options.requests_per_minute
        self._sleep(start - now)

    def _sleep(self, seconds: float) -> None:
        if seconds > 0:
            self._closed.wait(seconds)
        if self._closed.is_set():
            raise policy.PolicyClosed("the model was closed")

    def _post(self, path: str, body: dict[str, Any], read: "Callable[[Answer], T]") -> T:
        deadline = time.monotonic() + self._options.timeout
        where = f"{self._base}{path}"
        try:
            with answered_by(deadline), self._client.stream("POST", where, json=body) as response:
                answer = Answer(response, deadline)
                if response.status_code in (200, 201):  # Created, as NestJS says of every POST
                    return read(answer)
                reason = ""
                with contextlib.suppress(Garbled):
                    reason = answer.refusal()
                retry_after = response.headers.get("Retry-After")
                raise self._refusal(where, response.status_code, reason, retry_after, response.headers.get("Location"))
        except httpx2.TimeoutException as error:
            message = f"{where} did not answer in {self._silence:g} s"
            if isinstance(error, httpx2.ConnectTimeout):
                message = self._unreachable(where, f"no connection in {CONNECT_SECONDS:g} s")
                raise _Repeat(policy.PolicyUnreachable(message)) from None
            raise _Repeat(policy.PolicyTimeout(message)) from None
        except httpx2.TransportError as error:
            raise _Repeat(policy.PolicyUnreachable(self._unreachable(where, error))) from None
        except UnicodeEncodeError:  # of what is sent: it stays so, however often it is
            raise policy.BadState(f"{where}: the text is not Unicode: it has a lone surrogate") from None
        except (Garbled, httpx2.DecodingError, KeyError, TypeError, ValueError) as error:
            message = f"{where} answered nonsense{self._proxy}: {self._clean(error)}{address_hint(self._base, where)}"
            raise _Repeat(policy.PolicyServerError(message)) from None

    def _error_within(self, error: object) -> Exception:
        """Return what to raise for an error in an answer of status 200: that of the status which it names."""
        message = error_message(error)
        code = 404 if WRONG_ADDRESS.search(message) else 500
        if isinstance(error, Mapping):
            stated = " ".join(str(error.get(name)) for name in ("code", "status", "status_code", "statusCode"))
            status = re.search(r"(?<!\S)[45][0-9][0-9](?!\S)", stated)  # some write "429"
            code = int(status[0]) if status else code
        return self._refusal(self._base, code, message)

    def _refusal(
        self, where: str, code: int, reason: str, retry_after: str | None = None, location: str | None = None
    ) -> Exception:
        """Return what to raise for a status other than 200, and what the answer says; "" where it says nothing."""
        if code in (401, 403):
            return self._denied(code, reason)
        message = f"{where} answered {code}{self._proxy}"
        if reason:
            message += f": {self._clean(reason)}"
        elif location:
            message += f": it is at {self._clean(urljoin(where, location))}; give that address"
        if self._base.startswith("http:") and TO_HTTPS.search(reason):
            raise UserError(f"{message}; give https://...")
        # Servers that were not made for several texts, or for none in pieces, fail in ways of their own.
        about_form = OF_COUNT.search(reason) or STREAM_ONLY.search(reason)
        if code in (400, 413, 422) or (code in (405, 500, 501) and about_form):
            return policy.BadState(message)
        if code == 404 and self._checks_name:
            return NoSuchModel(message)
        if code in (404, 405):
            message += address_hint(self._base, where)
        passes = code in REPEATED_STATUSES or (code >= 500 and code not in NEVER_STATUSES)
        if not passes or NOT_BY_WAITING.search(reason):
            return policy.PolicyServerError(message)
        seconds: float | None = None
        if code in BUSY_STATUSES:
            seconds = seconds_to_wait(retry_after)
        return _Repeat(ERRORS_OF_STATUS.get(code, policy.PolicyServerError)(message), seconds)

    def _denied(self, code: int, reason: str = "") -> policy.PolicyAccessDenied:
        hint = "it refuses our token"
        if self._token is None:
            hint = f"give one in {TOKEN_VARIABLE} or --model-token-file"
        if reason:
            hint += f" ({self._clean(reason)})"
        return policy.PolicyAccessDenied(f"{self._base} answered {code}{self._proxy}: {hint}")

    def _unreachable(self, where: str, error: object) -> str:
        return f"{where} cannot be reached{self._proxy}: {self._clean(error)}"

    def _clean(self, problem: object) -> str:
        """Return one line of what a server or library says, without our token."""
        text = " ".join(str(problem).split())
        if self._token:
            text = text.replace(self._token, "***")  # servers repeat what they refuse
        return text[:300] or type(problem).__name__

    def close(self) -> None:
        """Close the connections; calls that wait for their turn get PolicyClosed."""
        self._closed.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._client.close()


def _seed(seed: int, drawn: int) -> int:
    """Return the seed of a request: that of the prompt, or another one where samples of it are there already."""
    # With the same seed again a server would give the same texts again. Below 2^63: many read signed numbers.
    if drawn == 0:
        return seed % 2**63
    return int(np.random.SeedSequence([seed % 2**64, drawn]).generate_state(1)[0]) & 0x7FFFFFFF


_UNKNOWN = re.compile(r"un(?:supported|known|recogni[sz]ed|expected)|not (?:supported|permitted|allowed)|extra", re.I)


def _names(reason: str, parameter: str) -> bool:
    return re.search(rf"(?<![a-z_]){parameter}(?![a-z_])", reason, re.IGNORECASE) is not None
