"""Premises over HTTP, as tools and provers of others ask for them, and how far a state is from a proof.

    POST /retrieve {"state", "new_premises", "k"}     -> [{"name", "score", ...}]     hammers, lean-lsp-mcp
    POST /search {"query", "num_results"}             -> [{"formal_name", "formal_statement"}]     reap
    POST /chat/completions {"messages"}               -> a chat's answer, `{"score": x}` as its content     reap
    GET  /status

All three of a prover can be given one address: a request to `/` is read by its fields. Which premises may be used is
said by `file` and `line` (of a file of the index or the project), or by `theorem`, the name of one; without, all may.
"""

import json
import re
import time
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from flask import Flask, Response, request
from prometheus_client import CollectorRegistry, Counter
from pydantic import FailFast, Field

from nanoproof.common.web import flask_app
from nanoproof.common.web.flask_app import BadRequest, Text, reply
from nanoproof.retrieval.corpus import CorpusPremise, context_text
from nanoproof.retrieval.premises import Retriever
from nanoproof.retrieval.vectors import embed
from nanoproof.search.policy import BadState, PolicyError

MOST_PREMISES, MOST_NEW = 1024, 4096
LONGEST = 200_000
"""Letters of a state, a query or a declaration."""
_PROMPTED_STATE = re.compile(r"\nSTATE:\n(?P<state>.*?)\nTACTIC:", re.DOTALL)
"""Where reap's prompt has the state, behind the premises, whose texts could have such lines too."""

ShortText = Annotated[Text, Field(max_length=LONGEST)]


class NewPremise(flask_app.Body):
    """A declaration that the index does not have: what the file declares before the state."""

    name: ShortText
    decl: ShortText = ""


class Scope(flask_app.Body):
    """Fields of ours: which premises may be used. Fields of others that are not known here are passed over."""

    file: ShortText | None = None
    line: Annotated[int, Field(ge=1, lt=10**9)] | None = None
    theorem: ShortText | None = None

    @property
    def name(self) -> str:
        """The name of a theorem by which a retriever knows what is accessible; empty for all."""
        if self.theorem is not None:
            return self.theorem
        if self.file is None:
            return ""
        # Without a line all of the file counts, and what it imports.
        return f"{self.file}, line {self.line or 10**9}"


class Retrieve(Scope):
    """The body of `/retrieve`."""

    state: ShortText
    new_premises: Annotated[list[NewPremise], FailFast(), Field(max_length=MOST_NEW)] = []
    k: Annotated[int, Field(ge=1, le=MOST_PREMISES)] = 32


class Search(Scope):
    """The body of `/search`."""

    query: ShortText
    num_results: Annotated[int, Field(ge=1, le=MOST_PREMISES)] = 16


class Message(flask_app.Body):
    """A message of a chat."""

    role: Text
    content: ShortText


class Chat(flask_app.Body):
    """The body of `/chat/completions`; what else it says, of sampling, has no use here."""

    messages: Annotated[list[Message], Field(min_length=1, max_length=100)]


class PremiseService:
    """Finds premises, and asks for values, for the routes."""

    def __init__(
        self, retriever: Callable[[], Retriever | None], value: Callable[[str], float] | None, about: dict[str, Any]
    ) -> None:
        """`retriever` returns one over the files as they are now; `value` how many tactics a state seems to need."""
        self.retriever, self.value, self.about = retriever, value, about
        self.closing = False

    def premises(
        self, state: str, name: str, count: int, new: list[NewPremise]
    ) -> list[tuple[CorpusPremise | NewPremise, float]]:
        """Return the premises for a state with their scores, best first; `new` ones are ranked among the others.

        Raises BadRequest for a name that nothing is known of.
        """
        retriever = self.retriever()
        if retriever is None:
            return []
        index, allowed = retriever.index, retriever.accessible(name)
        if name and allowed is None:
            raise BadRequest("neither the index nor the project has such a file or theorem")
        vector_C = embed(retriever.encoder, [context_text(state)])[0]
        (numbers, scores), *_ = index.search(vector_C[None], [allowed], count)
        ranked: list[tuple[CorpusPremise | NewPremise, float]] = []
        for number, score in zip(numbers, scores, strict=True):
            ranked.append((index.corpus.premises[number], float(score)))
        if new:
            # A hammer knows the declarations of its file and this index may not: they compete by their texts.
            vectors_NC = embed(retriever.encoder, [f"{premise.name} {premise.decl}" for premise in new])
            for premise, score in zip(new, np.asarray(vectors_NC @ vector_C), strict=True):
                ranked.append((premise, float(score)))
            ranked.sort(key=lambda entry: -entry[1])
        return ranked[:count]


def create_app(service: PremiseService, token: str | None, on_loopback: bool) -> Flask:
    """Create the application; with a token, requests need it."""
    registry = CollectorRegistry()
    answered = Counter(
        "nanoproof_premises_requests", "Requests by route and status.", ["route", "status"], registry=registry
    )
    app = flask_app.guarded_app(
        "nanoproof.retrieval", token, on_loopback, answered, lambda: service.closing, ("status", "metrics")
    )

    @app.post("/retrieve")
    def retrieve() -> Response:
        body = Retrieve.read()
        entries = []
        for premise, score in service.premises(body.state, body.name, body.k, body.new_premises):
            entry: dict[str, Any] = {"score": round(score, 6)}
            if isinstance(premise, NewPremise):
                entry |= {"name": premise.name}
            else:
                entry |= {"name": premise.full_name, "statement": premise.plain, "file": premise.path}
                entry |= {"line": premise.start[0], "kind": premise.kind}
            entries.append(entry)
        return reply(entries)

    @app.post("/search")
    def search() -> Response:
        body = Search.read()
        results = []
        for premise, _ in service.premises(body.query, body.name, body.num_results, []):
            if isinstance(premise, CorpusPremise):
                results.append({"formal_name": premise.full_name, "formal_statement": premise.plain})
        return reply(results)

    @app.post("/chat/completions")
    @app.post("/v1/chat/completions")
    def chat() -> Response:
        body = Chat.read()
        if service.value is None:
            raise BadRequest("no model with values is served here: start it with --model-path")
        try:
            score = service.value(prompted_state(body.messages[-1].content))
        except BadState as error:
            raise BadRequest(str(error)) from error
        except PolicyError as error:
            return flask_app.reply_later({"error": str(error)}, 503)
        message = {"role": "assistant", "content": json.dumps({"score": round(score, 6)})}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        answer = {"id": f"value-{time.time_ns()}", "object": "chat.completion", "created": int(time.time())}
        return reply({**answer, "model": "nanoproof-value", "choices": [choice]})

    @app.post("/")
    def by_fields() -> Response:
        fields = request.get_json(silent=True)
        if not isinstance(fields, dict):
            raise BadRequest("the body must be a JSON object")
        if "query" in fields:
            return search()
        if "messages" in fields:
            return chat()
        return retrieve()

    @app.get("/status")
    def status() -> Response:
        retriever = service.retriever()
        count = 0
        if retriever is not None:
            count = len(retriever.index.corpus)
        return reply({**service.about, "premises": count, "values": service.value is not None})

    @app.get("/metrics")
    def metrics() -> Response:
        return flask_app.metrics_response(registry)

    return app


def prompted_state(text: str) -> str:
    """Return the state in a prompt: what stands between reap's last marks, or all of it."""
    # The last: a premise in front of it may be a text with such lines. The prompt may begin with the mark itself.
    matches = list(_PROMPTED_STATE.finditer("\n" + text))
    if matches:
        return matches[-1]["state"].strip()
    return text.strip()
