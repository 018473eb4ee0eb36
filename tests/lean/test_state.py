"""Proof states: reading and printing goals as Lean does, and the form that servers exchange."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanolean.tests.each import each
from nanoproof.lean.types import Goal, Hypothesis, ProofState, ProtocolError, parse_goal, parse_state


def test_goal_prints_tag_hypotheses_and_target() -> None:
    goal = Goal("p ∧ q", (Hypothesis("p", "Prop"), Hypothesis("hp", "p")), "left")
    assert str(goal) == "case left\np : Prop\nhp : p\n⊢ p ∧ q"


def test_neighbours_of_one_type_share_a_line() -> None:
    goal = Goal("a = b", (Hypothesis("a", "Nat"), Hypothesis("b", "Nat"), Hypothesis("h", "p"), Hypothesis("c", "Nat")))
    assert str(goal) == "a b : Nat\nh : p\nc : Nat\n⊢ a = b"


def test_names_with_values_are_not_grouped() -> None:
    goal = Goal("x = y", (Hypothesis("x", "Nat"), Hypothesis("y", "Nat", "3")))
    assert str(goal) == "x : Nat\ny : Nat := 3\n⊢ x = y"
    assert parse_goal(str(goal)) == goal


def test_shared_lines_are_read_as_one_hypothesis_each() -> None:
    goal = parse_goal("a b✝ «odd name» : Nat\n⊢ a = a")
    assert [h.user_name for h in goal.hypotheses] == ["a", "b✝", "«odd name»"]


def test_assignment_inside_braces_belongs_to_the_type() -> None:
    text = "h : R = (GaussianInt ⧸ span {{ re := 0, im := 1 }})\n⊢ IsField R"
    assert parse_goal(text).hypotheses[0].value is None
    assert str(parse_goal(text)) == text


def test_assignment_of_a_let_in_a_type_belongs_to_the_type() -> None:
    goal = parse_goal("h : let x := 3; x = 3\nk : Nat := 4\n⊢ True")
    assert [h.value for h in goal.hypotheses] == [None, "4"]


def test_types_over_several_lines_survive_the_round_trip() -> None:
    text = "h : a\nX : Type u_1\n⊢ ∃! T',\n    topology X T' ∧\n      ∀ (i : I), T i ⊆ T'"
    assert str(parse_goal(text)) == text
    assert parse_goal(text).type == "∃! T',\n  topology X T' ∧\n    ∀ (i : I), T i ⊆ T'"


@each(
    ("line", "names", "type_text", "value"),
    [
        ("f : ℝ → ℝ", ["f"], "ℝ → ℝ", None),
        ("h₀ h₁' : ∀ x : ℕ, x < 3 → ∃ y : ℤ, ↑x = y", ["h₀", "h₁'"], "∀ x : ℕ, x < 3 → ∃ y : ℤ, ↑x = y", None),
        ("S : Finset ℕ := {x : ℕ | x ∣ 6}.toFinset", ["S"], "Finset ℕ", "{x : ℕ | x ∣ 6}.toFinset"),
        ("hS : ↑S = {(x, y) : ℕ × ℕ | x * y = 4}", ["hS"], "↑S = {(x, y) : ℕ × ℕ | x * y = 4}", None),
        ("h : ⌊√7⌋ + ⌈π⌉₊ = ‖z‖ - |a - b|", ["h"], "⌊√7⌋ + ⌈π⌉₊ = ‖z‖ - |a - b|", None),
        ("e : (fun x : ℝ ↦ x ^ 2) '' s ⊆ t", ["e"], "(fun x : ℝ ↦ x ^ 2) '' s ⊆ t", None),
        ("σ : Equiv.Perm (Fin 3) := c[0, 1]", ["σ"], "Equiv.Perm (Fin 3)", "c[0, 1]"),
        ("inst✝¹ : Fintype α", ["inst✝¹"], "Fintype α", None),
        ("x✝ : have y := 2; y = 2", ["x✝"], "have y := 2; y = 2", None),
        ("g : ℕ → ℕ := fun n ↦ let m := n; m", ["g"], "ℕ → ℕ", "fun n ↦ let m := n; m"),
        ("this : ¬5 ∣ 10 :: []", ["this"], "¬5 ∣ 10 :: []", None),
        ("«odd : name» : Prop", ["«odd : name»"], "Prop", None),
    ],
)
def test_a_line_is_cut_into_names_type_and_value(
    line: str, names: list[str], type_text: str, value: str | None
) -> None:
    goal = parse_goal(f"{line}\n⊢ ∀ x : ℕ, x = x")
    assert goal.hypotheses == tuple(Hypothesis(name, type_text, value) for name in names)
    assert goal.type == "∀ x : ℕ, x = x"
    assert str(goal) == f"{line}\n⊢ ∀ x : ℕ, x = x"


def test_a_type_that_is_too_long_starts_on_its_own_line() -> None:
    long = " + ".join(["aaaaaaaaaa"] * 11) + " = 0"
    text = f"h :\n  {long}\n⊢ True"
    assert parse_goal(text).hypotheses[0].type == long
    assert str(parse_goal(text)) == text


def test_states_are_separated_by_empty_lines() -> None:
    text = "case zero\n⊢ 0 = 0\n\ncase succ\nn✝ : Nat\n⊢ n✝ + 1 = 0"
    state = parse_state(text)
    assert [goal.tag for goal in state.goals] == ["zero", "succ"]
    assert str(state) == text


def test_no_text_is_no_goals() -> None:
    assert parse_state("").goals == ()


def test_merge_key_ignores_case_tags_only() -> None:
    left, right = parse_state("case a\nx : Nat\n⊢ x = x"), parse_state("case b\nx : Nat\n⊢ x = x")
    assert left.text != right.text
    assert left.merge_key == right.merge_key
    assert left.merge_key != parse_state("y : Nat\n⊢ y = y").merge_key


@pytest.mark.parametrize("text", ["nonsense", "h : p", "no colon here\n⊢ p"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ProtocolError):
        parse_goal(text)


@pytest.mark.parametrize(
    "wire", [{}, {"type": 3, "hypotheses": []}, {"type": "p", "hypotheses": [{"type": "q"}]}, None]
)
def test_other_objects_are_refused(wire: object) -> None:
    with pytest.raises(ProtocolError):
        Goal.from_wire(wire)  # type: ignore[arg-type]


def test_absent_value_and_tag_are_left_out_of_the_wire_form() -> None:
    assert Goal("p", (Hypothesis("p", "Prop"),)).to_wire() == {
        "type": "p",
        "hypotheses": [{"type": "Prop", "user_name": "p"}],
    }


_NAMES = st.from_regex(r"[a-zα-ω][a-z0-9_'✝]{0,4}", fullmatch=True)
_TYPES = st.lists(
    st.sampled_from(["a", "→", "∀ (n : Nat),", "{ x := 1 }", "[b]", "≤", "(c : d)"]), min_size=1, max_size=6
)
_HYPOTHESES = st.builds(Hypothesis, _NAMES, _TYPES.map(" ".join), st.none() | _TYPES.map(" ".join))
_GOALS = st.builds(Goal, _TYPES.map(" ".join), st.lists(_HYPOTHESES, max_size=5).map(tuple), st.none() | _NAMES)


@pytest.mark.nightly
@given(st.lists(_GOALS, max_size=3).map(lambda goals: ProofState(tuple(goals))))
def test_text_and_wire_form_lose_nothing(state: ProofState) -> None:
    assert parse_state(str(state)) == state
    assert ProofState.from_wire(json.loads(json.dumps(state.to_wire()))) == state


def test_metavariables_are_numbered_as_they_appear() -> None:
    """Lean's own numbers depend on what its process did before."""
    early, late = (parse_state(f"h : ?m.{n + 1} = ?m.{n}\n⊢ p ?m.{n}\n\n⊢ ?m.{n + 1} < 2") for n in (7, 312))
    assert early.text == late.text == "h : ?m.1 = ?m.2\n⊢ p ?m.2\n\n⊢ ?m.1 < 2"
    assert early.merge_key == late.merge_key
    assert parse_state("⊢ ?m.7 = ?m.8").text != parse_state("⊢ ?m.7 = ?m.7").text
    assert parse_state("⊢ ?x + y?m.1 = ?m.12.1").text == "⊢ ?x + y?m.1 = ?m.12.1"
