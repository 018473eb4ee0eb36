"""What integrations/lean asks a policy server, with curl in earnest and a stand-in for Lean around it."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from nanolean.parser import iter_commands
from nanolean.parser.lexer import ParseError
from nanoproof.common.web.http_server import HttpServer, bind
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.protocol import ServiceOptions
from nanoproof.policy.server import PolicyService, create_app
from nanoproof.policy.tactic_policy import TacticPolicy
from tests.fakes.engine import ScriptedEngine
from tests.helpers import free_port

SOURCE = Path(__file__).parents[2].joinpath("integrations/lean/Nanoproof.lean").read_text(encoding="utf-8")
TOKEN = "a token"


def quote(text: str) -> str:
    """`Nanoproof.quote`."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def curl(server: str, token: str, state: str) -> subprocess.CompletedProcess[str]:
    """Run curl as `Nanoproof.ask` does, with the settings and arguments that stand in the Lean text."""
    body = json.dumps({"states": [state]}, ensure_ascii=False, separators=(",", ":"))
    settings = re.findall(r'\("([a-z-]+)", s?!?(?:"([^"]*)"|(body))\)', SOURCE)
    assert [name for name, *_ in settings] == ["url", "header", "header", "data-binary"]
    lines = []
    for name, template, is_body in settings:
        value = body if is_body else template.format(server=server, token=token)
        lines.append(f"{name} = {quote(value)}\n")
    (arguments,) = re.findall(r"args := #(\[[^\]]*\])", SOURCE)
    command = ["curl", *json.loads(arguments)]
    return subprocess.run(command, input="".join(lines), capture_output=True, encoding="utf-8", timeout=30)


def answer(server: str, token: str, state: str) -> dict[str, Any]:
    run = curl(server, token, state)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture
def serving(words: Tokenizer) -> Iterator[tuple[str, list[str]]]:
    """The address of a policy server, and the states that it was asked about."""
    states: list[str] = []
    with ExitStack() as stack:
        settings = ServiceOptions(port=0)
        engine = ScriptedEngine(words, ["simp", "exact h", "simp"])
        policy = stack.enter_context(TacticPolicy(engine))  # type: ignore[arg-type]
        answer_all = policy.suggest_all

        def suggest_all(asked: list[str], *how: Any, **more: Any) -> Any:
            states.extend(asked)
            return answer_all(asked, *how, **more)

        policy.suggest_all = suggest_all  # type: ignore[method-assign,assignment]
        listener = bind(settings)
        server = HttpServer(create_app(PolicyService(policy, settings, {"path": "p"}), TOKEN), settings, listener)
        threading.Thread(target=server.run, daemon=True).start()
        stack.callback(server.close)
        stack.callback(engine.gate.set)
        yield f"127.0.0.1:{listener.getsockname()[1]}", states


@pytest.mark.parametrize(
    "state",
    [
        "case inl\np q : Prop\nh : p ∧ q\n⊢ q ∧ p",
        '𝓝 : Nat → Nat\n⊢ "\\n{}\\\\ @x" = f \'"\'',
        "⊢ " + "p ∧ " * 16_600 + "p",  # almost as long as `Nanoproof.ask` sends
    ],
    ids=["goal", "letters", "long"],
)
def test_a_state_arrives_as_it_is_and_tactics_come_back(serving: tuple[str, list[str]], state: str) -> None:
    server, states = serving
    suggestion = answer(server, TOKEN, state)["suggestions"][0]
    assert states == [state]
    assert suggestion["tactics"] == ["simp", "exact h"]


def test_what_the_server_complains_of_is_in_the_answer(serving: tuple[str, list[str]]) -> None:
    server, _ = serving
    assert answer(server, "", "⊢ p") == {"error": "a valid token is needed"}


def test_a_server_that_is_not_there_is_an_error_of_curl() -> None:
    run = curl(f"127.0.0.1:{free_port()}", "", "⊢ p")
    assert run.returncode != 0 and "connect" in run.stderr


def test_nanolean_reads_the_text_as_far_as_it_goes() -> None:
    commands, complaints = [], set()
    for command in iter_commands(SOURCE):
        if isinstance(command, ParseError):
            complaints.add(re.sub(r"^\d+:\d+: ", "", str(command)).split(";")[0])
        else:
            commands.append(type(command).__name__)
    assert commands == ["OpenCmd", "NamespaceCmd", "EndCmd"]
    # Strings, `do`, quotations and `elab` are no part of NanoLean, nor is Lean's own code.
    assert complaints == {
        "the command `import` is not supported",
        "the command `elab` is not supported",
        "unexpected character '`'",
        "unexpected token 'do'",
        "texts in quotes are not supported",
    }
