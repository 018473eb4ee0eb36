"""Steps that a proof state itself suggests, by its text."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nanolean.tests.each import each
from nanoproof.lean.types import Theorem
from nanoproof.policy import printed_types as printed
from nanoproof.policy.added_tactics import with_added_tactics
from nanoproof.policy.baselines import UniformPolicy
from nanoproof.policy.statement_definitions import Definitions
from nanoproof.policy.step_tactics import steps
from nanoproof.retrieval.corpus import CorpusPremise
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.search.policy import policy_for

# -- types by their text ---------------------------------------------------------------------------------------------


def fact(text: str) -> printed.Fact:
    return printed.read_fact(printed.tokens_of(text))


@each(
    ("text", "arguments", "conclusion"),
    [
        ("∀ (x : Nat), P x → Q (x + 1)", ["x", ""], "Q (x + 1)"),
        ("∀ x y, x < y → y < x → False", ["x", "y", "", ""], "False"),
        ("∀ m < n, P m", ["m", ""], "P m"),
        ("∀ (a b : Nat) {c : Nat}, a = c", ["a", "b", "c"], "a = c"),
        ("¬P n", [""], "False"),
        ("n ≠ 0", [""], "False"),
        ("p → q ∧ r", [""], "q ∧ r"),
        ("(∃ x, P x → Q x) → r", [""], "r"),
        ("p ∧ (q → r)", [], "p ∧ (q → r)"),
        ("∃ x, P x → Q x", [], "∃ x, P x → Q x"),
    ],
)
def test_facts_are_taken_apart(text: str, arguments: list[str], conclusion: str) -> None:
    read = fact(text)
    assert [argument.name for argument in read.arguments] == arguments
    assert printed.text_of(read.conclusion) == conclusion


def fitted(pattern: str, target: str, variables: str) -> dict[str, str] | None:
    found = printed.fit(printed.tokens_of(pattern), printed.tokens_of(target), frozenset(variables.split()), {})
    return None if found is None else {name: printed.text_of(value) for name, value in found.items()}


def test_a_variable_fits_a_term_with_its_brackets_and_the_same_one_each_time() -> None:
    assert fitted("f x < y", "f (a + 1) < b * c", "x y") == {"x": "a + 1", "y": "b * c"}
    assert fitted("R x x", "R (a + 1) (a + 1)", "x") == {"x": "a + 1"}
    assert fitted("R x x", "R a b", "x") is None
    assert fitted("x ≤ y", "∀ (n m : Nat), n ≤ m", "x y") is None, "a quantifier is no term"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("n.gcd (n + 2) ∣ (f n).gcd (n + 1)", "Nat.gcd n (n + 2) ∣ Nat.gcd (f n) (n + 1)"),
        ("g t.size t.left.size = (mirror t).size + 1", "g (Tree.size t) (Tree.size t.left) = Tree.size (mirror t) + 1"),
        ("t.insert 3 = (h x.size).size", "Tree.insert t 3 = Tree.size (h (Tree.size x))"),
        ("f (g x).size y = (a.size).size", "f (Tree.size (g x)) y = Tree.size (Tree.size a)"),
        ("List.size x = xs.map f", "List.size x = xs.map f"),
    ],
)
def test_dotted_functions_are_found_by_their_names(text: str, written: str) -> None:
    functions = ("Nat.gcd", "Tree.size", "Tree.insert")
    assert printed.text_of(printed.undotted(printed.tokens_of(text), functions)) == written


@example(".{")
@given(st.text(alphabet="abhPxyn (){}⟨⟩[]∀∃,→∧∨¬=<≤+*:.✝?0123456789\n⊢|", max_size=60))
def test_no_text_breaks_the_readers(text: str) -> None:
    printed.read_fact(printed.tokens_of(text))
    printed.read_declared(f"theorem t {text}")
    assert len(steps(f"h : {text}\n⊢ {text}", most=9)) <= 9
    Definitions.of(f"inductive T {text}\ndef f {text}\ntheorem t : p := by\n  sorry")


# -- steps -----------------------------------------------------------------------------------------------------------


@each(
    ("state", "wanted"),
    [
        ("h : ∃ x y, x < y ∧ p\n⊢ q", ["obtain ⟨x, y, h1, h2⟩ := h"]),
        ("h : p ∧ q ∨ r\n⊢ q", ["rcases h with ⟨h1, h2⟩ | h"]),
        ("h : p ∨ r\n⊢ q", ["rcases h with h | h"]),
        ("a b : Nat\nh : a ∣ b\n⊢ p", ["obtain ⟨k, hk⟩ := h"]),
        ("f : Nat → Nat\nx : Nat\nh : f x = x + 1\n⊢ f (f x) = 2", ["rw [h]"]),
        ("f : Nat → Nat\nx : Nat\nh : ∀ (n : Nat), f (n + 1) = n\n⊢ f (x + 1) = x", ["rw [h]"]),
        ("a b : Nat\nh : a = b\nh1 : a < 3\n⊢ p", ["rw [h] at h1"]),
        ("P : Nat → Prop\na : Nat\nh : ∀ (x : Nat), P x → P (x + 1)\nh1 : P a\n⊢ p", ["have h2 := h a h1"]),
        ("P : Nat → Prop\na : Nat\nih : ∀ (m : Nat), m < a → P m\n⊢ P (a / 2)", ["have h := ih (a / 2) (by omega)"]),
        ("n : Nat\nh : ∀ (x : Nat), ∃ y, x < y\n⊢ p", ["obtain ⟨y, h1⟩ := h n"]),
        ("p : Prop\nh : ¬p\nh1 : p\n⊢ q", ["exact (h h1).elim"]),
        ("a n : Nat\n⊢ (if n = 0 then a else n) ≤ a + n", ["by_cases h : n = 0", "split"]),
        ("b : Bool\n⊢ (!b) = b.not", ["cases b with | false => ?_ | true => ?_"]),
        (
            "n m : Nat\n⊢ n + m = m + n",
            [
                "induction n generalizing m with | zero => ?_ | succ n ih => ?_",
                "induction n with | zero => ?_ | succ n ih => ?_",
                "induction n using Nat.strongRecOn generalizing m with | _ n ih => ?_",
                "rcases Nat.lt_or_ge n m with h | h",
            ],
        ),
        ("P Q : Nat → Prop\n⊢ ∀ (x : Nat), P x → Q x", ["intro x h"]),
        ("a b : Nat\nh : a = b\n⊢ a ≤ b ∧ b ≤ a", ["constructor", "simp_all"]),
        ("p q : Prop\n⊢ p ∨ q", ["left", "right"]),
        ("m : Nat\n⊢ ∃ k, m + m + 1 = 2 * k + 1", ["exact ⟨(m + m + 1) / 2, by omega⟩", "refine ⟨m, ?_⟩"]),
        ("P : Nat → Prop\nh : ∀ (n : Nat), P n → P (n + 2)\nm : Nat\n⊢ P (m + 2)", ["apply h"]),
        ("a b c : Nat\nh : a ≤ b\n⊢ a ≤ c", ["refine Nat.le_trans h ?_"]),
        ("a b c : Nat\nh : a ∣ b\n⊢ a ∣ b * c", ["refine Nat.dvd_trans ?_ (Nat.dvd_mul_right _ _)"]),
        ("R : Nat → Nat → Prop\na b : Nat\nh : R a b\n⊢ R ?x b", ["exact h"]),
        ("a b : Nat\nh : a ∣ b\nh1 : b ∣ a\n⊢ p", ["have h2 := Nat.dvd_antisymm h h1"]),
        ("f : Nat → Nat\nh : ∀ (x y : Nat), f (x + y) = f x + f y\n⊢ f 0 = 0", ["have h1 := h 0 0"]),
        ("xs ys : List α\n⊢ xs.length = 0", ["induction xs with | nil => ?_ | cons x xs ih => ?_"]),
    ],
)
def test_a_state_suggests_its_steps(state: str, wanted: list[str]) -> None:
    assert set(wanted) <= set(steps(state))


def test_inaccessible_and_bound_names_are_not_written() -> None:
    text = "n✝ n : Nat\nh✝ : n = n✝\nh : ∀ x, f x = if x = 0 then 1 else 2\n⊢ f n = 1"
    assert not [step for step in steps(text) if "✝" in step or "by_cases" in step]


SOURCE = """inductive Tree where
  | leaf
  | node (left : Tree) (value : Nat) (right : Tree)

inductive EvenE : Nat → Prop where
  | zero : EvenE 0
  | add_two (n : Nat) (h : EvenE n) : EvenE (n + 2)

def size : Tree → Nat
  | Tree.leaf => 0
  | Tree.node l _ r => size l + 1 + size r

inductive Color where
  | red
  | green

def Odd (n : Nat) : Prop := ∃ k, n = 2 * k + 1

theorem t (n : Nat) (s : Tree) (h : EvenE n) : size s = n := by
  sorry"""


def test_what_a_statement_defines_is_unfolded_and_recursed_on() -> None:
    suggested = steps("n : Nat\ns : Tree\nh : EvenE n\n⊢ size s = n", Definitions.of(SOURCE))
    assert "rw [size]" in suggested
    names = "left value right ih ih1"
    assert f"induction s generalizing n with | leaf => ?_ | node {names} => ?_" in suggested
    assert "rcases h with _ | ⟨n1, h⟩" in suggested


def test_what_a_statement_defines_is_closed_by_induction_or_by_cases_with_simp() -> None:
    definitions = Definitions.of(SOURCE)
    assert "induction s <;> first | (simp_all [size] <;> first | omega | grind) | grind [size]" in steps(
        "s : Tree\n⊢ size s = size s + 0", definitions
    )
    assert "cases x <;> cases y <;> rfl" in steps("x y : Color\n⊢ f x y = f y x", definitions)
    assert not [step for step in steps("n : Nat\n⊢ n = n + 0", definitions) if "cases n <;>" in step]


RECURSIVE = """def power (b : Nat) : Nat → Nat
  | 0 => 1
  | n + 1 => power b n * b
def shifted (f : Nat → Nat) (l : List Nat) (k : Nat) : List Nat := match l with
  | [] => []
  | x :: l => f (x + k) :: shifted f l k
def choose : Nat → Nat → Nat
  | _, 0 => 1
  | 0, _ + 1 => 0
  | n + 1, k + 1 => choose n k + choose n (k + 1)
def Tree.size : Tree → Nat
  | .leaf => 0
  | .node l _ r => l.size + 1 + r.size
def half (n : Nat) : Nat := n / 2
"""


def test_the_argument_that_a_definition_recurs_on_is_read_from_its_cases() -> None:
    places = {"power": 1, "shifted": 1, "choose": 0, "Tree.size": 0}
    assert dict(Definitions.of(RECURSIVE + "theorem t : p := by sorry").recursive_places) == places


@pytest.mark.parametrize(
    ("state", "first"),
    [
        ("b m n : Nat\n⊢ power b (m + n) = power b m * power b n", "n"),
        ("k : Nat\nxs : List Nat\n⊢ (shifted f xs k).length = xs.length", "xs"),
        ("b : Nat\np : Nat → Nat → Nat\nh : ∀ (x n : Nat), p x (n + 1) = p x n * x\nn : Nat\n⊢ p b n = b ^ n", "n"),
    ],
)
def test_inductions_are_first_over_what_the_functions_of_the_goal_recur_on(state: str, first: str) -> None:
    inductions = [step for step in steps(state, Definitions.of(RECURSIVE)) if step.startswith("induction")]
    assert inductions[0].startswith(f"induction {first} ")


def test_an_own_proposition_is_taken_for_what_it_says() -> None:
    suggested = steps("m n : Nat\nh : Odd m\n⊢ Odd (m + 2 * n)", Definitions.of(SOURCE))
    assert "obtain ⟨k, rfl⟩ := h" in suggested
    assert "exact ⟨(m + 2 * n) / 2, by omega⟩" in suggested


def test_the_constructors_of_an_own_predicate_are_applied() -> None:
    assert "apply EvenE.add_two" in steps("n : Nat\n⊢ EvenE (n + 2)", Definitions.of(SOURCE))


def test_a_lemma_is_applied_forward_where_its_premises_are_there() -> None:
    code = "theorem Nat.dvd_trans {a b c : Nat} (h1 : a ∣ b) (h2 : b ∣ c) : a ∣ c"
    lemma = CorpusPremise("Nat.dvd_trans", "A.lean", code, (1, 1), (1, 2))
    assert "have h := Nat.dvd_trans h1 h2" in steps("x y z : Nat\nh1 : x ∣ y\nh2 : y ∣ z\n⊢ p", lemmas=[lemma])
    assert not [step for step in steps("x y z : Nat\nh1 : x ∣ y\n⊢ p", lemmas=[lemma]) if "dvd_trans" in step]


def test_kinds_come_in_turn_and_no_more_than_asked() -> None:
    state = "f : Nat → Nat\nh : ∃ x, f x = 0\nh1 : f 0 = 1\nn : Nat\n⊢ f 0 = n"
    assert steps(state, most=3) == [
        "obtain ⟨x, h2⟩ := h",
        "simp_all",
        "rw [h1]",
    ]
    assert steps("no proof state") == []


# -- beside a policy -------------------------------------------------------------------------------------------------


def suggested(options: RetrieveOptions, state: str, learned: int = 0) -> Sequence:
    policy = with_added_tactics(UniformPolicy(["simp", "rw [h1]"]), options, learned=lambda: learned)
    found = policy_for(policy, Theorem(SOURCE, "", "t")).suggest(state)
    return list(zip(found.tactics, found.logprobs))[2:]


def test_steps_come_after_the_policys_own_and_are_trusted_less_with_time() -> None:
    options = RetrieveOptions(step_tactics=2, step_logprob=-2.0, step_decay=0.5)
    state = "f : Nat → Nat\nh : ∃ x, f x = 0\nh1 : f 0 = 1\n⊢ f 0 = 2"
    assert suggested(options, state)[0] == ("obtain ⟨x, h2⟩ := h", -2.0)
    assert suggested(options, state, learned=4)[0] == ("obtain ⟨x, h2⟩ := h", -4.0)


def test_no_tactics_are_added_unless_asked_for() -> None:
    policy = UniformPolicy(["simp"])
    assert with_added_tactics(policy, RetrieveOptions()) is policy
