"""The examples of README and docs/search.md on the embedded prover, and proofs that go below their line in files."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest

from nanoproof.actors.actor import ActorPool
from nanoproof.actors.tasks import Task
from nanoproof.lean.client import FleetServer
from nanoproof.lean.lean_file import LeanFile
from nanoproof.lean.types import CheckReport, LeanSession, SourceError, Theorem
from nanoproof.policy.factory import SOLVERS
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.cli_input import SorryFiller, with_what_lacks
from nanoproof.prover.interactive import InteractiveProver
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.policy import Policy
from scripts import draw_search
from tests.fakes.policy import saying
from tests.helpers import wait_for

DOCS = Path(__file__).resolve().parents[2] / "docs"


def filled(session: LeanSession, text: str, *tactics: str) -> tuple[SorryFiller, bool]:
    prover = InteractiveProver(Prover(saying(*tactics), SearchConfig(), ProverOptions()), 16, None, 0)
    filler = SorryFiller(LeanFile.parse(text), session)
    return filler, prover.fill(filler, session)


def test_the_example_of_a_file_is_true(session: LeanSession, capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    example = re.search(r"^```lean\n(.*?)^```.*?^```text\n.*?sorries\n(.*?)written to", page, re.DOTALL | re.MULTILINE)
    assert example is not None
    filler, complete = filled(session, example[1], *SOLVERS)
    assert not complete and "  | zero => omega\n" in filler.file.proved()
    times = re.compile(r"\d+\.\d s")
    assert times.sub("", capsys.readouterr().out) == times.sub("", example[2])


def test_the_worked_example_of_the_search_is_true(session: LeanSession, tmp_path: Path) -> None:
    start = session.start(draw_search.THEOREM)
    draw_search.draw(session, start, tmp_path)
    assert any(tmp_path.iterdir())
    for picture in tmp_path.iterdir():
        drawn = (DOCS / "images" / picture.name).read_text(encoding="utf-8")
        assert picture.read_text(encoding="utf-8") == drawn, "python -m scripts.draw_search draws them again"
    page = (DOCS / "search.md").read_text(encoding="utf-8")
    told = [int(number) for number in re.findall(r"^\| [^|]+ \| (\d+) \|$", page, re.MULTILINE)]
    assert told == [int(line.split()[-3]) for line in draw_search.compare(session, start)[1:]]


def test_a_sorry_by_another_name_is_no_concern_of_what_does_not_rest_on_it(session: LeanSession) -> None:
    text = "theorem g (p : Prop) : p := sorryAx p false\n"
    text += "theorem a (p : Prop) (h : p) : p := by\n  sorry\ntheorem b (p : Prop) : p := by\n  sorry\n"
    filler, complete = filled(session, text, "exact h", "exact g p")
    assert [gap.name for gap, _ in filler.settled.filled] == ["a"] and not complete


NESTED = """\
namespace My
variable (p q r : Prop)

theorem inside (h : p ∧ q) : q ∧ p := by
  have swapped : p ∧ q → q ∧ p := by sorry
  exact swapped h

theorem arms (h : p ∨ p) : p ∨ r := by
  cases h with
  | inl h => sorry
  | inr h => sorry

theorem terms (h : p ∧ q) : (q ∧ p) ∧ p := ⟨inside p q sorry, sorry⟩

theorem last (h : p ∧ q) : p := by
  · sorry
end My
"""


def test_proofs_of_several_lines_fit_wherever_a_sorry_stands(session: LeanSession) -> None:
    tactics = ("intro g", "cases g", "cases h", "constructor", "left", "assumption")
    filler, complete = filled(session, NESTED, *tactics)
    text = filler.file.proved()
    assert complete, text
    assert "  have swapped : p ∧ q → q ∧ p := by\n    intro g\n" in text
    assert "  | inl h =>\n    left\n    assumption\n" in text
    assert "sorry" not in text and not filler.foreign_axioms


EVERYWHERE = """\
theorem first (p q : Prop) (h : p) (g : q) : p ∧ q := by exact ⟨h, g⟩

def f (n : Nat) : Nat :=
  match n with
  | 0 => sorry
  | n + 1 => n

def twice := f 1 + f 1

theorem braces (p q : Prop) (h : p) (g : q) : p ∧ q := by { sorry }

theorem brackets (p q : Prop) (h : p) (g : q) : (p ∧ q) ∧ (q ∧ p) := by
  constructor
  · (sorry)
  { sorry }

theorem choice (p q : Prop) (h : p) (g : q) : p ∧ q := by
  first | rfl | sorry

theorem conditions (p q : Prop) (h : p) (g : q) (n : Nat) : p ∧ q := by
  if i : n = 1 then sorry else sorry

theorem arms (p q : Prop) (h : p) (g : q) (n : Nat) : p ∧ q := by
  cases n with | zero => sorry | succ n => sorry

theorem term (p q : Prop) (h : p) (g : q) : p ∧ q := by
  exact have i : p := h; sorry

theorem tactic (p q : Prop) (h : p) (g : q) : p ∧ q := by
  iterate 1 sorry

open Nat in theorem opened (p q : Prop) (h : p) (g : q) : p ∧ q := by sorry
"""


@pytest.mark.parametrize("tactics", [("constructor", "assumption"), ("grind",)])
def test_no_place_of_a_sorry_stands_in_the_way_of_what_follows(session: LeanSession, tactics: tuple[str, ...]) -> None:
    filler, _ = filled(session, EVERYWHERE, *tactics)
    assert [gap.name for gap in filler.file.open_gaps] == ["f"], filler.file.proved()
    assert [gap.name for gap in filler.file.flipped] == ["term"]


@pytest.mark.parametrize("behind", [";", "; done", "\n  done", " <;> simp", "\n  -- more\n  all_goals simp"])
def test_tactics_may_follow_a_sorry(session: LeanSession, behind: str) -> None:
    text = f"theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  sorry{behind}\n\n  theorem u : 1 = 1 := by\n  sorry\n"
    filler, complete = filled(session, text, "have hp := h.1", "exact ⟨h.2, hp⟩", "rfl")
    assert complete and f"exact ⟨h.2, hp⟩{behind}" in filler.file.proved()


def test_a_sorry_for_several_goals_is_left_with_the_reason(
    session: LeanSession, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  constructor\n  all_goals admit\n"
    filled(session, text, "simp_all")
    assert "line 3 t  not proved: expected exactly one sorry, Lean found 2: write one for" in capsys.readouterr().out


def test_a_proof_that_what_follows_refuses_is_taken_out_again(
    session: LeanSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check = session.check
    read = []

    def guarded(source: str, *more: Any, **options: Any) -> CheckReport:
        """Lean's answer where `#check s`, at the end of the file, says that `s` is proved otherwise."""
        read.append(source)
        report = check(source, *more, **options)
        if "#check s" in source and "s : 1 = 1 := by\n  trivial" in source:
            report = replace(report, errors=(*report.errors, "another message"), error_positions=())
        return report

    monkeypatch.setattr(session, "check", guarded)
    text = "theorem s : 1 = 1 := by\n  sorry\n\ntheorem t : 2 = 2 := by\n  sorry\n\n#check s"
    filler, complete = filled(session, text, "trivial")
    assert not complete and [gap.name for gap in filler.file.open_gaps] == ["s"]
    assert "#check s" not in next(source for source in read if "t : 2 = 2 := by\n  trivial" in source)
    assert "1 of 2 proved, 1 left" in (said := capsys.readouterr().out)
    assert "line 2 s is not written: what follows refuses its proof" in said


def test_a_file_with_a_mistake_is_refused(session: LeanSession) -> None:
    with pytest.raises(SourceError, match=r"^Lean refuses the file: line 2, column 19: Unknown identifier `x`$"):
        filled(session, "theorem t : 1 = 1 := by sorry\nexample : 1 = 1 := x")


def test_a_theorem_that_uses_one_with_a_sorry_does_not_make_the_file_complete(session: LeanSession) -> None:
    text = "theorem wrong : 1 = 2 := by sorry\ntheorem uses : 2 = 1 := by sorry"
    filler, complete = filled(session, text, "exact wrong.symm")
    assert not complete and filler.file.proved().endswith("2 = 1 := by\n  exact wrong.symm")
    assert filler.settled.proved() == text, "and it is not written"


@pytest.mark.parametrize("before", ["theorem a : True := trivial", "namespace A", "example : True := (trivial)"])
def test_a_false_theorem_on_the_line_of_another_command_is_not_proved_by_an_open_one(
    session: LeanSession, before: str
) -> None:
    text = f"theorem wrong (n : Nat) : n = n + 1 := by sorry\n{before} theorem uses (n : Nat) : n = n + 1 := by sorry"
    filler, _ = filled(session, text, "exact wrong n")
    assert [gap.name for gap in filler.conditional] == ["uses"]
    assert filler.settled.proved() == text


RESTING = """\
def a : Nat := sorry
def b : Nat := sorry
theorem differ : a = b := by sorry
theorem same : a = a := by sorry
theorem closed : 1 = 1 := by sorry
namespace N
theorem wrong : 1 = 2 := sorry
theorem wrapper : 1 = 2 := wrong
end N
theorem uses : 1 = 2 := by sorry
theorem parts : 1 = 1 ∧ 1 = 2 := by
  constructor
  · sorry
  · sorry
axiom mine : 3 = 4
theorem by_axiom : 3 = 4 := by sorry
"""


def test_a_proof_says_what_it_rests_on(session: LeanSession, capsys: pytest.CaptureFixture[str]) -> None:
    filler, complete = filled(session, RESTING, "rfl", "exact N.wrapper", "exact mine")
    said = re.sub(r"(?<=\w) +", " ", capsys.readouterr().out)
    assert not complete and "3 of 10 proved, 3 if others hold, 7 left in the file" in said, said
    for line in (
        "line 3 differ not proved: no proof found",
        "line 4 same proved, if `a` (line 1) holds, in 1 tactic",
        "line 10 uses proved, if `wrong` (line 7) holds, in 1 tactic",
        "line 10 uses is not written: it is proved if `wrong` (line 7) holds, by\n    exact N.wrapper\n",
    ):
        assert line in said, said
    assert re.search(r"line 16 by_axiom proved in 1 tactic .*, by the axiom mine of the file", said)
    filled_places = [gap.name for gap, _ in filler.settled.filled]
    assert filled_places == ["closed", "parts", "by_axiom"], (
        "the second part of `parts` rests on `wrong`, not the first"
    )


OPEN_LEMMA = """\
theorem a (n : Nat) : n + 0 * n = n := sorry
theorem b (n : Nat) : n + 0 * n + 0 = n := by
  sorry
"""


class OneTheorem:
    """A source of one task for the actors, which keeps what became of it."""

    def __init__(self, theorem: Theorem, purpose: Literal["collect", "evaluate"]) -> None:
        self.purpose, self._tasks, self.attempts = purpose, [Task(theorem, 4, 0, 0)], list[Attempt]()

    def next(self) -> Task | None:
        return self._tasks.pop() if self._tasks else None

    def finish(self, task: Task, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    def hand_over(self, task: Task) -> bool:
        return False


class Leased:
    """A server that always lends one session."""

    address = "leased:1"

    def __init__(self, session: LeanSession) -> None:
        self._session = session

    def lease(self, timeout: float) -> Any:
        return SimpleNamespace(
            start=self._session.start, apply=self._session.apply, check=self._session.check, close=lambda: None
        )


@pytest.mark.parametrize(
    ("tactic", "purpose", "outcome"),
    [
        ("exact a n", "collect", "proven"),
        ("exact a n", "evaluate", "unproven"),
        ("exact {stand_in}", "collect", "unproven"),
    ],
)
def test_what_is_learned_may_rest_on_an_open_lemma_and_what_is_scored_may_not(
    session: LeanSession, tactic: str, purpose: Literal["collect", "evaluate"], outcome: str
) -> None:
    file = LeanFile.parse(OPEN_LEMMA)
    tactic = tactic.format(stand_in=file.stand_in(file.gaps[0]))
    source = OneTheorem(file.theorem(file.gaps[1], "repo-x", "b"), purpose)

    def make(_: str, policy: Policy) -> Prover:
        return Prover(policy, SearchConfig(finishers=()), ProverOptions())

    pool = ActorPool([cast("FleetServer", Leased(session))], saying(tactic), make)
    try:
        pool.set_source(source)
        wait_for(lambda: bool(source.attempts))
    finally:
        pool.stop()
        pool.join()
    [attempt] = source.attempts
    assert attempt.outcome == outcome
    assert outcome == "proven" or file.stand_in(file.gaps[0]) in attempt.message
    assert outcome == "unproven" or attempt.check["rests_on"] == [file.stand_in(file.gaps[0])]


def test_what_nanolean_lacks_is_said_where_it_can_be_the_reason() -> None:
    unknown = "line 5, column 15: Unknown identifier `ℝ`"
    of_file = with_what_lacks(unknown, "import Mathlib.Data.Real.Basic\ntheorem t (x : ℝ) : x = x := sorry")
    assert of_file == (
        f"{unknown}: NanoLean has no Mathlib.Data.Real.Basic, which the file imports; --lean-servers names a real Lean"
    )
    of_theorem = with_what_lacks(unknown, "theorem t (x : ℝ) : x = x := sorry")
    assert of_theorem == f"{unknown}: NanoLean has no Mathlib (no reals, sets, ...); --lean-servers names a real Lean"
    assert with_what_lacks("type mismatch", "import Mathlib\n") == "type mismatch"
    command = "unexpected identifier 'snip'; expected command"
    assert with_what_lacks(command, "import Own", library="Mathlib.Tactic") == (
        f"{command}: NanoLean has no Mathlib.Tactic, which the file imports; --lean-servers names a real Lean"
    )
    assert with_what_lacks(command, "import Own", library="") == command
    own = "Unknown identifier `rec1`"
    assert with_what_lacks(own, "theorem rec1 (n : Nat) : n = n := by\n  exact rec1 (by sorry)") == own


def test_no_reason_names_the_axioms_that_stand_for_sorries(session: LeanSession) -> None:
    heads = [f"theorem t{number} : {number} = 0 := by\n  sorry\n" for number in range(11)]
    filler = SorryFiller(LeanFile.parse("\n".join(heads)), session)
    gaps = filler.file.gaps
    first, last = filler.file.stand_in(gaps[0]), filler.file.stand_in(gaps[10])
    attempt = Attempt(filler.theorem(gaps[5]), "unproven", message=f"rests on `{last}`\nand {first}")
    assert filler.explain(gaps[5], attempt) == "rests on `t10` (line 31) and `t0` (line 1)"
