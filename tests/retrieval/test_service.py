"""Premises and values over HTTP, as lean-lsp-mcp, hammers and reap ask for them."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.retrieval.corpus import Corpus
from nanoproof.retrieval.index import Index
from nanoproof.retrieval.premises import Retriever
from nanoproof.retrieval.service import MOST_NEW, PremiseService, create_app, prompted_state
from nanoproof.retrieval.vectors import WordEncoder
from nanoproof.search.policy import BadState, PolicyClosed
from tests.helpers import main_of
from tests.retrieval.library import files

run = main_of("nanoproof.retrieval")
STATE = "xs : List Nat\n⊢ xs ++ [] = xs"


def value(state: str) -> float:
    if state == "closed":
        raise PolicyClosed("it is closing")
    if state == "":
        raise BadState("a state needs a goal")
    return 2.5 + len(state)


@pytest.fixture(scope="module")
def service() -> PremiseService:
    corpus = Corpus(files())
    encoder = WordEncoder.of(premise.text for premise in corpus.premises)
    retriever = Retriever(encoder, Index.build(corpus, encoder)[0], 10, [file.path for file in files()])
    return PremiseService(lambda: retriever, value, {"retriever": "words"})


@pytest.fixture
def client(service: PremiseService) -> FlaskClient:
    return create_app(service, None, True).test_client()


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.data
    return [entry.get("name") or entry["formal_name"] for entry in answer.json]


def test_hammers_get_names_with_scores_best_first(client: FlaskClient) -> None:
    answer = client.post("/retrieve", json={"state": STATE, "new_premises": [], "k": 4})
    assert sorted(names(answer)[:3]) == ["B1", "B2", "B3"] and len(answer.json) == 4
    scores = [entry["score"] for entry in answer.json]
    assert scores == sorted(scores, reverse=True)
    assert (answer.json[0]["file"], answer.json[0]["kind"]) == ("B.lean", "theorem")


def test_new_premises_are_ranked_among_the_others(client: FlaskClient) -> None:
    new = [{"name": "mine", "decl": "theorem mine (xs : List Nat) : xs ++ [] = xs"}, {"name": "other", "decl": "f"}]
    found = names(client.post("/retrieve", json={"state": STATE, "new_premises": new, "k": 14}))
    assert found.index("mine") < 4 and found.index("other") > 4 and len(found) == 14


def test_reap_gets_formal_names_and_statements(client: FlaskClient) -> None:
    answer = client.post("/search", json={"query": STATE, "num_results": 2})
    assert len(answer.json) == 2 and set(answer.json[0]) == {"formal_name", "formal_statement"}
    assert answer.json[0]["formal_statement"].startswith(f"theorem {answer.json[0]['formal_name']} :")


def test_one_address_serves_all_by_their_fields(client: FlaskClient) -> None:
    assert names(client.post("/", json={"query": STATE, "num_results": 1}))[0].startswith("B")
    assert names(client.post("/", json={"state": STATE}))[0].startswith("B")
    chat = {"model": "m", "messages": [{"role": "user", "content": "⊢ p"}], "n": 1, "temperature": 0.9}
    assert client.post("/", json=chat).json["choices"][0]["message"]["role"] == "assistant"
    assert client.post("/", data="x", content_type="application/json").status_code == 400


def test_values_are_the_content_of_a_chat_as_reap_reads_them(client: FlaskClient) -> None:
    helpful = "Formal name: a\nFormal statement: theorem a : 1\nSTATE:\nfalse\nTACTIC:"
    prompt = f"User: Please generate\n{helpful}\nSTATE:\nh : p\n⊢ p\nTACTIC:\n\nAssistant:"
    assert prompted_state(prompt) == "h : p\n⊢ p" and prompted_state(" ⊢ p ") == "⊢ p"
    for path in ("/chat/completions", "/v1/chat/completions"):
        answer = client.post(path, json={"messages": [{"role": "user", "content": prompt}]}).json
        assert isinstance(answer["id"], str) and answer["choices"][0]["index"] == 0
        assert json.loads(answer["choices"][0]["message"]["content"]) == {"score": 2.5 + len("h : p\n⊢ p")}
    down = client.post("/chat/completions", json={"messages": [{"role": "user", "content": "closed"}]})
    assert down.status_code == 503
    empty = client.post("/chat/completions", json={"messages": [{"role": "user", "content": ""}]})
    assert empty.status_code == 400 and "a goal" in empty.json["error"]


def test_of_a_file_only_what_is_accessible_there_is_found(client: FlaskClient) -> None:
    found = names(client.post("/retrieve", json={"state": STATE, "k": 100, "file": "B.lean", "line": 4}))
    assert sorted(found) == ["A1", "A2", "A3", "B1"]
    whole = names(client.post("/retrieve", json={"state": STATE, "k": 100, "file": "B.lean"}))
    assert sorted(whole) == ["A1", "A2", "A3", "B1", "B2", "B3"]
    before = names(client.post("/search", json={"query": STATE, "num_results": 100, "theorem": "B2"}))
    assert sorted(before) == ["A1", "A2", "A3", "B1"]


@each(
    ("path", "body", "words"),
    [
        ("/retrieve", {"k": 3}, "state"),
        ("/retrieve", {"state": STATE, "k": 0}, "greater than"),
        ("/retrieve", {"state": STATE, "k": "3"}, "integer"),
        ("/retrieve", {"state": "x" * 200_001}, "at most"),
        ("/retrieve", {"state": "\ud83d"}, "surrogate"),
        ("/retrieve", {"state": STATE, "new_premises": [{"name": "x"}] * (MOST_NEW + 1)}, "at most"),
        ("/retrieve", {"state": STATE, "new_premises": [{"decl": "x"}]}, "name"),
        ("/retrieve", {"state": STATE, "file": "Z.lean"}, "such a file"),
        ("/search", {"query": STATE, "theorem": "Z1"}, "such a file or theorem"),
        ("/chat/completions", {"messages": []}, "at least 1"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_field(client: FlaskClient, path: str, body: Any, words: str) -> None:
    answer = client.post(path, data=json.dumps(body), content_type="application/json")
    assert answer.status_code == 400 and words in answer.json["error"]


def test_a_token_is_asked_for_and_without_values_a_chat_is_refused(service: PremiseService) -> None:
    guarded = create_app(service, "secret", False).test_client()
    assert guarded.post("/retrieve", json={"state": STATE}).status_code == 401
    given = {"Authorization": "Bearer secret"}
    assert guarded.post("/retrieve", json={"state": STATE}, headers=given).status_code == 200
    alone = create_app(PremiseService(lambda: None, None, {}), None, True).test_client()
    refused = alone.post("/chat/completions", json={"messages": [{"role": "user", "content": "⊢ p"}]})
    assert refused.status_code == 400 and "--model-path" in refused.json["error"]
    assert alone.post("/retrieve", json={"state": STATE}).json == [] and alone.get("/status").json["premises"] == 0


def test_the_command_answers_the_call_that_lean_lsp_mcp_makes_and_knows_a_file_that_was_just_written(
    tmp_path: Path,
) -> None:
    (tmp_path / "A.lean").write_text("theorem my_fact (xs : List Nat) : xs ++ [] = xs := by simp\n")
    words = [sys.executable, "-m", "nanoproof.retrieval", "serve", "--project", str(tmp_path), "--port", "0"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().removeprefix("listening on ").strip()
        # lean-lsp-mcp 0.32.0, lean_lsp_mcp/tools/search.py: hammer_premise
        data = json.dumps({"state": STATE, "new_premises": [], "k": 32}).encode()
        headers = {"User-Agent": "lean-lsp-mcp/0.1", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{address}/retrieve", headers=headers, method="POST", data=data)
        with urllib.request.urlopen(asked, timeout=10) as answer:
            assert [entry["name"] for entry in json.load(answer)] == ["my_fact"]
    finally:
        server.terminate()
        server.wait(30)
        server.stdout.close()  # type: ignore[union-attr]
    assert server.returncode == 0


def test_what_cannot_be_served_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NANOPROOF_PREMISES_TOKEN", raising=False)
    for words, complaint in (
        (["serve"], "give --retriever"),
        (["serve", "--retriever", str(tmp_path)], "no such folder of"),
        (["serve", "--project", str(tmp_path / "none"), "--port", "0"], "is no folder"),
        (["serve", "--project", str(tmp_path), "--address", "0.0.0.0"], "set NANOPROOF_PREMISES_TOKEN"),
    ):
        with pytest.raises(UserError, match=complaint):
            run(words)
