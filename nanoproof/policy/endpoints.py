"""HTTP for other programs: OpenAI's `/v1/completions` and `/v1/models`, and LeanDojo's `/generate` and `/encode`.

Both are there so that editors and other provers can use our models, and that `openai:` can use a server of ours. What
the one of OpenAI says of tokens it says of whole texts here: a model that continues text tells the log-probability of
all of it, so `logprobs` has one piece for each text (and one for each token of an echoed prompt).
"""

import json
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from flask import Blueprint, Response, request, stream_with_context
from pydantic import BeforeValidator, Field

from nanoproof.common.errors import UserError
from nanoproof.common.web import flask_app
from nanoproof.inference.language_model import GenerationOptions, LanguageModel, TextSample
from nanoproof.inference.own_model import OwnModel
from nanoproof.policy.protocol import ServiceOptions
from nanoproof.policy.served_models import ModelCall, ServedModel, ServedModels, generate
from nanoproof.search.policy import (
    BadState,
    PolicyCancelled,
    PolicyClosed,
    PolicyError,
    PolicyTimeout,
    PolicyUnavailable,
)

KEEP_ALIVE_SECONDS = 10.0
"""A stream on which nothing can be said yet has a comment so often, for proxies that close silent connections."""
DEFAULT_TOKENS = 16
"""What OpenAI's API writes where `max_tokens` is left out."""
CALLER_GONE = 499
"""nginx's status for a caller that has hung up; it is read in metrics and logs only."""
MOST_STOPS = 16


class Admission(Protocol):
    """Counts what waits for the models: raises TooBusy, or returns what is to be called when it waits no more."""

    def __call__(self, num_states: int) -> Callable[[], None]:
        """Admit a request."""
        ...


class NoSuchModel(Exception):
    """A request names a model that is not served. Answered with status 404."""


class PromptTooLong(BadState):
    """A prompt does not fit into the model's positions beside what is to be written. Answered with status 400."""


def find_model(models: ServedModels, name: str | None) -> ServedModel:
    """Find a model by its name. Raises NoSuchModel, which says what there is."""
    served = models.find(name)
    if served is None:
        raise NoSuchModel(f"there is no model {name!r}; served are {', '.join(models.by_name)}")
    return served


# -- OpenAI's completions --------------------------------------------------------------------------------------------


def _as_list(value: Any) -> Any:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    return value


Texts = Annotated[list[flask_app.Text], BeforeValidator(_as_list)]
"""A text or a list of texts."""
Neutral = Annotated[float, Field(ge=0, le=0)] | None
"""A penalty that is not one: clients send the default of each field, which must not be refused."""


class StreamOptions(flask_app.Body, extra="forbid"):
    """What a stream says besides its texts."""

    include_usage: bool = False


class CompletionsBody(flask_app.Body, extra="forbid"):
    """The body of `/v1/completions`. Fields that would change what is drawn are refused unless they change nothing."""

    model: flask_app.Text | None = None
    prompt: Annotated[Texts, Field(min_length=1)]
    n: Annotated[int, Field(ge=1)] | None = None
    max_tokens: Annotated[int, Field(ge=0)] | None = None
    temperature: Annotated[float, Field(ge=0, le=1e6)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    stop: Annotated[Texts, Field(max_length=MOST_STOPS)] = []
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    logprobs: Annotated[int, Field(ge=0, le=5)] | None = None
    echo: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    parse_special: bool = False
    truncate_prompt_tokens: Literal[-1] | None = None
    user: str | None = None
    suffix: Literal[""] | None = None
    best_of: int | None = None
    presence_penalty: Neutral = None
    frequency_penalty: Neutral = None
    logit_bias: Annotated[dict[str, float], Field(max_length=0)] | None = None

    def options(self) -> GenerationOptions | None:
        """Return how texts are sampled; None where none are, and the prompts are only echoed. Raises BadRequest."""
        count = self.n or 1
        if self.best_of is not None and self.best_of != count:
            raise flask_app.BadRequest(f"`best_of`: this server returns all that it samples, so it must be {count}")
        most = DEFAULT_TOKENS
        if self.max_tokens is not None:
            most = self.max_tokens
        # With `echo` it asks for the log-probabilities of a text that is there already.
        if most == 0:
            if not self.echo:
                raise flask_app.BadRequest("`max_tokens` must be >= 1, unless `echo` is true")
            return None
        if "" in self.stop:
            raise flask_app.BadRequest("`stop`: an empty text is everywhere")
        return GenerationOptions(
            num_samples=count,
            max_new_tokens=most,
            temperature=1.0 if self.temperature is None else self.temperature,
            top_p=1.0 if self.top_p is None else self.top_p,
            stop=tuple(self.stop),
        )

    def seeds(self) -> list[int]:
        """Return a seed for each prompt: that of the request, for further prompts derived from it, else random ones."""
        first = self.seed
        if first is None:
            first = secrets.randbits(63)
        seeds = [first]
        # Not first + place: the second prompt of seed 1 would then be drawn like the first one of seed 2.
        for place in range(1, len(self.prompt)):
            sequence = np.random.SeedSequence([first % 2**64, place])
            seeds.append(int(sequence.generate_state(1, np.uint64)[0] >> 1))
        return seeds


Piece = tuple[str, float | None]
"""A part of a text and its log-probability; None for the first token of a prompt, which nothing precedes."""


@dataclass(frozen=True)
class Written:
    """An echoed prompt, in pieces with their log-probabilities where these are asked for, and what was written."""

    echoed: Sequence[Piece]
    sample: TextSample | None

    def to_json(self, index: int, with_logprobs: bool) -> dict[str, Any]:
        """Return it as one of the choices of an answer."""
        pieces = list(self.echoed)
        num_tokens, finish_reason, knows_logprobs = 0, "length", True
        if self.sample is not None:
            pieces.append((self.sample.text, self.sample.logprob))
            num_tokens, knows_logprobs = self.sample.num_tokens, self.sample.logprob is not None
            if self.sample.finished:
                finish_reason = "stop"
        return {
            "index": index,
            "text": "".join(text for text, _ in pieces),
            "logprobs": _logprobs(pieces) if with_logprobs and knows_logprobs else None,
            "finish_reason": finish_reason,
            "num_tokens": num_tokens,
        }


@dataclass(frozen=True)
class Completed:
    """What was written for all prompts of a request, in their order, and how many tokens the prompts have."""

    written: Sequence[Written]
    prompt_tokens: int

    def choices(self, with_logprobs: bool) -> list[dict[str, Any]]:
        """Return the choices of an answer."""
        return [written.to_json(index, with_logprobs) for index, written in enumerate(self.written)]

    def usage(self) -> dict[str, int]:
        """Return the numbers of tokens; a prompt counts once, however many texts continue it."""
        new = sum(written.sample.num_tokens for written in self.written if written.sample is not None)
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": new,
            "total_tokens": self.prompt_tokens + new,
        }


def _logprobs(pieces: Sequence[Piece]) -> dict[str, Any]:
    starts = [0]
    for text, _ in pieces:
        starts.append(starts[-1] + len(text))
    return {
        "tokens": [text for text, _ in pieces],
        "token_logprobs": [value for _, value in pieces],
        "top_logprobs": None,
        "text_offset": starts[:-1],
    }


def complete(
    served: ServedModel, body: CompletionsBody, options: GenerationOptions | None, cancelled: Callable[[], bool]
) -> Completed:
    """Write what a body asks for, in the order of its prompts. Raises BadState, and what the model raises."""
    model = served.reading(body.parse_special)
    lengths = [model.num_tokens(prompt) for prompt in body.prompt]
    if options is not None and body.truncate_prompt_tokens is None:
        _check_lengths(served, lengths, options)
    echoed: list[Sequence[Piece]] = [[] for _ in body.prompt]
    if body.echo:
        echoed = [_echo(model, served, prompt, body.logprobs is not None) for prompt in body.prompt]
    if options is None:
        return Completed([Written(pieces, None) for pieces in echoed], sum(lengths))
    answers = generate(model, body.prompt, options, body.seeds(), cancelled)
    written = []
    for pieces, samples in zip(echoed, answers, strict=True):
        written += [Written(pieces, sample) for sample in samples]
    return Completed(written, sum(lengths))


def _check_lengths(served: ServedModel, lengths: Sequence[int], options: GenerationOptions) -> None:
    """Check that the prompts fit whole: the model would go on from the end of one that is cut. Raises PromptTooLong."""
    positions: int | None = getattr(served.inner, "positions", None)
    if positions is None:
        return
    room = positions - options.max_new_tokens - 1  # one for BOS
    if room > 0 and max(lengths) > room:
        raise PromptTooLong(
            f"the prompt has {max(lengths)} tokens, and the model room for {room} beside `max_tokens` "
            f"{options.max_new_tokens}; with `truncate_prompt_tokens` -1 only the end of the prompt is read"
        )


def _echo(model: LanguageModel, served: ServedModel, prompt: str, with_logprobs: bool) -> Sequence[Piece]:
    if not with_logprobs:
        return [(prompt, None)]
    inner = getattr(model, "model", model)
    if not isinstance(inner, OwnModel):
        raise BadState(f"echo: model {served.name} is none of ours, and says nothing of the tokens of a prompt")
    return inner.token_logprobs(prompt)


def _answer(served: ServedModel, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"cmpl-{secrets.token_hex(12)}",
        "object": "text_completion",
        "created": int(time.time()),
        "model": served.name,
        "choices": choices,
    }


def _events(served: ServedModel, body: CompletionsBody, call: ModelCall[Completed], deadline: float) -> Iterator[bytes]:
    """Yield the events of a stream: each text as it is whole, the usage if that is wanted, and the end.

    An error is an event too; the end is not said then.
    """
    try:
        while not call.done_within(min(KEEP_ALIVE_SECONDS, max(0.0, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                raise PolicyTimeout("the model did not answer before the deadline")
            yield b": the model is at work\n\n"
        completed = call.result(deadline, lambda: False)
    except (PolicyError, UserError, FloatingPointError) as error:
        yield _event({"error": {"message": str(error), "type": type(error).__name__, "code": None}})
        return
    finally:
        call.leave()  # nothing happens to one that has ended; a reader who is gone ends this function here
    answer = _answer(served, [])
    for choice in completed.choices(body.logprobs is not None):
        yield _event({**answer, "choices": [choice]})
    if body.stream_options is not None and body.stream_options.include_usage:
        yield _event({**answer, "usage": completed.usage()})
    yield b"data: [DONE]\n\n"


def _event(content: dict[str, Any]) -> bytes:
    # "replace": a model may write half of a surrogate pair, which has no UTF-8 form.
    return b"data: " + json.dumps(content, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


def _error(message: str, kind: str, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


_KINDS = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}


def in_openai_shape(response: Response) -> Response:
    """Give what a request below `/v1` was refused with, before it came to a route, the shape that its client reads."""
    if response.status_code < 400 or not request.path.startswith("/v1/"):
        return response
    message = (response.get_json(silent=True) or {}).get("error")
    if not isinstance(message, str):  # a route's own refusal, which has the shape already
        return response
    status, code = response.status_code, None
    if status == 401:
        code = "invalid_api_key"
    if status == 404:
        message = f"there is no {request.path} here; there are /v1/completions and /v1/models"
    kind = _KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    response.set_data(json.dumps(_error(message, kind, code)))
    return response


def _check_limits(body: CompletionsBody, sampling: GenerationOptions | None, options: ServiceOptions) -> None:
    """Raise BadRequest for a request that asks for more than the server allows."""
    limits = {"prompt": (len(body.prompt), options.max_states)}
    if sampling is not None:
        limits["n"] = (sampling.num_samples, options.max_samples)
        limits["max_tokens"] = (sampling.max_new_tokens, options.longest_text)
    for name, (value, most) in limits.items():
        if value > most:
            raise flask_app.BadRequest(f"`{name}` must be <= {most} on this server, got {value}")


def openai_routes(models: ServedModels, options: ServiceOptions, admit: Admission) -> Blueprint:
    """Return the routes `/v1/completions` and `/v1/models`, with errors in OpenAI's shape."""
    routes = Blueprint("openai", __name__, url_prefix="/v1")

    def refuse(status: int, kind: str, code: str | None) -> Callable[[Exception], Response]:
        def answer(error: Exception) -> Response:
            content = _error(str(error), kind, code)
            if status in (429, 503):
                return flask_app.reply_later(content, status)
            return flask_app.reply(content, status)

        return answer

    for error, status, kind, code in (
        (flask_app.BadRequest, 400, "invalid_request_error", None),
        (PromptTooLong, 400, "invalid_request_error", "context_length_exceeded"),
        (BadState, 400, "invalid_request_error", None),
        (UserError, 400, "invalid_request_error", None),
        (NoSuchModel, 404, "not_found_error", "model_not_found"),
        (PolicyCancelled, CALLER_GONE, "cancelled", None),
        (PolicyTimeout, 504, "timeout_error", None),
        (PolicyUnavailable, 503, "server_error", None),
        (PolicyClosed, 503, "server_error", None),
        (PolicyError, 500, "server_error", None),
    ):
        routes.register_error_handler(error, refuse(status, kind, code))

    @routes.get("/models")
    def list_models() -> Response:
        return flask_app.reply({"object": "list", "data": [describe(name) for name in models.by_name]})

    @routes.get("/models/<path:name>")
    def show_model(name: str) -> Response:
        return flask_app.reply(describe(find_model(models, name).name))

    def describe(name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": models.created, "owned_by": "nanoproof"}

    @routes.post("/completions")
    def completions() -> Response:
        body = CompletionsBody.read()
        served, sampling = find_model(models, body.model), body.options()
        _check_limits(body, sampling, options)
        deadline = time.monotonic() + options.longest_seconds
        ended = admit(len(body.prompt))
        call = models.submit(lambda gone: complete(served, body, sampling, gone), ended)
        if body.stream and not call.done_within(KEEP_ALIVE_SECONDS):
            events = stream_with_context(_events(served, body, call, deadline))
            return Response(events, mimetype="text/event-stream")
        # A stream whose answer is there within the first seconds is an ordinary response: what fails at once then has
        # the status of an error, which a stream that has begun cannot have.
        completed = call.result(deadline, flask_app.client_disconnected())
        if body.stream:
            return Response(b"".join(_events(served, body, call, deadline)), mimetype="text/event-stream")
        answer = _answer(served, completed.choices(body.logprobs is not None))
        return flask_app.reply({**answer, "usage": completed.usage()})

    return routes


# -- LeanDojo's external API -----------------------------------------------------------------------------------------


class ExternalGenerate(flask_app.Body, extra="forbid"):
    """The body of `/generate` as LeanDojo's Lean client sends it."""

    name: flask_app.Text
    input: flask_app.Text
    prefix: flask_app.Text | None = None
    use_reward: bool = False


class ExternalEncode(flask_app.Body, extra="forbid"):
    """The body of `/encode`."""

    name: flask_app.Text
    input: flask_app.Text


def is_external(data: bytes) -> bool:
    """Tell whether the body of a `/generate` is LeanDojo's and not ours: cheap, as ours are many.

    Inside of a text JSON escapes quotes, so these are names of fields (or values, which are none of ours).
    """
    return b'"input"' in data and b'"states"' not in data


class ExternalApi:
    """Answers LeanDojo's external API."""

    def __init__(self, models: ServedModels, options: ServiceOptions, admit: Admission) -> None:
        self._models, self._options, self._admit = models, options, admit

    def generate(self) -> Response:
        """Answer `POST /generate`: tactics for a goal, each once, by score, the best first."""
        body = ExternalGenerate.read()
        served = find_model(self._models, body.name)

        def work(gone: Callable[[], bool]) -> list[dict[str, Any]]:
            candidates = served.candidates(body.input, body.prefix, body.use_reward, gone)
            return [asdict(candidate) for candidate in candidates]

        return self._answer(work)

    def encode(self) -> Response:
        """Answer `POST /encode`: the vector of a text."""
        body = ExternalEncode.read()
        served = find_model(self._models, body.name)
        return self._answer(lambda gone: served.model.embed([body.input])[0].tolist())

    def _answer(self, work: Callable[[Callable[[], bool]], list[Any]]) -> Response:
        deadline = time.monotonic() + self._options.longest_seconds
        call = self._models.submit(work, self._admit(1))
        try:
            return flask_app.reply({"outputs": call.result(deadline, flask_app.client_disconnected())})
        except PolicyError:  # a UserError as well, with a handler of its own for each kind
            raise
        except UserError as error:
            raise flask_app.BadRequest(str(error)) from error
