"""Made-up documents that look like a pretraining corpus to a tokenizer: prose about mathematics, LaTeX and Lean code.

Deterministic from a seed. Words are drawn with the frequencies of running text (few are very common, many are rare),
rare names are put together from syllables, lengths are log-normal with a long tail.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

COMMON_WORDS = (
    "the of a is and to in that we for be with by as this on are it an let which from if then at can have has or "
    "not there all such any one two these where since so but now each our following show use given every set "
    "function number point let's prove case first second only also other more some between when thus hence "
    "therefore"
)
TOPIC_WORDS = (
    "group ring field module vector space matrix kernel image basis dimension linear operator eigenvalue "
    "polynomial degree root integer prime divisor theorem lemma proof corollary definition proposition example "
    "equation solution integral derivative limit sequence series convergence continuous differentiable bounded "
    "compact open closed metric topology neighborhood subset union intersection element homomorphism isomorphism "
    "quotient normal subgroup order abelian finite infinite countable cardinality probability random variable "
    "expectation variance distribution measure graph vertex edge path cycle tree degree coloring manifold tangent "
    "bundle curvature geodesic angle triangle circle radius length area volume ratio fraction decimal percent "
    "average velocity acceleration force energy mass temperature approximation error estimate iteration algorithm "
    "complexity inequality bound maximum minimum supremum infimum coefficient constant parameter identity "
    "symmetric orthogonal projection norm inner product determinant trace"
)
SYLLABLE_LIST = "an ber chi dor el fro gau hil iv jor kov lam mor nik os per qui ros sch tar ul ven wei xi yam zel"
GREEK_LETTERS = "alpha beta gamma delta epsilon lambda mu pi rho sigma phi psi omega theta"
LEMMA_NAMES = "add_comm mul_assoc le_trans lt_irrefl sub_self zero_add succ_le_of_lt dvd_mul_right mem_inter_iff"
COMMON, TOPIC, SYLLABLES, GREEK = map(str.split, (COMMON_WORDS, TOPIC_WORDS, SYLLABLE_LIST, GREEK_LETTERS))
NAMES = LEMMA_NAMES.split()
TYPES = ("ℕ", "ℤ", "ℝ", "α", "Set α", "Finset ℕ", "List α", "G →* H", "Prop")
TACTICS = (
    "intro x hx",
    "rw [Nat.add_comm, ← Nat.mul_assoc]",
    "simp only [Set.mem_inter_iff, and_comm]",
    "exact ⟨h₁, fun y hy => h₂ y hy⟩",
    "have h : a ≤ b := le_trans h₁ (Nat.le_succ _)",
    "induction n with",
    "obtain ⟨x, hx, rfl⟩ := h",
    "refine lt_of_le_of_ne ?_ (by simpa using h₃)",
    "linarith [sq_nonneg (a - b), sq_nonneg (b + c)]",
    "· apply Finset.sum_congr rfl",
    "field_simp; ring",
)


class MathText:
    """An endless, reproducible source of documents."""

    def __init__(self, seed: int, mean_chars: int = 4000) -> None:
        self.rng = random.Random(seed)
        self.mean_chars = mean_chars
        self.weights = [1 / (rank + 2) for rank in range(len(COMMON))]

    def documents(self) -> Iterator[str]:
        """Yield documents: three in four are prose with formulas, the others Lean code."""
        while True:
            size = int(min(self.rng.lognormvariate(0, 1.0) / 1.65 * self.mean_chars, 40 * self.mean_chars)) + 80
            yield self.prose(size) if self.rng.random() < 0.75 else self.lean(size)

    def word(self) -> str:
        """Return a word: common, of the topic, or a rare name."""
        kind = self.rng.random()
        if kind < 0.55:
            return self.rng.choices(COMMON, self.weights)[0]
        if kind < 0.94:
            return self.rng.choice(TOPIC) + self.rng.choice(("", "", "", "s"))
        return "".join(self.rng.choices(SYLLABLES, k=self.rng.randint(2, 4))).capitalize()

    def formula(self) -> str:
        """Return a piece of LaTeX."""
        pick, number = self.rng.choice, self.rng.randint
        # All forms are written and one is picked: so many numbers are drawn whichever it is.
        x, greek = pick("abcfghknpqrstuvxyzABFGHKLMNSTVX"), pick(GREEK)
        return pick(
            (
                f"${x}_{{{number(0, 20)}}} = \\frac{{{number(1, 999)}}}{{\\{greek}^{number(2, 9)}}}$",
                f"$\\sum_{{k={number(0, 3)}}}^{{n}} {x}_k \\leq \\{greek} \\cdot {number(2, 5000)}$",
                f"${x}(x) = {number(2, 90)}x^{number(2, 9)} - {number(1, 40)}x + {number(0, 300)}$",
                f"$\\int_{{0}}^{{\\infty}} e^{{-\\{greek} t}} \\, d t$",
                f"$\\|{x}\\|_{{L^{number(1, 3)}}} < \\{greek}$",
                f"${x} \\in \\mathbb{{R}}^{{{number(2, 9)}}}$",
                f"${x}$",
                f"${number(0, 10000)}.{number(0, 99):02d}$",
            )
        )

    def prose(self, size: int) -> str:
        """Write sentences in paragraphs."""
        parts: list[str] = []
        length = 0
        while length < size:
            pieces = []
            for _ in range(self.rng.randint(6, 28)):
                pieces.append(self.formula() if self.rng.random() < 0.13 else self.word())
            end = self.rng.choice((".", ".", ".", "?", ":", ".\n\n"))
            sentence = " ".join(pieces).capitalize() + end + " "
            parts.append(sentence)
            length += len(sentence)
        return "".join(parts)

    def lean(self, size: int) -> str:
        """Write lemmas with tactic proofs."""
        parts = ["import Mathlib.Data.Nat.Basic\n\nnamespace " + self.word().capitalize() + "\n"]
        length = len(parts[0])
        while length < size:
            name = f"{self.rng.choice(NAMES)}_{self.word().lower()}"
            body = "\n".join("  " + self.rng.choice(TACTICS) for _ in range(self.rng.randint(1, 9)))
            lemma = (
                f"\n/-- {self.word().capitalize()} {self.word()} {self.word()}. -/\n"
                f"theorem {name} (a b : {self.rng.choice(TYPES)}) (h₁ : a ≤ b) :"
                f" ∃ c, a + c = b ∧ c ≠ {self.rng.randint(0, 99)} := by\n{body}\n"
            )
            parts.append(lemma)
            length += len(lemma)
        return "".join(parts)


def write_corpus(directory: Path, chars: int, files: int = 2, seed: int = 0, row_group: int = 1000) -> int:
    """Write about `chars` characters as parquet files `part_*.parquet`; returns the number of documents."""
    directory.mkdir(parents=True, exist_ok=True)
    source = MathText(seed).documents()
    total = 0
    for number in range(files):
        texts, length = [], 0
        while length < chars // files:
            texts.append(next(source))
            length += len(texts[-1])
        path = directory / f"part_{number:06d}.parquet"
        pq.write_table(pa.table({"text": texts}), path, row_group_size=row_group, compression="zstd")
        total += len(texts)
    return total
