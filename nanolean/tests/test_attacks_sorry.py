"""`sorry` in every disguise: it must be seen by the messages, by the proof's status, and among the axioms."""

import pytest

from nanolean.kernel.env import axioms_of
from nanolean.repl import Repl
from nanolean.tests.attacks import contradictions, refused, unproved
from nanolean.tests.each import each
from nanolean.tests.library import base, run
from nanolean.tests.test_attacks_text import attack

DISGUISES = {
    "a term": "theorem boom : False := sorry",
    "a tactic": "theorem boom : False := by sorry",
    "the axiom": "theorem boom : False := sorryAx False true",
    "the axiom with its argument found": "theorem boom : False := sorryAx _ true",
    "the axiom by exact": "theorem boom : False := by exact sorryAx False false",
    "the axiom by apply": "theorem boom : False := by\n  apply sorryAx\n  exact true",
    "the axiom by refine": "theorem boom : False := by refine sorryAx _ ?_; exact true",
    "the axiom by constructor": (
        "theorem boom : False := by\n  have h : ∀ p : Prop, p := fun p => sorryAx p true\n  exact h _"
    ),
    "an abbreviation of the axiom": "abbrev ok := @sorryAx\ntheorem boom : False := ok False true",
    "a definition of the axiom": "def ok := @sorryAx\ntheorem boom : False := ok False true",
    "a definition with a sorry in it": "def ok : False := sorry\ntheorem boom : False := ok",
    "a function that is sorry": "def ok (p : Prop) : p := sorry\ntheorem boom : False := ok False",
    "a lemma with a sorry in it": (
        "theorem ok : 1 = 2 := sorry\ntheorem boom : False := by\n  have h := ok\n  contradiction"
    ),
    "a lemma with a sorry in it, for simp": (
        "@[simp] theorem ok : 1 = 2 := sorry\ntheorem boom : False := absurd ok (by simp)"
    ),
    "a lemma with an error in it": "theorem ok : 1 = 2 := rfl\ntheorem boom : False := absurd ok (by decide)",
    "a lemma with an unknown tactic in it": "theorem ok : False := by magic\ntheorem boom : False := ok",
    "a lemma with an open goal in it": "theorem ok : False := by skip\ntheorem boom : False := ok",
    "a lemma that ran out of steps": "theorem ok : 9 ^ 9 ^ 9 = 0 := by decide\ntheorem boom : 9 ^ 9 ^ 9 = 0 := ok",
    "inside of have": "theorem boom : False := have h : False := sorry; h",
    "inside of a tactic have": "theorem boom : False := by\n  have h : False := sorry\n  exact h",
    "inside of a tactic have with a block": "theorem boom : False := by\n  have h : False := by sorry\n  exact h",
    "inside of let": "theorem boom : False := let h : False := sorry; h",
    "inside of show": "theorem boom : False := show False from sorry",
    "inside of a function": "theorem boom : False := (fun h : False => h) sorry",
    "inside of an anonymous constructor": "theorem boom : False ∧ True := ⟨sorry, trivial⟩",
    "inside of an argument that is thrown away": "theorem boom : True := (fun _ : False => trivial) sorry",
    "inside of a proof that computes": "theorem boom : (fun _ : False => 1) sorry = 1 := rfl",
    "inside of the statement": "theorem boom : (sorry : Prop) := sorry",
    "inside of a type": "theorem boom : ∀ n : Nat, n = (sorry : Nat) := fun n => sorry",
    "inside of a binder's type": "theorem boom (h : (sorry : Prop)) : False := by contradiction",
    "inside of a number": "def k : Nat := sorry\ntheorem boom : k = k := rfl",
    "inside of a witness": "theorem boom : ∃ n : Nat, n = n + 1 := ⟨sorry, sorry⟩",
    "inside of a branch": "theorem boom (h : True ∨ True) : False := by\n  cases h\n  · sorry\n  · sorry",
    "inside of one branch": "theorem boom (n : Nat) : n = 0 := by\n  cases n\n  · rfl\n  · sorry",
    "inside of an alternative": "theorem boom : False := by first | rfl | sorry",
    "inside of try": "theorem boom : False := by try sorry",
    "inside of repeat": "theorem boom : False ∧ False := by\n  constructor\n  all_goals sorry",
    "behind a bullet": "theorem boom : False ∧ True := by\n  constructor\n  · sorry\n  · trivial",
    "behind a case": "theorem boom : False ∧ True := by\n  constructor\n  case left => sorry\n  case right => trivial",
    "behind an arrow": "theorem boom : False ∧ False := by constructor <;> sorry",
    "behind next": "theorem boom : False := by next => sorry",
    "behind parentheses": "theorem boom : False := by (sorry)",
    "in a rewrite": "theorem boom (n : Nat) : n = 0 := by rw [(sorry : n = 0)]",
    "in simp": "theorem boom (n : Nat) : n = 0 := by simp [(sorry : n = 0)]",
    "in simpa": "theorem boom (n : Nat) : n = 0 := by simpa using (sorry : n = 0)",
    "in specialize": "theorem boom (f : False → False) : False := by\n  specialize f sorry\n  exact f",
    "in rcases": "theorem boom : False := by\n  rcases (sorry : False ∧ True) with ⟨h, _⟩\n  exact h",
    "in obtain": "theorem boom : False := by\n  obtain ⟨h, _⟩ : False ∧ True := sorry\n  exact h",
    "in exists": "theorem boom : ∃ n : Nat, n = n := by exists sorry",
    "in cases": "theorem boom : 1 = 2 := by cases (sorry : False)",
    "in induction": "theorem boom (n : Nat) : n = 0 := by\n  induction n with\n  | zero => rfl\n  | succ n ih => sorry",
    "in contradiction": "theorem boom : 1 = 2 := by\n  have := (sorry : False)\n  contradiction",
    "in a class of its own": "structure S : Prop where\n  h : False\ndef s : S := ⟨sorry⟩\ntheorem boom : False := s.h",
    "in a constructor's type": (
        "inductive T : Prop where\n  | mk : (fun _ : False => True) sorry → T\ntheorem boom : T := .mk trivial"
    ),
    "in a variable": "variable (h : (sorry : Prop))\ntheorem boom : False := by contradiction",
    "in a namespace of its own": (
        "namespace sorry'\ntheorem boom' : False := sorry\nend sorry'\ntheorem boom : False := sorry'.boom'"
    ),
    "admit": "theorem boom : False := by admit",
    "stop": "theorem boom : False := by\n  stop\n  rfl",
    "a search": "theorem boom : False := by exact?",
    "another search": "theorem boom : False := by apply?",
    "an error inside of a term": "theorem boom : False := absurd rfl (undefined_name : ¬ 1 = 1)",
    "an error inside of a block": "theorem boom : False := by\n  have h : False := undefined_name\n  exact h",
    "an error inside of a nested block": "theorem boom : False ∧ True := ⟨by rfl, trivial⟩",
    "an error in a branch": "theorem boom (n : Nat) : n = n := by\n  cases n\n  · undefined_tactic\n  · rfl",
    "an error in a case": (
        "theorem boom : True ∧ True := by\n  constructor\n  case left => rfl\n  case right => trivial"
    ),
    "a missing value": "theorem boom : False :=",
    "a missing block": "theorem boom : False := by",
}


@attack(DISGUISES)
def test_sorry_is_seen_in_the_text(text):
    refused(text)


@attack(DISGUISES)
def test_sorry_is_seen_among_the_axioms(text):
    env = run(text).state.env
    if "boom" in env:
        assert "sorryAx" in axioms_of(env, "boom")
        answer = Repl(base()).answer({"cmd": f"{text}\n#print axioms boom"})
        assert "sorryAx" in answer["messages"][-1]["data"]


def test_a_sorry_that_leaves_no_trace_in_the_proof_is_still_reported():
    result = run("theorem t : True := by\n  show (fun _ : False => True) sorry\n  trivial")
    assert [m.text for m in result.messages] == ["declaration uses `sorry`"]


STEPS = {
    "sorry": ["sorry"],
    "exact sorry": ["exact sorry"],
    "sorry after skip": ["skip", "sorry"],
    "sorry for one of two goals": ["have h : False", "sorry", "exact h"],
    "sorry inside of have": ["have h : False := sorry", "exact h"],
    "sorry inside of have by": ["have h : False := by sorry", "exact h"],
    "sorry inside of first": ["first | rfl | sorry"],
    "sorry inside of focus": ["· sorry"],
    "the axiom": ["exact sorryAx False true"],
    "the axiom by apply": ["apply sorryAx", "exact true"],
    "the axiom by have": ["have h := sorryAx False true", "exact h"],
    "the axiom under a binder": ["exact (fun h : ∀ p : Prop, p => h False) (fun p => sorryAx p true)"],
    "exfalso and the axiom": ["exfalso", "exact @sorryAx False true"],
    "admit": ["admit"],
    "rewriting by the axiom": ["have h : False = True := sorryAx _ true", "rw [h]", "trivial"],
}


@each("steps", STEPS.values(), ids=STEPS.keys())
def test_a_proof_step_by_step_with_sorry_is_never_complete(steps):
    unproved(": False", *steps)


def repl_after(text: str, *tactics: str) -> dict:
    """The answer to the last of some tactics on the first sorry of a text."""
    repl = Repl(base())
    answer = repl.answer({"cmd": text})
    state = answer["sorries"][0]["proofState"]
    for tactic in tactics:
        answer = repl.answer({"proofState": state, "tactic": tactic})
        state = answer.get("proofState", state)
    return answer


@each("steps", STEPS.values(), ids=STEPS.keys())
def test_the_server_never_calls_a_proof_with_sorry_complete(steps):
    answer = repl_after("example : False := by sorry", *steps)
    assert answer.get("proofStatus") != "Completed"


def test_a_sorry_inside_of_a_larger_proof_does_not_complete_that_proof():
    answer = repl_after("theorem t : True ∧ False := ⟨sorry, sorry⟩", "trivial")
    assert answer["proofStatus"] == "Completed"  # of this sorry's own goal; the text itself keeps its warning
    result = run("theorem t : True ∧ False := ⟨sorry, sorry⟩")
    assert [m.text for m in result.messages] == ["declaration uses `sorry`"]
    assert "sorryAx" in axioms_of(result.state.env, "t")


def test_a_tactic_with_an_inner_sorry_leaves_a_state_that_never_completes():
    repl = Repl(base())
    state = repl.answer({"cmd": "example : False := by sorry"})["sorries"][0]["proofState"]
    answer = repl.answer({"proofState": state, "tactic": "have h : True ∧ False := ⟨trivial, by sorry⟩"})
    inner = answer["sorries"][0]["proofState"]
    assert repl.answer({"proofState": answer["proofState"], "tactic": "exact h.2"})["proofStatus"] != "Completed"
    assert "goals" not in repl.answer({"proofState": inner, "tactic": "trivial"})


def test_a_theorem_that_was_left_open_can_be_used_but_never_trusted():
    repl = Repl(base())
    env = repl.answer({"cmd": "theorem ok : False := sorry"})["env"]
    answer = repl.answer({"cmd": "theorem boom : False := ok\n#print axioms boom", "env": env})
    assert "sorryAx" in answer["messages"][-1]["data"]
    assert not contradictions(repl.envs[answer["env"]])


def test_a_theorem_with_an_error_can_be_used_but_never_trusted():
    repl = Repl(base())
    env = repl.answer({"cmd": "theorem ok : False := rfl"})["env"]
    answer = repl.answer({"cmd": "theorem boom : False := ok\n#print axioms boom", "env": env})
    assert "sorryAx" in answer["messages"][-1]["data"]
    assert not contradictions(repl.envs[answer["env"]])


OPEN = "def a : Nat := sorry\ndef b : Nat := sorry\ndef f (n : Nat) : Nat := sorry\ndef g : Nat → Nat := sorry\n"


@pytest.mark.parametrize(
    ("statement", "holds"),
    [
        ("(sorry : Nat) = sorry", False),
        ("a = b", False),
        ("g 0 = g 1", False),
        ("a = a", True),
        ("f 0 = f 1", True),  # one place, as in Lean: the variable before the colon is no argument of it
    ],
)
def test_two_open_places_are_not_equal(statement: str, holds: bool) -> None:
    for proof in ("rfl", "by rfl", "by decide", "by simp [a, b]", "by unfold a b; rfl"):
        result = run(f"{OPEN}theorem t : {statement} := {proof}")
        errors = [message.text for message in result.messages if message.severity == "error"]
        assert bool(errors) or holds, proof
        assert not errors or not holds or proof != "rfl", errors


def test_two_open_definitions_of_two_commands_are_not_equal() -> None:
    repl = Repl(base())
    number = repl.answer({"cmd": "def a : Nat := sorry"})["env"]
    number = repl.answer({"cmd": "def b : Nat := sorry", "env": number})["env"]
    answer = repl.answer({"cmd": "theorem t : a = b := rfl", "env": number})
    assert answer["messages"][-1]["severity"] == "error"
