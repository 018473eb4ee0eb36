"""Texts for the tests of tokenizers: arbitrary Unicode, mathematics, Lean, and what pattern matchers trip over."""

from hypothesis import strategies as st

from nanoproof.model.tokenizer import MARKERS, SYMBOLS

PIECES = (
    *SYMBOLS,
    *MARKERS[:6],
    *(" ", "  ", " " * 7, "\n", "\n\n", "\n  ", "\t", "\r\n", "\u00a0", "\u2003", "\u2028", "\u3000", "\x00", "\x1c"),
    *("'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'", "don't", "h'", "x''", "’s"),
    *("theorem", "Nat.add_comm", ".le", "_root_", "x✝", "hx₁", "inst✝¹", "fun", "α", "β", "λ", "ℵ", "ˢ'", "f.1.2"),
    *("0", "12345", "3.14", "²", "½", "٣", "Ⅷ", "a1b2"),
    *(":=", "|-", "<;>", "<|", "|>", "\\frac{1}{2}", "$$", "==", "…", "—"),
    *(
        "é",
        "e\u0301",
        "\u0301",
        "한국",
        "日本語",
        "עברית",
        "😀",
        "👩‍👩‍👧",
        "\U0001d538",
        "\ufeff",
        "\ufffd",
        "\U0010ffff",
    ),
)
LEAN = "theorem foo {α : Type*} (h₁ : ∀ x ∈ s, f x ≤ 2 ^ n) :\n  ∑ i ∈ s, f⁻¹ i ≠ ⊤ := by\n    simp [Nat.succ_le']\n"

arbitrary = st.text(max_size=60)
mixtures = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
runs = st.builds(
    lambda start, piece, count, end: start + piece * count + end,
    st.sampled_from(PIECES),
    st.sampled_from(PIECES),
    st.integers(0, 400),
    st.sampled_from(PIECES),
)
lean_slices = st.builds(lambda start, length: LEAN[start:][:length], st.integers(0, len(LEAN)), st.integers(0, 99))
any_text = arbitrary | mixtures | runs | lean_slices
