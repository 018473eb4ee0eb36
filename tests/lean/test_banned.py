"""Constructs that no tactic of ours may contain."""

from nanolean.tests.each import each
from nanoproof.lean.forbidden import banned_reason


@each(
    "tactic",
    [
        "sorry",
        "exact (by admit)",
        "constructor\n.sorry\n.simp?",
        "native_decide",
        "decide +native",
        "exact?",
        "first | simp? | rfl",
        "rw? at h",
        "apply?",
        "hint",
        "have h",
        "have",
        "have h -- : p := q",
        "have ⟨a, b⟩",
        "have h : p := by\n  have q\n  exact this",
        "set_option debug.skipKernelTC true in rfl",
        "exact sorryAx _ false",
        "run_tac pure ()",
        "exact _root_.sorryAx _ false",
        "bv_decide",
        "stop rfl",
        "stop\n  rfl",
        "rw??",
        "grind?",
        'exact absurd (f s!"{(sorry : Nat)}") h',
        "conv => run_conv pure ()",
        "set_option«debug».skipKernelTC true in rfl",
        ".set_option debug.skipKernelTC true in rfl",
        "iterate 1set_option debug.skipKernelTC true in rfl",
        ".run_tac pure ()",
        "run_tac«Lean».logInfo m",
        "decide+native",
        'exact f s!"{by set_option«debug».skipKernelTC true in rfl}"',
    ],
)
def test_banned(tactic: str) -> None:
    assert banned_reason(tactic)


@each(
    "tactic",
    [
        "rfl",
        "exact h start\n  stop",
        "stop'",
        "simp [sorry_lemma, h.sorry]",
        "rw [foo] -- sorry",
        "exact xs.get? 1",
        "intro hint_1",
        "have h := foo",
        "have := foo",
        "have ⟨a, b⟩ := h",
        "exact (have h := x; h)",
        "have h (x : Nat) := foo x",
        "have h : p := by\n  have := q\n  exact this",
        "have h : p := foo",
        "have : p := foo",
        "have h : ∀ x, p x := by\n  intro x\n  rfl",
        "have ⟨a, b⟩ : p ∧ q := h",
        "have h (x : Nat) : p x := foo x",
        'exact f "sorry"',
        "exact h.have_it",
    ],
)
def test_allowed(tactic: str) -> None:
    assert banned_reason(tactic) is None
