"""How models are asked: the exact texts, and what is read from answers. Sources are named in the module."""

import pytest

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.data.transitions.packing import ExampleLimits, encode_transition
from nanoproof.lean.types import Transition
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.prompt import prompt_tokens
from nanoproof.policy.prompt_formats import FORMATS, find_format, formats_of, known_format

STATE = "p q : Prop\nh : p ∧ q\n⊢ q ∧ p"
STATEMENT = "theorem t (p : Prop) (h : p) : p := by\n"

GOLDEN = {
    "nanoproof": "p q : Prop\nh : p ∧ q\n⊢ q ∧ p\n<|tactic|>",
    "bfs-prover": "p q : Prop\nh : p ∧ q\n⊢ q ∧ p:::",
    "reprover": "p q : Prop\nh : p ∧ q\n⊢ q ∧ p",
    "llmstep": "[GOAL]p q : Prop\nh : p ∧ q\n⊢ q ∧ p[PROOFSTEP]",
    "real-prover": (
        "User: Please generate a tactic in lean4 to solve the state.\n"
        "Here're some theorems that may be helpful:\n\n"
        "STATE:\np q : Prop\nh : p ∧ q\n⊢ q ∧ p\nTACTIC:\n\n\nAssistant:"
    ),
    "reap": (
        "User: Please generate a tactic in lean4 to solve the state.\n"
        "Here're some theorems that may be helpful:\n\n"
        "STATE:\np q : Prop\nh : p ∧ q\n⊢ q ∧ p\nTACTIC:\n\nAssistant:"
    ),
    "chat": (
        "Here is a proof state of Lean 4.\n\n```lean4\np q : Prop\nh : p ∧ q\n⊢ q ∧ p\n```\n\n"
        "Answer with the next tactic, in a code block and without explanation. Do not use sorry."
    ),
    "leandojo": "p q : Prop\nh : p ∧ q\n⊢ q ∧ p",
    "leandojo-text": (
        "### System:\nYou are a Lean 4 tactic generator. "
        "Given a goal state, output exactly ONE Lean tactic that advances or solves the goal.\n"
        "Rules:\n- Output only the tactic text; no prose, quotes, or code fences.\n"
        "- Single line only; no `by` blocks.\n- Never use `sorry` or `admit`.\n"
        "### User:\np q : Prop\nh : p ∧ q\n⊢ q ∧ p\n\n### Assistant:\n"
    ),
    "nanoproof-proof": "theorem t (p : Prop) (h : p) : p := by\n\n<|proof|>",
    "deepseek-v1.5": (
        "Complete the following Lean 4 code:\n\n```lean4\nimport Mathlib\nimport Aesop\n\n"
        "set_option maxHeartbeats 400000\n\nopen BigOperators Real Nat Topology Rat\n\n"
        "theorem t (p : Prop) (h : p) : p := by\n"
    ),
    "deepseek-v1.5-cot": (
        "Complete the following Lean 4 code with explanatory comments preceding each line of code:\n\n"
        "```lean4\nimport Mathlib\nimport Aesop\n\n"
        "set_option maxHeartbeats 400000\n\nopen BigOperators Real Nat Topology Rat\n\n"
        "theorem t (p : Prop) (h : p) : p := by\n"
    ),
    "stp": (
        "Complete the following Lean 4 code:\n\n```lean4\nimport Mathlib\nimport Aesop\nset_option maxHeartbeats 0\n"
        "open BigOperators Real Nat Topology Rat\n\ntheorem t (p : Prop) (h : p) : p := by"
    ),
    "chat-proof": (
        "Complete the following Lean 4 code:\n\n```lean4\ntheorem t (p : Prop) (h : p) : p := by\n  sorry\n```\n\n"
        "Answer with the whole theorem and its proof in a code block. Do not use sorry or axioms."
    ),
}


@each("name", FORMATS)
def test_each_format_writes_this_text(name: str) -> None:
    found = FORMATS[name]
    assert found.prompt(STATE if found.kind == "tactic" else STATEMENT, ()) == GOLDEN[name]
    assert find_format(name, found.kind) is found


@each("name", FORMATS)
def test_what_is_read_from_an_example_is_what_it_was_made_of(name: str) -> None:
    found = FORMATS[name]
    wanted = "exact ⟨h.2, h.1⟩" if found.kind == "tactic" else "  intro x\n  simp"
    if name == "chat-proof":
        wanted = wanted.strip()
    prompt, continuation = found.example(STATE, wanted)
    assert prompt == found.prompt(STATE, ())
    for stop in found.stop:  # as a backend ends a text
        continuation = continuation.split(stop)[0]
    assert found.answer(continuation) == wanted


def test_ours_is_what_training_encodes_and_what_the_policy_asks_with(words: Tokenizer) -> None:
    text = FORMATS["nanoproof"].prompt(STATE, ())
    marker = "<|tactic|>"
    assert text.endswith(marker)
    tokens = [words.bos, *words.encode(text.removesuffix(marker))]
    example = encode_transition(words, Transition(STATE, "simp", 1), ExampleLimits())
    assert example is not None
    assert tokens == list(example.prefix) == prompt_tokens(words, STATE, 512)
    assert example.continuations[0].tokens == [words.tactic, *words.encode("simp"), words.eos]


def test_statements_with_imports_of_their_own_keep_them() -> None:
    own = "import Mathlib.Tactic\nopen Nat\n\ntheorem t : True := by\n"
    assert FORMATS["deepseek-v1.5"].prompt(own, ()) == f"Complete the following Lean 4 code:\n\n```lean4\n{own}"
    assert FORMATS["stp"].prompt(own, ()).endswith("```lean4\n" + own.strip())


def test_premises_stand_where_each_model_learned_them() -> None:
    premises = ("best", "good")
    assert FORMATS["reprover"].prompt("⊢ p", premises) == "good\n\nbest\n\n⊢ p"
    assert "helpful:\nbest\n\ngood\nSTATE:" in FORMATS["real-prover"].prompt("⊢ p", premises)
    assert "helpful:\nbest\ngood\nSTATE:" in FORMATS["reap"].prompt("⊢ p", premises)
    assert "These theorems may help:\nbest\ngood\n\nAnswer" in FORMATS["chat"].prompt("⊢ p", premises)


def test_marks_around_premises_are_removed() -> None:
    assert FORMATS["reprover"].answer("rw [<a>Nat.add_comm</a>, <a>h</a>]") == "rw [Nat.add_comm, h]"


def test_leandojo_teaches_and_reads_the_first_line_behind_a_message_of_the_system() -> None:
    how = FORMATS["leandojo"]
    assert how.chat and how.system == (
        "You are a Lean 4 tactic generator. "
        "Given a goal state, output exactly ONE Lean tactic that advances or solves the goal.\n"
        "Rules:\n- Output only the tactic text; no prose or code fences.\n"
        "- Single line only; no `by` blocks.\n- Never use `sorry` or `admit`.\n"
    )
    assert how.example(" ⊢ p \n", "induction n with\n| zero => rfl") == ("⊢ p", "induction n with")
    assert how.answer("simp <;> ring\nThat is it.") == "simp <;> ring"
    assert FORMATS["leandojo-text"].answer("simp <;> ring") == "simp" and how.answer("") == ""


def test_names_that_are_none_are_refused_with_those_of_the_kind() -> None:
    with pytest.raises(UserError, match="bfs is unknown; of this kind there are nanoproof, bfs-prover,"):
        find_format("bfs", "tactic")
    with pytest.raises(UserError, match="stp is for whole proofs; of this kind"):
        find_format("stp", "tactic")
    with pytest.raises(UserError, match="chat is for tactics; of this kind there are nanoproof-proof,"):
        find_format("chat", "proof")
    assert set(formats_of("tactic")) | set(formats_of("proof")) == set(FORMATS)


@each(
    ("spec", "name"),
    [
        ("hf:ByteDance-Seed/BFS-Prover-V1-7B", "bfs-prover"),
        ("openai:http://h:1/v1#BFS-Prover-V2-32B", "bfs-prover"),
        ("hf:kaiyuy/leandojo-lean4-tacgen-byt5-small", "reprover"),
        ("hf:wellecks/llmstep-mathlib4-pythia2.8b", "llmstep"),
        ("hf:FrenzyMath/REAL-Prover", "real-prover"),
        ("hf:someone/else", None),
        ("hf:deepseek-ai/DeepSeek-Prover-V1.5-RL", None),
    ],
)
def test_published_models_are_known_by_their_names(spec: str, name: str | None) -> None:
    found = known_format(spec, "tactic")
    assert (found and found.name) == name


def test_published_writers_of_whole_proofs_are_known_too() -> None:
    for spec, name in (
        ("hf:deepseek-ai/DeepSeek-Prover-V1.5-RL", "deepseek-v1.5"),
        ("hf:kfdong/STP_model_Lean", "stp"),
    ):
        found = known_format(spec, "proof")
        assert found is not None and found.name == name
