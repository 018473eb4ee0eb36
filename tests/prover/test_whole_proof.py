"""Whole proofs: what is taken from a model's text, what is refused by name, and verdicts of the real check."""

import pytest

from nanolean.tests.each import each
from nanoproof.lean.answers import LONGEST_TEXT, Unreadable, read_proofs, written_proof
from nanoproof.lean.types import LeanSession, ProcessLost, Theorem
from nanoproof.prover.attempt import Attempt, fault_of
from nanoproof.prover.whole_proof import Candidate, Verifier, named_premises
from tests.fakes.lean import ScriptedLean
from tests.prover.red_team import table

SWAP = Theorem("theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  sorry", "made", "swap")
FALSE = Theorem("theorem boom : False := by\n  sorry", "made", "boom")
PROOF = "constructor\n· exact h.2\n· exact h.1"
STATED = "theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p := by"


def indented(text: str, by: str = "  ") -> str:
    return "\n".join(by + line for line in text.split("\n"))


# -- the text --------------------------------------------------------------------------------------------------------

READ = {
    "tactics": (PROOF, [PROOF]),
    "tactics below the statement": ("\n" + indented(PROOF), [PROOF]),
    "a word of the prompt once more": (f" by\n{indented(PROOF)}", [PROOF]),
    "a value": (f":= by\n{indented(PROOF)}", [PROOF]),
    "a term": (":= ⟨h.2, h.1⟩", ["exact (⟨h.2, h.1⟩\n)"]),
    "one line": (" exact ⟨h.2, h.1⟩", ["exact ⟨h.2, h.1⟩"]),
    "the theorem once more": (f"{STATED}\n{indented(PROOF)}", [PROOF]),
    "the theorem in other lines": (
        "theorem swap\n    (p q : Prop) (h : p ∧ q) :\n    q ∧ p := by -- easy\n" + indented(PROOF),
        [PROOF],
    ),
    "a lemma": (f"{STATED.replace('theorem', 'lemma')}\n{indented(PROOF)}", [PROOF]),
    "a term for the theorem": (f"{STATED.removesuffix(' by')} ⟨h.2, h.1⟩", ["exact (⟨h.2, h.1⟩\n)"]),
    "a file": (
        f"import Mathlib\nimport Aesop\n\nset_option maxHeartbeats 0\n\nopen Nat Real\n/-- It swaps. -/\n{STATED}\n"
        + indented(PROOF),
        [PROOF],
    ),
    "indented by the prompt, or nested": (
        "constructor\n  · exact h.2\n  · exact h.1",
        [PROOF, "constructor\n  · exact h.2\n  · exact h.1"],
    ),
}


@each("name", READ)
def test_every_form_of_a_proof_is_read(name: str) -> None:
    text, expected = READ[name]
    assert [proof.strip() for proof in read_proofs(SWAP, text)] == expected


@each("name", READ)
def test_every_form_of_a_proof_is_proved(session: LeanSession, name: str) -> None:
    attempt, _ = Verifier().verify(session, Candidate(SWAP, READ[name][0], 7))
    assert (attempt.outcome, attempt.message, attempt.sample) == ("proven", "", 7)


def test_a_namespace_of_the_source_may_be_written_once_more(session: LeanSession) -> None:
    source = "namespace N\ndef two := 2\ntheorem t : two = 2 := by\n  sorry"
    text = "namespace N\n\ndef two := 2\ntheorem t : two = 2 := by\n  rfl"
    attempt, _ = Verifier().verify(session, Candidate(Theorem(source), text))
    assert (attempt.outcome, attempt.message) == ("proven", "")


# -- red team ----------------------------------------------------------------------------------------------------

WHOLE = "theorem boom : False := by"
REFUSED: dict[str, tuple[str, str, str]] = {
    # what is tried: the text, where it is refused, and a part of the reason
    "sorry": ("sorry", "words", "`sorry` is not allowed"),
    "sorry in a whole file": (f"import Mathlib\n{WHOLE}\n  sorry", "words", "`sorry` is not allowed"),
    "admit": ("admit", "words", "`admit` is not allowed"),
    "an axiom after the proof": (f"{WHOLE}\n  exact lie\n\naxiom lie : False", "whole_text", "lie"),
    "an axiom before the theorem": (f"axiom lie : False\n{WHOLE}\n  exact lie", "unreadable", "`axiom lie : False`"),
    "an axiom by computation": ("native_decide", "words", "`native_decide` is not allowed"),
    "another statement of that name": ("theorem boom : True := by\n  trivial", "unreadable", "another theorem"),
    "another theorem": ("theorem other : True := by\n  trivial", "unreadable", "another theorem"),
    "a weaker statement": ("theorem boom (h : False) : False := by\n  exact h", "unreadable", "another theorem"),
    "an example": ("example : False := by\n  exact (sorry)", "unreadable", "another theorem"),
    "the theorem, and another one first": (
        f"theorem lie : False := by\n  sorry\n{WHOLE}\n  exact lie",
        "unreadable",
        "holds more than the theorem and its proof: `theorem lie : False := by`",
    ),
    "a definition that shadows": (f"def False := True\n{WHOLE}\n  trivial", "unreadable", "`def False := True`"),
    "a notation": (f'notation "False" => True\n{WHOLE}\n  trivial', "unreadable", "notation"),
    "a namespace that shadows": (f"namespace A\ndef False := True\n{WHOLE}\n  trivial", "unreadable", "`namespace A`"),
    "a namespace that is closed and opened": (f"end A\nnamespace B\n{WHOLE}\n  trivial", "unreadable", "`end A`"),
    "a namespace after the proof": ("trivial\n\n namespace A", "words", "`namespace` begins a command"),
    "a variable that is assumed": (f"variable (h : False)\n{WHOLE}\n  exact h", "unreadable", "`variable (h : False)`"),
    "an end of a comment": ("trivial -/", "words", "`-/` ends a comment that was not begun"),
    "a comment that hides the rest": ("trivial /-", "words", "a comment has no end"),
    "a comment that ends the theorem": (
        "trivial /- -/\n-/ theorem boom2 : True := trivial /-",
        "words",
        "`theorem` begins a command",
    ),
    "a parenthesis that closes ours": ("trivial)\n #eval 1 (", "words", "`#eval` begins a command"),
    "a parenthesis alone": ("trivial)", "words", "`)` closes a parenthesis"),
    "an import": ("import Mathlib\nexact lie", "words", "`import` begins a command"),
    "an import of what nobody knows": (
        f"import Evil.Axioms\n{WHOLE}\n  exact lie",
        "whole_text",  # imports are left out
        "Lean refuses the finished text",
    ),
    "a command after the proof": ("trivial\n #eval 1", "words", "`#eval` begins a command"),
    "a theorem after the proof": ("trivial\n theorem x : True := trivial", "words", "`theorem` begins a command"),
    # At the margin it is left out, as a model may go on with the next theorem.
    "a theorem after the proof, at the margin": ("trivial\ntheorem x : True := trivial", "whole_text", "finished text"),
    "a macro": ('macro "cheat" : tactic => `(tactic| sorry)\n' + f"{WHOLE}\n  cheat", "unreadable", "macro"),
    "an attribute": ("@[simp] theorem x : False = True := by simp", "unreadable", "another theorem"),
    "a megabyte": ("simp\n" * 200_000, "unreadable", "the text has 1,000,000 characters"),
    "a megabyte of one line": ("(" * 1_000_000, "unreadable", "a proof may have 100,000"),
    "a megabyte of a theorem": (f"{WHOLE}\n" + "  simp\n" * 150_000, "unreadable", "a proof may have 100,000"),
    "nothing": ("  \n", "unreadable", "the text is empty"),
    "a comment alone": ("-- it is clear", "unreadable", "the text is empty"),
    "a statement without a proof": ("theorem boom : False", "unreadable", "no proof of it"),
    "a statement and no tactics": (f"{WHOLE}\n", "unreadable", "the proof is empty"),
    "an honest try": ("simp", "whole_text", "Lean refuses the finished text"),
    "a proof of a gap": ("have h : False := by sorry\nexact h", "words", "`sorry` is not allowed"),
    "a search": ("exact?", "words", "searches instead of proving"),
    "characters that cannot be seen": ("tri\u200bvial", "words", "U+200B"),
    "a lone surrogate": ("exact \udc80", "words", "U+DC80"),
}


@each("name", REFUSED)
def test_fakes_are_refused_by_name(session: LeanSession, name: str) -> None:
    text, rung, reason = REFUSED[name]
    attempt, errors = Verifier().verify(session, Candidate(FALSE, written_proof(FALSE, text)))
    assert (attempt.outcome, attempt.stop_reason) == ("unproven", rung)
    assert reason in attempt.message and errors
    assert not (attempt.proof or attempt.source or attempt.transitions or attempt.check)
    assert len(attempt.text) <= LONGEST_TEXT


@each("trick", table("tricks"), ids=lambda entry: entry["id"])
def test_no_trick_of_the_final_check_works_as_a_whole_proof(session: LeanSession, trick: dict[str, str]) -> None:
    theorem = Theorem(trick.get("source", FALSE.source), "red team", trick["id"])
    for text in (trick["proof"], f"import Mathlib\n{theorem.source.replace('sorry', trick['proof'].strip())}"):
        attempt, _ = Verifier().verify(session, Candidate(theorem, written_proof(theorem, text)))
        assert attempt.outcome in ("unproven", "error") and not attempt.source


def test_a_have_without_a_type_is_allowed_here(session: LeanSession) -> None:
    attempt, _ = Verifier().verify(session, Candidate(SWAP, "have a := h.1\nexact ⟨h.2, a⟩"))
    assert attempt.outcome == "proven"


# -- verdicts ----------------------------------------------------------------------------------------------------


def test_a_proof_is_an_attempt_of_one_edge_that_can_be_learned_from(session: LeanSession) -> None:
    attempt, errors = Verifier("some model").verify(session, Candidate(SWAP, PROOF, 3, seed=5, num_tokens=9))
    assert errors == () and fault_of(attempt) == ""
    (edge,) = attempt.transitions
    assert edge.state == "p q : Prop\nh : p ∧ q\n⊢ q ∧ p" and (edge.tactic, edge.depth) == (PROOF, 1)
    assert (attempt.num_tactics, attempt.seed, attempt.policy) == (1, 5, "some model")
    assert attempt.check is not None and attempt.check["statement"] == "swap (p q : Prop) (h : p ∧ q) : q ∧ p"
    assert attempt.counts == {"simulations": 1, "tactic_samples": 1, "tokens": 9}
    assert Attempt.from_json(attempt.to_json()) == attempt


def test_lean_says_which_constants_a_proof_uses(session: LeanSession) -> None:
    attempt, _ = Verifier().verify(session, Candidate(SWAP, "exact And.intro h.2 h.1"))
    assert attempt.premises_from == "lean" and "And.intro" in attempt.premises


def test_premises_are_names_in_the_text_where_lean_does_not_say() -> None:
    names = {"Nat.add_comm", "Nat.le_antisymm", "And.intro", "List.map_map"}
    theorem = Theorem("open Nat List\ntheorem t : True := by sorry")
    proof = "rw [add_comm, ← Nat.add_comm.symm] -- And.intro\nexact le_antisymm h (List.map_mapx)"
    assert named_premises(theorem, proof, names) == ("Nat.add_comm", "Nat.le_antisymm")
    attempt, _ = Verifier(names=names).verify(ScriptedLean({}), Candidate(SWAP, "exact And.intro h.2 h.1"))
    assert (attempt.outcome, attempt.premises, attempt.premises_from) == ("proven", ("And.intro",), "names")


def test_a_refused_statement_is_an_error_of_every_sample() -> None:
    attempt, _ = Verifier().verify(ScriptedLean({}, root=None), Candidate(SWAP, PROOF))
    assert attempt.refused and attempt.stop_reason == "TheoremRejected"


def test_a_lost_server_is_no_verdict() -> None:
    def lose(source: str) -> None:
        raise ProcessLost("gone")

    attempt, errors = Verifier().verify(ScriptedLean({}, report=lose), Candidate(SWAP, PROOF))  # type: ignore[arg-type]
    assert (attempt.outcome, attempt.stop_reason, errors) == ("error", "ProcessLost", ())


def test_patience_is_a_factor_on_the_time_limit() -> None:
    given: list[float | None] = []

    class Timed(ScriptedLean):
        def check(self, source: str, seconds: float | None = None, since: int = 0):  # type: ignore[no-untyped-def]
            given.append(seconds)
            return super().check(source)

    Verifier(seconds=10).verify(Timed({}), Candidate(SWAP, PROOF), patience=4)
    assert set(given) == {40.0}


def test_equal_texts_of_one_theorem_have_one_digest() -> None:
    assert Candidate(SWAP, PROOF, 1).digest == Candidate(SWAP, PROOF, 2, seed=3).digest
    assert Candidate(SWAP, PROOF).digest != Candidate(FALSE, PROOF).digest
    verdict = Verifier().verify(ScriptedLean({}), Candidate(SWAP, PROOF, 1))[0]
    copy = Candidate(SWAP, PROOF, 4, num_tokens=3, finished=False).attempt(verdict)
    assert (copy.outcome, copy.sample, copy.seconds) == ("proven", 4, {})
    assert copy.counts == {"simulations": 1, "tactic_samples": 1, "tokens": 3, "cut_off": 1, "copies": 1}


def test_a_gap_within_a_proof_takes_tactics_only() -> None:
    gap = Theorem("theorem t : True ∧ True := by\n  constructor\n  · trivial\n  · sorry")
    assert read_proofs(gap, "trivial") == ["trivial"]
    with pytest.raises(Unreadable, match="was to fill a gap"):
        read_proofs(gap, "theorem t : True ∧ True := by\n  simp")
