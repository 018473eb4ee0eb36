"""Forms of statements without names and orders, pairs to learn from, what is read of a proposal, and how it reads."""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nanoproof.common.errors import UserError
from nanoproof.conjectures import filters
from nanoproof.conjectures.filters import Proposed, Statements, embedded_key, examined, read_proposed
from nanoproof.conjectures.guide import PER_DOUBLING, PER_NEEDLESS, PER_REPETITION, likeness, scores, unnatural
from nanoproof.data.theorems.overlap import unordered, unordered_form, unordered_key
from nanoproof.data.transitions import conjecture_pairs as pairs
from nanoproof.data.transitions.packing import KIND_CODES, ExampleLimits, encode_conjectures, pack
from nanoproof.lean.types import Branch, Theorem, TheoremRejected, Transition
from nanoproof.model.gpt import with_reserved_markers
from nanoproof.training.batches import ConjectureSet, JointSet, Pick, TransitionSet, load_conjectures
from nanoproof.training.loss import LossWeights, Normalizers, transition_loss
from tests.fakes.lean import ScriptedLean, branch
from tests.training import small

# -- Forms -----------------------------------------------------------------------------------------------------------

BINDERS = ["a : Nat", "b : Nat", "c : Nat", "f : Nat → Nat"]
HYPOTHESES = ["a ≤ b", "b < c", "f a = f b", "∀ x, f (f x) = x", "a ∣ c", "c ≠ 0"]
CLAIMS = ["a < c", "f a ≤ b", "a = b ∨ b = c"]


def written(names: dict[str, str], order: list[int], hypotheses: list[str], claim: str, arrows: int) -> str:
    """A statement with its binders and hypotheses in an order, some of these before arrows, under other names."""

    def named(text: str) -> str:
        return " ".join(names.get(word, word) for word in re.sub(r"([(),])", r" \1 ", text).split())

    binders = [f"({named(binder)})" for binder in BINDERS]
    shuffled = [hypotheses[index] for index in order]
    before, after = shuffled[: len(shuffled) - arrows], shuffled[len(shuffled) - arrows :]
    told = [f"(h{number} : {named(text)})" for number, text in enumerate(before)]
    behind = [f"({named(text)})" if text.startswith("∀") else named(text) for text in after]
    random.Random(str(order)).shuffle(binders)
    return f"{' '.join([*binders, *told])} : {' → '.join([*behind, named(claim)])}"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(HYPOTHESES), unique=True, min_size=1, max_size=5),
    st.sampled_from(CLAIMS),
    st.randoms(use_true_random=False),
)
def test_a_form_does_not_depend_on_names_and_orders(hypotheses: list[str], claim: str, rng: random.Random) -> None:
    plain = written({}, list(range(len(hypotheses))), hypotheses, claim, 0)
    order = rng.sample(range(len(hypotheses)), len(hypotheses))
    fresh = dict(zip("abcfx", rng.sample(["k", "m", "n", "g", "u", "w"], 5)))
    arrows = 0 if any(text.startswith("∀") for text in hypotheses) else rng.randint(0, len(hypotheses))
    assert unordered_form(written(fresh, order, hypotheses, claim, arrows)) == unordered_form(plain) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(a b : Nat) (h : a ≤ b) : a < b", "(a b : Nat) (h : b ≤ a) : a < b"),
        (
            "(a b c d : Nat) (h : a ∣ b) (g : c ∣ d) : a * c ∣ b * d",
            "(a b c d : Nat) (h : a ∣ b) (g : c ∣ d) : a * c ∣ d * b",
        ),
        ("(a b : Nat) : a + b = b + a", "(a b : Nat) : a + a = a + a"),
        ("(a : Nat) : a = a", "(a : Int) : a = a"),
        ("(a : Nat) (h : 0 < a) : 1 ≤ a", "(a : Nat) : 1 ≤ a"),
    ],
)
def test_different_statements_have_different_forms(one: str, other: str) -> None:
    assert unordered_form(one) != unordered_form(other)


def test_what_nothing_mentions_does_not_count_and_inner_names_do_not() -> None:
    assert unordered_form("(n k : Nat) : n + 0 = n") == unordered_form("(m : ℕ) : m + 0 = m")
    one, other = "(f : ℕ → ℕ) (a : ℕ) (h : ∀ x, f x = a) : f a = a", "(a : ℕ) (g : ℕ → ℕ) (h : ∀ y, g y = a) : g a = a"
    assert unordered_form(one) == unordered_form(other)


def test_many_hypotheses_that_look_alike_are_compared_by_their_looks() -> None:
    names = [f"x{number}" for number in range(8)]
    types = {name: ["ℕ"] for name in names}
    formulas = [[a, "<", b] for a, b in zip(names, names[1:] + names[:1], strict=True)]  # a ring: all look the same
    form = unordered(formulas, ["False"], types)
    assert form == unordered(formulas[::-1], ["False"], types) and "v0" not in form


def test_keys_of_the_embedded_prover_lose_the_order_of_hypotheses() -> None:
    one = "Nat Nat (List v1) | (Nat.le v0 v1) → (∀ (Eq Nat v0 v1) False) → (P v2)"
    other = "Nat Nat (List v1) | (∀ (Eq Nat v0 v1) False) → (Nat.le v0 v1) → (P v2)"
    assert unordered_key(one) == unordered_key(other)
    assert unordered_key(one) != unordered_key(one.replace("(Nat.le v0 v1)", "(Nat.le v1 v0)"))


# -- What is held out never enters -----------------------------------------------------------------------------------

HELD_OUT = "theorem secret (a b : Nat) (h : a < b) (g : ¬ b = 0) : a ≠ b := by sorry"
VARIANTS = [
    "(x y : Nat) (h : ¬ y = 0) (k : x < y) : x ≠ y",
    "(b a : Nat) (g : b ≠ 0) : a < b → ¬ a = b",
    "(n : Nat) (m : Nat) (h : n > m) (h1 : n = 0 → False) : m ≠ n",
    ": ∀ p q : Nat, q ≠ 0 → q > p → p ≠ q",
]


@pytest.fixture(scope="module")
def statements() -> Statements:
    return Statements(held_out={embedded_key(HELD_OUT)}, key=embedded_key)


@pytest.mark.parametrize("text", VARIANTS)
def test_a_held_out_theorem_under_other_names_in_another_order_and_notation_is_dropped(
    statements: Statements, text: str
) -> None:
    proposed = examined(ScriptedLean({}), read_proposed(text, True, "", {}), statements, ())
    assert proposed.verdict == "held out"


def test_another_theorem_is_new_once_and_known_afterwards(statements: Statements) -> None:
    text = "(a b : Nat) (h : a < b) (g : b ≠ 1) : a ≠ b"
    assert examined(ScriptedLean({}), read_proposed(text, True, "", {}), statements, ()).verdict == "new"
    again = "(x y : Nat) (g : ¬ y = 1) (h : y > x) : x ≠ y"
    assert examined(ScriptedLean({}), read_proposed(again, True, "", {}), statements, ()).verdict == "known"


def test_no_pair_to_learn_from_has_a_held_out_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    assert {item.tactic for item in pairs.conjecture_pairs(file, 0.0)[0]} == {"(x : Nat) : x = x", "(y : Nat) : y ≤ y"}
    held_out = frozenset({unordered_form("(z : ℕ) : z ≤ z")})
    monkeypatch.setattr(pairs, "_held_out_forms", lambda: held_out)
    assert {item.tactic for item in pairs.conjecture_pairs(file, 0.0)[0]} == {"(x : Nat) : x = x"}


def test_the_benchmarks_are_held_out() -> None:
    names = {theorem.dataset for theorem in pairs.held_out_theorems()}
    assert {"nanolean", "nanolean-hard", "nanolean-premise"} <= names
    theorem = next(theorem for theorem in pairs.held_out_theorems() if theorem.dataset == "nanolean-hard")
    assert pairs.is_held_out(pairs.statement_text(theorem.source))


# -- Pairs -----------------------------------------------------------------------------------------------------------


def proved(name: str, hypotheses: str, target: str, *tactics: str) -> dict:
    """A theorem of LeanTree with a proof of single steps."""
    goal = {"type": target, "hypotheses": [{"user_name": hypotheses, "type": "Nat"}]}
    nodes = [
        {
            "id": number,
            "state": {"goals": [goal]},
            "proof_depth": len(tactics) - number,
            "tactic": {"tactic_string": tactic, "children": [number + 1] if number + 1 < len(tactics) else []},
        }
        for number, tactic in enumerate(tactics)
    ]
    return {"name": name, "by_blocks": [{"tree": {"root_id": 0, "nodes": nodes}}]}


RECORDS = [
    {"theorems": [proved("Nat.p", "n", "n + 0 = n", "rfl"), proved("a", "a", "a = a", "skip", "exact Nat.p a")]},
    {"theorems": [proved("b", "x", "x = x", "skip", "exact Nat.p x"), proved("c", "z", "z < z", "exact Nat.p z")]},
    {"theorems": [proved("d", "y", "y ≤ y", "rw [Nat.p]", "exact Nat.q y")]},
]


def test_a_pair_is_a_theorem_then_one_that_uses_its_lemma_and_takes_no_fewer_steps(tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    train, valid = pairs.conjecture_pairs(file, 0.34)
    (first,), (last,) = train, valid
    assert first == Transition("theorem (a : Nat) : a = a\nusing Nat.p (n : Nat) : n + 0 = n", "(x : Nat) : x = x", 2)
    assert last.tactic == "(y : Nat) : y ≤ y" and last.state.endswith("\nusing Nat.p (n : Nat) : n + 0 = n")
    assert pairs.conjecture_prompt("(x : Nat) :\n  x = x") == "theorem (x : Nat) : x = x"


def test_data_without_pairs_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    file.write_text(json.dumps(RECORDS[0]) + "\n")
    with pytest.raises(UserError, match="no two theorems whose proofs name one lemma"):
        load_conjectures(str(file))


def test_conjectures_are_learned_beside_tactics_and_every_token_of_a_text_weighs_alike() -> None:
    words, limits = small.tokenizer(), ExampleLimits(sequence=128)
    network = with_reserved_markers(small.model(words))
    torch.manual_seed(1)
    with torch.no_grad():  # a fresh network finds all tokens equally likely
        for parameter in network.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    items = [Transition("theorem p", "(q : r) : s", 1), Transition("x" * 400, "y", 1)]
    made, too_long = encode_conjectures(words, items, limits, [3.0, 1.0])
    assert made is not None and too_long is None and len(made.continuations) == 1
    said = made.continuations[0]
    assert said.tokens[0] == words.conjecture and said.tokens[-1] == words.eos and said.weight == 3.0
    assert words.decode(made.prefix[1:]) == "theorem p\n" and words.decode(said.tokens[1:-1]) == "(q : r) : s"
    tactics = small.examples(words, 3)
    batch = pack([*tactics, made], 128, words.pad)
    weights, norms = LossWeights(0.5, conjectures=True), Normalizers.of(batch)
    with torch.no_grad():
        loss, parts = transition_loss(network, batch, weights, norms)
    counts = {kind: int((batch.kinds == KIND_CODES[kind]).sum()) for kind in ("tactic", "conjecture")}
    assert counts["conjecture"] == len(said.tokens) - 1
    weighted = {"tactic": counts["tactic"], "conjecture": 3 * counts["conjecture"]}
    texts = sum(float(parts[f"{kind}_loss"]) * count for kind, count in weighted.items()) / sum(weighted.values())
    assert float(loss) == pytest.approx(texts + 0.5 * float(parts["value_loss"]), rel=1e-5)
    (plain,) = encode_conjectures(words, items[:1], limits)
    assert plain is not None
    alone = pack([*tactics, plain], 128, words.pad)
    with torch.no_grad():
        lighter, same = transition_loss(network, alone, weights, Normalizers.of(alone))
    assert float(same["conjecture_loss"]) == pytest.approx(float(parts["conjecture_loss"]), rel=1e-5)
    assert float(lighter) != pytest.approx(float(loss), rel=1e-5)


def test_a_joint_set_has_the_transitions_and_behind_them_a_quarter_of_conjectures() -> None:
    words, limits = small.tokenizer(), ExampleLimits(sequence=128)
    transitions = TransitionSet(words, small.transitions(30), limits)
    stated = ConjectureSet(words, [Transition("theorem p", f"q{number}", 1) for number in range(25)], limits)
    joint = JointSet(transitions, stated)
    assert len(joint) == 30 + 9 and len(stated) == 25  # every third: 10 are a quarter of 40
    kinds = [example.continuations[0].kind for example in joint.examples([Pick(0, 38), Pick(0, 3)])]
    assert kinds == ["tactic", "conjecture"]
    assert joint.fingerprint() != JointSet(transitions, ConjectureSet(words, [], limits)).fingerprint()


# -- What is read, and what Lean says --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "finished", "verdict"),
    [
        ("(n : Nat) : n = n", True, "new"),
        ("(n : Nat) : n = n", False, "unreadable"),
        ("(n : Nat) n = n", True, "unreadable"),
        ("(n : Nat : n = n", True, "unreadable"),
        (": True := trivial theorem x : 1 = 2", True, "unreadable"),
        (": 1 = 1 -- no", True, "unreadable"),
        ("", True, "unreadable"),
        (": True := by sorry", True, "unreadable"),
    ],
)
def test_a_text_is_read_as_a_statement_or_not(text: str, finished: bool, verdict: str) -> None:
    proposed = read_proposed(text, finished, "open Nat\n\n", {})
    assert proposed.verdict == verdict and (verdict == "new") == bool(proposed.source)
    if proposed.source:
        assert proposed.source == f"open Nat\n\ntheorem conjecture {text} := by\n  sorry"


def verdict_of(script: dict, statements: Statements | None = None, root: str | None = "A") -> Proposed:
    proposed = Proposed("text", {}, "theorem conjecture : A := by sorry", form="form")
    return examined(ScriptedLean(script, root), proposed, statements or Statements(), ("simp", "omega"))


def test_lean_tells_trivial_vacuous_and_refused_statements() -> None:
    assert verdict_of({}).verdict == "new"
    trivial = verdict_of({"A": {"omega": ()}})
    assert (trivial.verdict, trivial.reason) == ("trivial", "omega")
    vacuous = verdict_of({"A": {"intros": ("B",), "omega": ()}, "B": {"exfalso": ("C",)}, "C": {"simp": ()}})
    assert (vacuous.verdict, vacuous.reason) == ("vacuous", "simp")
    claims_false = verdict_of({"A": {"intros": ("False",)}, "False": {"exfalso": ("False",), "simp": ()}})
    assert claims_false.verdict == "new"  # what proves it is not its hypotheses alone
    assert verdict_of({}, root=None).verdict == "refused"


def test_instances_are_of_the_types_of_variables_and_hypotheses_are_left_to_decide() -> None:
    statement = "(α : Type) (xs : List α) (n : Nat) (p : Prop) (hp : p) (h : n < 2) : xs.length = n"
    first, second, *others = filters.refutations(f"theorem conjecture {statement} := by sorry")
    assert first == "exact absurd (instances Nat [] 0 True (by decide) (by decide)) (by decide)"
    assert second == "exact absurd (instances Nat [0] 1 False (by decide) (by decide)) (by decide)"
    assert 3 < len(others) <= filters.MOST_INSTANCES - 2
    for other in ("(f : Nat → Nat) : f 0 = 0", "{n : Nat} : n = 0", "(x : Real) : x = 0", "no statement"):
        assert filters.refutations(f"theorem conjecture {other} := by sorry") == []


class Negating(ScriptedLean):
    """Shows the negation of a statement as N."""

    def start(self, theorem: Theorem) -> Branch:
        return branch("N" if theorem.id.endswith("#negated") else "A")


def test_a_statement_that_an_instance_refutes_is_false() -> None:
    tactic = "exact absurd (instances 1) (by decide)"
    lean = Negating({"N": {"intro instances": ("I",)}, "I": {tactic: ()}})
    proposed = Proposed("text", {}, "theorem conjecture (n : Nat) : n = 0 := by sorry", form="form")
    found = examined(lean, proposed, Statements(), ("simp",))
    assert (found.verdict, found.reason) == ("false", tactic)
    assert examined(Negating({}), proposed, Statements(), ("simp",)).verdict == "new"


def test_known_statements_are_not_sent_to_lean_and_a_new_one_is_known_by_form_and_key() -> None:
    statements = Statements(known={"form"})
    assert verdict_of({}, statements, root=None).verdict == "known"
    statements = Statements(key=lambda source: "key")
    assert verdict_of({}, statements).verdict == "new" and statements.known == {"form", "key"}
    assert filters.VERDICTS[-1] == "new"

    def refused(source: str) -> str:
        raise TheoremRejected("it does not elaborate")

    assert verdict_of({}, Statements(key=refused)).verdict == "refused"


def test_training_theorems_and_lemmas_are_known() -> None:
    theorem = Theorem("theorem t (a b : Nat) : a + b = b + a := by sorry", "s", "t")
    found = filters.statements_of([theorem], {"Nat.p": "(n : Nat) : n * 1 = n"}, [], embedded=False)
    assert {unordered_form("(x y : ℕ) : x + y = y + x"), unordered_form("(k : ℕ) : k * 1 = k")} == found.known
    assert len(found.held_out) > 500 and found.key("theorem x : A := by sorry") == ""


# -- The guide -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("(a b : Nat) (h : a ≤ b) : a < b + 1", 0.0),
        ("(a b : Nat) (h : a ≤ b) (g : a ≤ b) : a < b + 1", PER_REPETITION),
        ("(a b : Nat) (h : a ≤ b) : a ≤ b", PER_REPETITION),
        ("(a b : Nat) (h : a ≤ b) : a + b = a + b", PER_REPETITION),
        ("(a b c : Nat) (h : a ≤ b) : a < b + 1", PER_NEEDLESS),
        ("(a b c : Nat) (h : a ≤ b) (g : 0 < c) : a < b + 1", PER_NEEDLESS),
        (f"(a : Nat) : a + {'1' * 100} = 0", PER_DOUBLING),
        ("no statement", float("inf")),
    ],
)
def test_what_reads_unnaturally_costs(statement: str, expected: float) -> None:
    assert unnatural(f"theorem t {statement} := by sorry") == pytest.approx(expected)


def test_scores_are_likeness_in_standard_deviations_less_what_is_unnatural() -> None:
    unproved = np.array([[1.0, 0.0], [0.0, 1.0]])
    stated = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert likeness(stated, unproved).tolist() == [0.5, -0.5]
    sources = ["theorem t (a : Nat) : a < 1 := by sorry", "theorem t (a b : Nat) : a < 1 := by sorry"]
    assert scores(sources, stated, unproved) == pytest.approx([1.0, -1.0 - PER_NEEDLESS])
    assert scores(sources, stated, np.zeros((0, 2))) == pytest.approx([0.0, -PER_NEEDLESS])
    assert scores([], np.zeros((0, 2)), unproved) == []
