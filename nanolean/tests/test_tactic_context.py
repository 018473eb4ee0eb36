"""Tactics that add, rename and remove hypotheses, and patterns that take apart what comes in."""

from nanolean.tests.proving import goals, proves, refusal, targets

# --- let, suffices


def test_let_adds_a_local_with_its_value() -> None:
    assert goals("(n : Nat) : n = n", "let m := n + 1") == ["n : Nat\nm : Nat := n + 1\n⊢ n = n"]


def test_let_is_seen_through() -> None:
    assert proves(": ∃ n : Nat, n = 3", "let m : Nat := 3", "exact ⟨m, rfl⟩")


def test_suffices_proves_the_goal_and_leaves_what_suffices() -> None:
    assert goals("(p q : Prop) : q", "suffices h : p ∧ q from h.right") == ["p q : Prop\n⊢ p ∧ q"]
    assert goals("(p q : Prop) : q", "suffices p ∧ q by\n  exact this.right") == ["p q : Prop\n⊢ p ∧ q"]


def test_suffices_must_prove_the_goal() -> None:
    assert "Type mismatch" in refusal("(p q : Prop) : q", "suffices h : p ∧ q from h.left")


def test_suffices_is_checked_by_the_kernel() -> None:
    assert proves("(p q : Prop) (hp : p) (hq : q) : q", "suffices h : p ∧ q from h.right", "exact ⟨hp, hq⟩")


# --- generalize


def test_generalize_replaces_a_term_by_a_variable() -> None:
    assert goals("(a b : Nat) : a + b = b + a", "generalize a + b = x") == ["a b x : Nat\n⊢ x = b + a"]


def test_generalize_keeps_the_equation_under_a_name() -> None:
    assert goals("(a b : Nat) : a + b = b + a", "generalize h : a + b = x") == [
        "a b x : Nat\nh : a + b = x\n⊢ x = b + a"
    ]


def test_generalize_at_a_hypothesis_generalizes_the_goal_too() -> None:
    statement = "(n : Nat) (h : n % 4 = 3) (k : n = 2) : n % 4 < 4"
    expected = ["n : Nat\nk : n = 2\nr : Nat\nh : r = 3\n⊢ r < 4"]
    for place in ("h", "h ⊢", "h k", "*"):
        assert goals(statement, f"generalize n % 4 = r at {place}") == expected
    assert goals(statement, "generalize e : n % 4 = r at h") == [expected[0].replace("\nh", "\ne : n % 4 = r\nh")]
    assert proves(statement, "generalize e : n % 4 = r at h", "omega")


def test_generalize_takes_several_terms() -> None:
    assert targets("(a b : Nat) : a + b = b + a", "generalize a + b = x, b + a = y") == ["x = y"]


def test_generalize_gives_a_proof() -> None:
    assert proves(
        "(a b c : Nat) (h : ∀ x, x * c = c * x) : (a + b) * c = c * (a + b)", "generalize a + b = x", "exact h x"
    )


# --- clear, rename


def test_clear_removes_hypotheses_in_any_order() -> None:
    assert goals("(a b : Nat) (h : a = b) : True", "clear a h") == ["b : Nat\n⊢ True"]


def test_clear_refuses_what_is_used() -> None:
    assert refusal("(a b : Nat) (h : a = b) : True", "clear a").startswith(
        "Tactic `clear` failed: variable `h` depends on `a`"
    )
    assert refusal("(a : Nat) : a = a", "clear a").startswith("Tactic `clear` failed: target depends on `a`")


def test_rename_finds_a_hypothesis_by_its_type() -> None:
    assert goals("(a b : Nat) (h : a = b) : a = b", "rename _ = b => k") == ["a b : Nat\nk : a = b\n⊢ a = b"]
    assert refusal("(a : Nat) : True", "rename True => h") == "Failed to find a hypothesis with type\n  True"


def test_change_at_a_hypothesis_keeps_the_order() -> None:
    assert goals("(a b : Nat) (h : ¬a = b) (k : a = a) : True", "change a ≠ b at h") == [
        "a b : Nat\nh : a ≠ b\nk : a = a\n⊢ True"
    ]


# --- patterns


def test_intro_takes_pairs_apart_and_keeps_the_tag() -> None:
    assert goals("(p q r : Prop) : p ∧ q ∧ r → q", "intro ⟨a, b, c⟩") == ["p q r : Prop\na : p\nb : q\nc : r\n⊢ q"]


def test_what_a_pattern_of_intro_does_not_name_is_inaccessible() -> None:
    assert goals("(p q : Prop) : p ∧ q → q", "intro ⟨_, h⟩") == ["p q : Prop\nx✝ : p\nh : q\n⊢ q"]


def test_intro_with_a_pattern_gives_a_proof() -> None:
    assert proves("(p : Nat → Prop) : (∃ n, p n) → ∃ m, p m", "intro ⟨n, h⟩", "exact ⟨n, h⟩")


def test_a_pattern_of_intro_names_every_field() -> None:
    assert "Insufficient number of fields" in refusal("(p q : Prop) : p ∧ q → q", "intro ⟨h⟩")
    assert "one constructor" in refusal("(p q : Prop) : p ∨ q → q", "intro ⟨h, k⟩")


def test_intro_with_a_type_restates_the_hypothesis() -> None:
    assert goals("(a b : Nat) : a ≠ b → True", "intro (h : a = b → False)") == ["a b : Nat\nh : a = b → False\n⊢ True"]
    assert "due to the provided type annotation" in refusal(": ∀ n : Nat, n = n", "intro (n : Prop)")


def test_rintro_follows_its_patterns() -> None:
    assert targets("(p q r : Prop) : (p ∧ q) ∨ r → q ∨ r", "rintro (⟨-, h⟩ | h)") == ["q ∨ r", "q ∨ r"]
    assert proves("(a b : Nat) : a = b → b = a", "rintro rfl", "rfl")
    assert goals(": ∀ a b : Nat, a = b → True", "rintro (x y : Nat) -") == ["x y : Nat\n⊢ True"]


def test_have_with_a_pattern_leaves_the_hypothesis() -> None:
    assert goals("(p q : Prop) (h : p ∧ q) : q", "have ⟨a, b⟩ := h") == ["p q : Prop\nh : p ∧ q\na : p\nb : q\n⊢ q"]
    assert proves("(p : Nat → Prop) (h : ∃ n, p n) : ∃ n, p n", "have ⟨n, k⟩ : ∃ n, p n := h", "exact ⟨n, k⟩")


def test_rcases_takes_several_targets() -> None:
    assert goals("(p q r : Prop) (h : p ∧ q) (k : q ∨ r) : p", "rcases h, k with ⟨⟨a, b⟩, c | d⟩") == [
        "case intro.inl\np q r : Prop\na : p\nb c : q\n⊢ p",
        "case intro.inr\np q r : Prop\na : p\nb : q\nd : r\n⊢ p",
    ]
