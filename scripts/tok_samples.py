"""Small texts of the kinds that a prover reads, written for this project: what tokenizers are compared on at once.

They are short, so differences of a few percent between tokenizers say nothing; give files with --input for these.
"""

MATHEMATICS = r"""
Let $G$ be a finite group and let $p$ be the smallest prime that divides $|G|$. We claim that every subgroup $H \le G$
of index $p$ is normal. Let $G$ act on the set $G/H$ of left cosets by translation; this gives a homomorphism
$\varphi \colon G \to S_p$ with kernel $K \subseteq H$. By the first isomorphism theorem $[G : K]$ divides
$\gcd(|G|, p!)$, and since no prime below $p$ divides $|G|$ we get $[G : K] = p = [G : H]$. Hence $K = H$, and $H$ is
normal, being a kernel. $\qquad\blacksquare$

\begin{theorem}[Bernoulli's inequality]\label{thm:bernoulli}
For every real number $x \ge -1$ and every integer $n \ge 0$ we have $(1 + x)^n \ge 1 + n x$.
\end{theorem}
\begin{proof}
By induction on $n$. The case $n = 0$ is clear. If the statement holds for $n$, then
\[
  (1 + x)^{n+1} \;=\; (1 + x)^n (1 + x) \;\ge\; (1 + n x)(1 + x) \;=\; 1 + (n + 1) x + n x^2 \;\ge\; 1 + (n + 1) x,
\]
where the first inequality uses $1 + x \ge 0$ and the last one $n x^2 \ge 0$.
\end{proof}

Problem 3. Find all functions $f : \mathbb{R} \to \mathbb{R}$ such that $f(x + f(y)) = f(x) + y$ for all real $x, y$.
Setting $x = 0$ shows that $f(f(y)) = f(0) + y$, so $f$ is injective and surjective. Choose $c$ with $f(c) = 0$; then
$f(x) = f(x + f(c)) = f(x) + c$ gives $c = 0$. Therefore $f(f(y)) = y$, and replacing $y$ by $f(y)$ we obtain Cauchy's
equation $f(x + y) = f(x) + f(y)$. For example, $\int_0^1 x^2 \, dx = \frac{1}{3}$ and $\sum_{k=1}^{100} k = 5050$.
"""

LEAN = """
import Mathlib.Algebra.Order.Ring.Lemmas
import Mathlib.Data.Nat.Prime.Basic

open Nat Finset

variable {α : Type*} [LinearOrderedField α] {s : Finset ℕ}

/-- The sum of the first odd numbers is a square. -/
theorem sum_range_odd (n : ℕ) : ∑ i ∈ range n, (2 * i + 1) = n ^ 2 := by
  induction n with
  | zero => simp
  | succ n ih =>
    rw [sum_range_succ, ih]
    ring

@[simp]
lemma mul_inv_cancel_of_pos {a b : α} (ha : 0 < a) (hb : b ≠ 0) : a * b * (a * b)⁻¹ = 1 :=
  mul_inv_cancel₀ (mul_ne_zero ha.ne' hb)

theorem exists_infinite_primes' (n : ℕ) : ∃ p, n ≤ p ∧ p.Prime := by
  let p := minFac (n ! + 1)
  have hp : p.Prime := minFac_prime (Nat.succ_ne_of_ne (factorial_ne_zero n))
  refine ⟨p, ?_, hp⟩
  by_contra! h
  have h₁ : p ∣ n ! := dvd_factorial (minFac_pos _) h.le
  have h₂ : p ∣ 1 := (Nat.dvd_add_iff_right h₁).2 (minFac_dvd _)
  exact hp.not_dvd_one h₂

instance (f : α → α) (hf : Continuous f) : Set.MapsTo f (Set.Icc 0 1) (f '' Set.Icc 0 1) :=
  fun x hx ↦ ⟨x, hx, rfl⟩
"""

STATES = """
n : ℕ
ih : ∑ i ∈ Finset.range n, (2 * i + 1) = n ^ 2
⊢ ∑ i ∈ Finset.range (n + 1), (2 * i + 1) = (n + 1) ^ 2

case inl
α : Type u_1
β : Type u_2
inst✝¹ : TopologicalSpace α
inst✝ : TopologicalSpace β
f : α → β
hf : Continuous f
s : Set β
hs : IsOpen s
⊢ IsOpen (f ⁻¹' s)

a b c : ℝ
h₀ : 0 < a ∧ 0 < b ∧ 0 < c
h₁ : a * b * c = 1
⊢ a ^ 2 + b ^ 2 + c ^ 2 ≥ a + b + c

case succ.intro.intro
p k : ℕ
hp : Nat.Prime p
x✝ : ℤ
hx : ↑p ∣ x✝ ^ 2
⊢ ∃ m, x✝ = ↑p * m ∧ ∀ y ≠ 0, ↑k ≤ ‖(y : ℂ)‖

p q r : Prop
⊢ p ∧ (q ∨ r) ↔ p ∧ q ∨ p ∧ r
"""

TACTICS = """
induction n with | zero => rfl | succ n ih => simp [Finset.sum_range_succ, ih]
rw [Nat.add_comm, ← Nat.mul_assoc]
simp only [Set.mem_setOf_eq, not_le, Function.comp_apply] at h₁ ⊢
obtain ⟨x, hx, rfl⟩ := h
refine ⟨fun h => ?_, fun ⟨y, hy⟩ => hy ▸ h.2⟩
nlinarith [sq_nonneg (a - b), sq_nonneg (b - c), mul_pos h₀.1 h₀.2.1]
exact Nat.le_antisymm (Nat.le_of_dvd hpos h₁) (Nat.succ_le_of_lt h₂)
rcases lt_trichotomy a b with hab | hab | hab <;> simp_all
have h₃ : ∀ ε > 0, ∃ δ > 0, ∀ x, |x - a| < δ → |f x - f a| < ε := by
norm_num [Nat.factorial, Nat.choose] at *
intro x hx
push_cast
field_simp
omega
"""

ENGLISH = """
The old library stood at the end of the street, where the tram turns towards the river. For eleven years Mrs. Halloran
had opened its doors at nine, swept the leaves from the steps and fed the cat that didn't belong to anybody. "You'll
find the atlases upstairs," she would say to whoever looked lost, "and the quiet ones are by the window."

When the council decided to close it, nobody was surprised, and yet the whole neighbourhood came to the last evening.
There were speeches, most of them too long. A boy of about seven asked whether the books would be lonely. Someone
laughed, someone else did not; and then, because it had begun to rain, they all stayed much later than they'd planned.

Water boils at a lower temperature in the mountains because the air presses less upon it: at 3,000 metres it takes only
about 90 degrees. That is why rice cooks slowly there, and why travellers who've read about it still get it wrong.
"""

CODE = '''
from dataclasses import dataclass
from typing import Iterator


@dataclass(frozen=True)
class Interval:
    """A half-open range of integers."""

    start: int
    stop: int

    def __contains__(self, value: int) -> bool:
        return self.start <= value < self.stop

    def split(self, size: int) -> Iterator["Interval"]:
        for start in range(self.start, self.stop, size):
            yield Interval(start, min(start + size, self.stop))


def binary_search(values: list[float], wanted: float) -> int | None:
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(values) and values[low] == wanted else None


if __name__ == "__main__":
    for part in Interval(0, 10).split(4):
        print(f"{part.start:>3} .. {part.stop - 1}")
'''

SAMPLES = {
    "mathematics": MATHEMATICS,
    "Lean source": LEAN,
    "proof states": STATES,
    "tactics": TACTICS,
    "English": ENGLISH,
    "code": CODE,
}
"""Kind of text -> text."""
