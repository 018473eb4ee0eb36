"""`induction`."""

from functools import cache

from nanolean.env_state import EnvState
from nanolean.tests.proving import goals, proves, refusal, with_commands

SUM = "(n m : Nat) : n + m = m + n"


def test_alternatives_leave_named_goals():
    assert goals("(n : Nat) : 0 + n = n", "induction n with | zero => ?_ | succ n ih => ?_") == [
        "case zero\n⊢ 0 + 0 = 0",
        "case succ\nn : Nat\nih : 0 + n = n\n⊢ 0 + (n + 1) = n + 1",
    ]


def test_without_alternatives_names_are_inaccessible():
    assert goals("(n : Nat) : 0 + n = n", "induction n") == [
        "case zero\n⊢ 0 + 0 = 0",
        "case succ\nn✝ : Nat\na✝ : 0 + n✝ = n✝\n⊢ 0 + (n✝ + 1) = n✝ + 1",
    ]


def test_a_whole_proof_by_alternatives():
    assert proves("(n : Nat) : 0 + n = n", "induction n with | zero => rfl | succ n ih => rw [← Nat.add_assoc, ih]")


def test_dependent_hypotheses_join_the_motive():
    assert goals("(n k : Nat) (h : n ≤ k) : n ≤ k + 1", "induction n with | zero => ?_ | succ n ih => ?_")[1] == (
        "case succ\nk n : Nat\nih : n ≤ k → n ≤ k + 1\nh : n + 1 ≤ k\n⊢ n + 1 ≤ k + 1"
    )


def test_generalizing_quantifies_the_induction_hypothesis():
    step = goals(SUM, "induction n generalizing m with | zero => ?_ | succ n ih => ?_")[1]
    assert step == "case succ\nn : Nat\nih : ∀ (m : Nat), n + m = m + n\nm : Nat\n⊢ n + 1 + m = m + (n + 1)"


def test_generalizing_the_target_is_refused():
    assert "cannot be generalized" in refusal(SUM, "induction n generalizing n")


def test_induction_on_a_relation():
    assert goals(
        "(n m k : Nat) (h : n ≤ m) (h2 : m ≤ k) : n ≤ k", "induction h2 with | refl => ?_ | step h3 ih => ?_"
    ) == [
        "case refl\nn m : Nat\nh : n ≤ m\n⊢ n ≤ m",
        "case step\nn m : Nat\nh : n ≤ m\nm✝ : Nat\nh3 : m ≤ m✝\nih : n ≤ m✝\n⊢ n ≤ m✝.succ",
    ]


def test_indices_must_be_variables():
    message = refusal("(n : Nat) (h : n ≤ 3) : n ≤ 4", "induction h")
    assert message == (
        "Invalid target: Index in target's type is not a variable (consider using the `cases` tactic instead)"
    )


def test_lists_and_own_types():
    assert goals("(α : Type) (l : List α) : l = l", "induction l with | nil => ?_ | cons a as ih => ?_")[1] == (
        "case cons\nα : Type\na : α\nas : List α\nih : as = as\n⊢ a :: as = a :: as"
    )
    base = with_commands("inductive Tree where\n| leaf : Tree\n| node (l r : Tree) : Tree")
    assert goals("(t : Tree) : t = t", "induction t with | leaf => ?_ | node l r il ir => ?_", base=base) == [
        "case leaf\n⊢ Tree.leaf = Tree.leaf",
        "case node\nl r : Tree\nil : l = l\nir : r = r\n⊢ l.node r = l.node r",
    ]


def test_fields_and_hypotheses_are_counted():
    message = refusal("(n : Nat) : n = n", "induction n with | zero => ?_ | succ a b c => ?_")
    assert message == "Too many variable names provided at alternative `succ`: 3 provided, but 2 expected"


# --- eliminators of one's own

ELIMINATORS = """
theorem two_step {p : Nat → Prop} (zero : p 0) (one : p 1)
    (more : ∀ n, p n → p (n + 1) → p (n + 2)) (n : Nat) : p n := by
  have h : p n ∧ p (n + 1) := by
    induction n with
    | zero => exact ⟨zero, one⟩
    | succ n ih => exact ⟨ih.right, more n ih.left ih.right⟩
  exact h.left
theorem le_ind {m : Nat} {P : (n : Nat) → m ≤ n → Prop} (base : P m (Nat.le_refl m))
    (succ : ∀ n hmn, P n hmn → P (n + 1) (Nat.le_succ_of_le hmn)) (n : Nat) (hmn : m ≤ n) : P n hmn := by
  induction hmn with
  | refl => exact base
  | step h ih => exact succ _ h ih
"""


@cache
def with_eliminators() -> EnvState:
    return with_commands(ELIMINATORS)


def test_strong_induction() -> None:
    statement = "(n k : Nat) (p : Nat → Nat → Prop) (h : n = k) : p n k"
    assert goals(statement, "induction n using Nat.strongRecOn generalizing k with\n| ind n ih => ?_") == [
        "case ind\np : Nat → Nat → Prop\nn : Nat\nih : ∀ (m : Nat), m < n → ∀ (k : Nat), m = k → p m k\n"
        "k : Nat\nh : n = k\n⊢ p n k"
    ]


def test_cases_of_an_eliminator_are_named_after_its_arguments() -> None:
    texts = goals("(n : Nat) (p : Nat → Prop) : p n", "induction n using two_step", base=with_eliminators())
    assert [text.split("\n")[0] for text in texts] == ["case zero", "case one", "case more"]
    assert texts[2] == "case more\np : Nat → Prop\nn✝ : Nat\na✝¹ : p n✝\na✝ : p (n✝ + 1)\n⊢ p (n✝ + 2)"


def test_an_eliminator_may_have_several_targets() -> None:
    assert proves(
        "(n k : Nat) (h : k ≤ n) : k ≤ n + 1",
        "induction n, h using le_ind with\n| base => exact Nat.le_succ k\n| succ n h ih => exact Nat.le_succ_of_le ih",
        base=with_eliminators(),
    )


def test_targets_must_fit_the_eliminator() -> None:
    base = with_eliminators()
    statement = "(n k : Nat) (h : k ≤ n) : k ≤ n + 1"
    assert "Unexpected number of targets" in refusal(statement, "induction n, k using two_step", base=base)
    assert "Unexpected number of targets" in refusal(statement, "induction n, k", base=base)
    assert "Type mismatch" in refusal(statement, "induction h using two_step", base=base)
    assert "Unexpected eliminator resulting type" in refusal(statement, "induction n using Nat.le_refl", base=base)
    assert refusal(statement, "induction n using no_such_thing", base=base) == "Unknown constant `no_such_thing`"
