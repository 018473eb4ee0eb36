"""Definitions by equations: structural recursion, what it computes, its equations, and what is refused."""

import pytest

from nanolean.kernel.env import axioms_of
from nanolean.tactic_state import proof_status, run_tactic
from nanolean.tactics.simp import NO_PROGRESS
from nanolean.tests.each import each
from nanolean.tests.library import errors, run
from nanolean.tests.proving import goals, proves, refusal, targets, with_commands

FAC = "def fac : Nat → Nat\n  | 0 => 1\n  | n + 1 => (n + 1) * fac n\n"
FIB = "def fib : Nat → Nat\n  | 0 => 0\n  | 1 => 1\n  | n + 2 => fib (n + 1) + fib n\n"
SMALLER = "def smaller : Nat → Nat → Nat\n  | 0, _ => 0\n  | _, 0 => 0\n  | n + 1, m + 1 => smaller n m + 1\n"
JOIN = "def join {α : Type} (l m : List α) : List α := match l with\n  | [] => m\n  | x :: l => x :: join l m\n"
TREE = (
    "inductive Tree where\n  | leaf : Tree\n  | node (l : Tree) (n : Nat) (r : Tree) : Tree\n"
    "def Tree.size : Tree → Nat\n  | .leaf => 0\n  | .node l _ r => l.size + r.size + 1\n"
)

ACCEPTED = {
    "computed by rfl": FAC + "example : fac 5 = 120 := rfl",
    "computed by decide": FAC + "example : fac 5 = 120 := by decide",
    "recursion two steps back is computed in good time": FIB + "example : fib 20 = 6765 := rfl",
    "an equation holds by rfl": FAC + "example (n : Nat) : fac (n + 1) = (n + 1) * fac n := rfl",
    "several arguments get smaller": SMALLER + "example : smaller 3 5 = 3 := rfl",
    "lists with a parameter": JOIN + "example : join [1, 2] [3] = [1, 2, 3] := rfl",
    "trees": TREE + "example : (Tree.node (.node .leaf 1 .leaf) 2 .leaf).size = 2 := rfl",
    "an argument that varies": (
        "def rev (l : List Nat) (acc : List Nat) : List Nat := match l with\n"
        "  | [] => acc\n  | x :: l => rev l (x :: acc)\nexample : rev [1, 2, 3] [] = [3, 2, 1] := rfl"
    ),
    "the result may be a function": (
        "def add : Nat → Nat → Nat\n  | 0 => fun m => m\n  | n + 1 => fun m => add n m + 1\n"
        "example : add 2 3 = 5 := rfl"
    ),
    "the result may be a proposition": (
        "def All (p : Nat → Prop) : List Nat → Prop\n  | [] => True\n  | x :: l => p x ∧ All p l\n"
        "example (p : Nat → Prop) (h : All p [1, 2]) : p 1 := h.1"
    ),
    "recursion inside of a match on something else": (
        "def count (p : Nat → Bool) : List Nat → Nat\n  | [] => 0\n"
        "  | x :: l => match p x with\n    | true => count p l + 1\n    | false => count p l\n"
    ),
    "recursion inside of an if": (
        "def count (a : Nat) : List Nat → Nat\n  | [] => 0\n"
        "  | x :: l => if x = a then count a l + 1 else count a l\n"
        "example : count 3 [3, 1, 3] = 2 := rfl"
    ),
    "a match on a part of the argument": (
        "def half (n : Nat) : Nat := match n with\n  | 0 => 0\n  | k + 1 => match k with\n"
        "    | 0 => 0\n    | j + 1 => half j + 1\n"
        "example : half 7 = 3 := rfl"
    ),
    "a theorem by recursion": (
        "theorem zadd : ∀ n : Nat, 0 + n = n\n  | 0 => rfl\n  | n + 1 => congrArg Nat.succ (zadd n)\n"
    ),
    "a theorem by recursion in tactics": (
        "theorem zadd (n : Nat) : 0 + n = n := by\n  cases n with\n  | zero => rfl\n"
        "  | succ n => exact congrArg Nat.succ (zadd n)\n"
    ),
    "a theorem about a function, by recursion": (
        JOIN + "theorem join_nil {α : Type} : ∀ l : List α, join l [] = l\n  | [] => rfl\n"
        "  | x :: l => by rw [join, join_nil l]\n"
    ),
    "section variables stay outside of the recursion": (
        "variable (k : Nat)\ndef mulk : Nat → Nat\n  | 0 => 0\n  | n + 1 => mulk n + k\nexample : mulk 3 4 = 12 := rfl"
    ),
    "a name in a namespace": (
        "namespace My\ndef fac : Nat → Nat\n  | 0 => 1\n  | n + 1 => (n + 1) * fac n\nend My\n"
        "example : My.fac 3 = 6 := rfl"
    ),
    "a proof by recursion through `cases`": (
        "theorem f (n : Nat) : 0 ≤ n := by\n  cases n with\n  | zero => exact Nat.le.refl\n"
        "  | succ m => exact Nat.le_succ_of_le (f m)"
    ),
    "a type that depends on the argument": (
        "def Vec : Nat → Type\n  | 0 => Bool\n  | n + 1 => Nat → Vec n\n"
        "def vec : (n : Nat) → Vec n\n  | 0 => true\n  | n + 1 => fun _ => vec n\n"
    ),
}

NO_WAY = "fail to show termination for\n  f\nwith errors\nfailed to infer structural recursion:\n"
REFUSED = {
    "the same argument": ("def f (n : Nat) : Nat := f n", NO_WAY),
    "a larger argument": ("def f (n : Nat) : Nat := f (n + 1)", NO_WAY),
    "another name for the same argument": ("def f (n : Nat) : Nat := match n with | 0 => 0 | m => f m", NO_WAY),
    "a match on something equal to the argument": (
        "def f (n : Nat) : Nat := match n + 0 with | 0 => 0 | k + 1 => f k",
        NO_WAY,
    ),
    "a smaller argument of another variable": (
        "def f (n m : Nat) : Nat := match m with | 0 => n | k + 1 => f k n",
        NO_WAY,
    ),
    "a shadowed variable": ("def f : Nat → Nat\n  | 0 => 0\n  | n + 1 => (fun n => f n) (n + 1)", NO_WAY),
    "a captured variable": ("def f (n : Nat) : Nat := match n with\n  | 0 => 0\n  | k + 1 => let k := n; f k", NO_WAY),
    "the constructor put back": ("def f : List Nat → Nat\n  | [] => 0\n  | x :: l => f (x :: l)", NO_WAY),
    "a false proposition by recursion": ("theorem f (n : Nat) : n < n := f n", NO_WAY),
    "a false proposition without arguments": ("theorem f : False := f", NO_WAY + "no parameters suitable"),
    "recursion in the type of a hypothesis": ("theorem f (h : 1 = 2) : False := f h", NO_WAY),
    "the function itself as an argument": (
        "def f : Nat → Nat\n  | 0 => 0\n  | n + 1 => (fun (g : Nat → Nat) => g (n + 1)) f",
        NO_WAY,
    ),
    "a smaller argument from `induction`": (
        "theorem f (n : Nat) : 0 ≤ n := by\n  induction n with\n  | zero => exact Nat.le.refl\n"
        "  | succ m ih => exact Nat.le_succ_of_le (f m)",
        NO_WAY,
    ),
    "a smaller argument from a recursor": (
        "theorem f (n : Nat) : 0 ≤ n :=\n"
        "  Nat.rec (motive := fun n => 0 ≤ n) Nat.le.refl (fun m _ => Nat.le_succ_of_le (f m)) n",
        NO_WAY,
    ),
    "termination_by": ("def f (n : Nat) : Nat := f n\ntermination_by n", "not supported"),
    "mutual": ("mutual\ndef f : Nat → Nat := fun n => n\nend", "not supported"),
    "where": ("def f (n : Nat) : Nat := n where g := 3", "not supported"),
    "equations without a type": ("def f\n  | 0 => 1\n  | n => n", "Failed to infer the type"),
    "more patterns than arguments": ("def f : Nat → Nat\n  | 0, 0 => 1\n  | _, _ => 2", "Too many patterns"),
    "a missing equation": ("def f : Nat → Nat\n  | 0 => 1", "Missing cases:\n(Nat.succ _)"),
}


@each("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(text: str) -> None:
    assert errors(text) == []


@each(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(text: str, message: str) -> None:
    assert any(message in error for error in errors(text)), errors(text)


def checks(text: str, *names: str) -> list[str]:
    found = run(text + "".join(f"#check {name}\n" for name in names)).messages
    return [message.text for message in found]


def test_there_is_an_equation_for_each_alternative() -> None:
    assert checks(FIB, "fib.eq_1", "fib.eq_2", "fib.eq_3") == [
        "fib.eq_1 : fib 0 = 0",
        "fib.eq_2 : fib 1 = 1",
        "fib.eq_3 (n : Nat) : fib n.succ.succ = fib (n + 1) + fib n",
    ]


def test_an_equation_excludes_earlier_alternatives() -> None:
    assert checks(SMALLER, "smaller.eq_2") == ["smaller.eq_2 (x : Nat) (x_1 : x = 0 → False) : smaller x 0 = 0"]


def test_the_whole_body_is_an_equation_too() -> None:
    (text,) = checks(FAC, "fac.eq_def")
    assert text == "fac.eq_def (x : Nat) : fac x =\n  match x with\n  | 0 => 1\n  | n.succ => (n + 1) * fac n"


def test_equations_rest_on_no_axioms() -> None:
    env = with_commands(FAC + FIB + SMALLER + JOIN).env
    for name in ("fac.eq_def", "fib.eq_3", "smaller.eq_2", "smaller.eq_def", "join.eq_2"):
        assert axioms_of(env, name) == set()


@pytest.mark.parametrize("tactic", ["simp [fac]", "unfold fac", "rw [fac]", "simp only [fac]", "rw [fac.eq_2]"])
def test_unfolding_on_a_constructor_gives_the_alternative(tactic: str) -> None:
    base = with_commands(FAC)
    assert goals("(n : Nat) : fac (n + 1) = 3", tactic, base=base) == ["n : Nat\n⊢ (n + 1) * fac n = 3"]


@pytest.mark.parametrize("tactic", ["unfold fac", "rw [fac]", "rw [fac.eq_def]"])
def test_unfolding_on_a_variable_gives_the_match(tactic: str) -> None:
    (goal,) = goals("(n : Nat) : fac n = 3", tactic, base=with_commands(FAC))
    assert goal == "n : Nat\n⊢ (match n with\n    | 0 => 1\n    | n.succ => (n + 1) * fac n) =\n    3"


def test_simp_leaves_a_call_on_a_variable_alone() -> None:
    assert "no progress" in refusal("(n : Nat) : fac n = 3", "simp only [fac]", base=with_commands(FAC))


def test_unfolding_in_a_hypothesis() -> None:
    base = with_commands(FAC)
    assert goals("(n : Nat) (h : fac (n + 1) = 3) : False", "unfold fac at h", base=base) == [
        "n : Nat\nh : (n + 1) * fac n = 3\n⊢ False"
    ]


def test_an_induction_over_the_definition() -> None:
    steps = [
        "induction n with | zero => ?_ | succ n ih => ?_",
        "exact Nat.le_refl 1",
        "simp [fac]",
        "exact Nat.mul_pos (Nat.succ_pos n) ih",
    ]
    assert proves("(n : Nat) : 0 < fac n", *steps, base=with_commands(FAC))


TAKEN = {
    "a matcher's name": (
        "def f.match_1 : Nat := 3\ndef f (n : Nat) : Nat := match n with | 0 => 1 | k + 1 => k\n"
        "example : f 3 = 2 := rfl"
    ),
    "something that only looks like a matcher": (
        "def f.match_1 (motive : Nat → Type) (x : Nat) (h : motive x) : motive x := h\n"
        "def f (n : Nat) : Nat := f.match_1 (fun _ => Nat) n n\nexample (n : Nat) : f n = n := rfl"
    ),
}


@pytest.mark.parametrize("text", TAKEN.values(), ids=TAKEN.keys())
def test_names_that_are_taken_do_no_harm(text: str) -> None:
    assert errors(text) == []


def test_a_type_whose_below_is_something_else_has_no_recursion() -> None:
    text = (
        "inductive T where\n  | a : T\n  | b (t : T) : T\ndef T.brecOn : Nat := 3\n"
        "def T.f : T → Nat\n  | .a => 0\n  | .b t => t.f"
    )
    assert errors(text) != []


def test_a_refused_definition_leaves_nothing_behind() -> None:
    state = run("def f (n : Nat) : Nat := f (n + 1)").state
    assert "f" not in state.env and "f.eq_1" not in state.env


def test_what_stands_for_a_definition_proves_nothing_in_its_own_goals() -> None:
    """A `sorry` inside of a recursive theorem gives a goal in which the theorem can be named, but not be used."""
    (sorry,) = run("theorem f (n : Nat) : n < n := by\n  have h := f n\n  clear h\n  sorry").sorries
    state = run_tactic(sorry.state, "exact f n").state
    assert proof_status(state) == "Error: kernel type check failed: (kernel) unknown constant 'f'"


COUNT = (
    "def count (p : Nat → Bool) : List Nat → Nat\n  | [] => 0\n  | x :: l => match p x with\n"
    "    | true => count p l + 1\n    | false => count p l"
)


@pytest.mark.parametrize("tactic", ["simp [count, h]", "simp only [count, h]", "simp_all [count]"])
def test_simp_uses_an_equation_whose_match_a_hypothesis_decides(tactic: str) -> None:
    statement = "(p : Nat → Bool) (x : Nat) (l : List Nat) (h : p x = true) : count p (x :: l) = count p l + 1"
    assert proves(statement, tactic, base=with_commands(COUNT))


def test_a_match_that_nothing_decides_is_shown() -> None:
    base = with_commands(COUNT)
    statement = "(p : Nat → Bool) (x : Nat) : count p [x] = 0"
    shown = "(match p x with\n    | true => count p [] + 1\n    | false => count p []) =\n    0"
    assert targets(statement, "unfold count", base=base) == [shown]
    assert targets(statement, "rw [count]", base=base) == [shown]
    assert targets(statement, "simp only [count]", base=base) == [
        shown.replace("count p [] + 1", "0 + 1").replace("count p []", "0")
    ]
    assert refusal("(p : Nat → Bool) (l : List Nat) : count p l = 0", "simp [count]", base=base) == NO_PROGRESS


def test_a_match_inside_of_a_body_is_not_unfolded_for_ever() -> None:
    base = with_commands("def sum (l : List Nat) : Nat := 0 + match l with\n  | [] => 0\n  | x :: l => x + sum l")
    assert refusal("(l : List Nat) : sum l = 0", "simp [sum]", base=base) == NO_PROGRESS
    assert targets("(x : Nat) (l : List Nat) : sum (x :: l) = 3", "simp [sum]", base=base) == ["x + sum l = 3"]
