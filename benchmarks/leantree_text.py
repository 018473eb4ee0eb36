"""Made-up LeanTree JSONL that looks like the proofs of Mathlib to a parser: files, theorems, trees of tactics.

Deterministic from a seed. A state begins with the type variables, instances and variables of its section; names and
hypotheses are added on the way down, and some tactics leave two goals. A node takes about 1 KB, most of it for its
hypotheses, each an object of its own.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ALGEBRA = ("CommRing R", "Field K", "AddCommGroup M", "Module R M")
ANALYSIS = ("TopologicalSpace X", "MeasurableSpace Ω", "NormedAddCommGroup E", "InnerProductSpace ℝ E")
CLASSES = (*ALGEBRA, *ANALYSIS, "LinearOrder ι", "Category.{v₁, u₁} C", "Fintype ι", "DecidableEq ι")
TYPES = ("R", "M", "X → ℝ", "Set X", "Finset ι", "ι → M", "M →ₗ[R] M", "ℕ", "Measure Ω", "X ⟶ Y", "Submodule R M")
FORMULAS = (
    "∀ x ∈ {a}, {f} x ≤ {b} + {n}",
    "{f} ({a} + {b}) = {f} {a} + {f} {b}",
    "Tendsto (fun n : ℕ ↦ {f} (n + {n})) atTop (𝓝 ({a} * {b}))",
    "∃ t : Set X, IsOpen t ∧ {a} ∈ t ∧ t ⊆ {b}",
    "‖{f} {a} - {f} {b}‖ ≤ {n} * ‖{a} - {b}‖ ^ {n}",
    "∑ i ∈ {a}, {f} i • {b} i = ∑ i ∈ {a} \\ {{{b}}}, {f} i",
    "({a} : ℝ) < {n} → 0 < {b} ^ {n}",
    "Continuous fun x : X ↦ {f} x * ({a} x, {b} x).2",
    "Disjoint {a} ({b} ∩ {{x | {f} x = {n}}})",
    "{a} ≫ {f} = {f} ≫ {b}",
)
TACTICS = (
    "rw [{l}, ← {l}]",
    "simp only [{l}, {l}, mem_setOf_eq] at {h} ⊢",
    "exact {l} {h} (fun x hx ↦ {h} x hx)",
    "refine ⟨{l} _, ?_⟩",
    "obtain ⟨x, hx, rfl⟩ := {h}",
    "have := {l} {h}",
    "linarith [{h}, {l} {h}]",
    "apply {l}",
    "ext x",
    "by_cases hx : x ∈ s",
)
LEMMA_LIST = "mul_comm add_sub_cancel tendsto_const_nhds mem_inter_iff norm_sub_le sum_congr Disjoint.mono map_add"
NAME_LIST = "a b c f g h x y s t μ φ hf hg hx hab h₁ h₂ hs ht"
LEMMAS, NAMES = LEMMA_LIST.split(), NAME_LIST.split()
LONGEST = 12
"""Tactics in the longest proofs, about: lengths are exponential below it."""


class LeanTreeText:
    """An endless, reproducible source of files of Lean as LeanTree writes them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def files(self) -> Iterator[dict[str, Any]]:
        """Yield one JSON object for each Lean file."""
        number = 0
        while True:
            theorems = [self._theorem(k) for k in range(self.rng.randint(2, 40))]
            yield {"path": f"Mathlib/Made/Up{number:05d}.lean", "imports": ["Mathlib.Init"], "theorems": theorems}
            number += 1

    def _theorem(self, number: int) -> dict[str, Any]:
        # As a section of Mathlib declares them: type variables, their instances, variables, then what is assumed.
        section: list[dict[str, Any]] = []
        for name in "RMX":
            section.append({"type": "Type u_1", "user_name": name})
        for instance in self.rng.sample(CLASSES, self.rng.randint(1, 6)):
            section.append({"type": instance, "user_name": "inst✝"})
        for name in NAMES[: self.rng.randint(2, 8)]:
            section.append({"type": self.rng.choice(TYPES), "user_name": name})
        for _ in range(self.rng.randint(0, 4)):
            section.append(self._hypothesis())
        nodes: list[dict[str, Any]] = []
        self._grow(nodes, section, min(LONGEST, 1 + int(self.rng.expovariate(0.35))))
        span = {"start": 100 * number, "finish": 100 * number + 90}
        block = {"tree": {"root_id": 0, "nodes": nodes}, "span": span}
        return {"span": span, "name": f"made_up_{number}", "context": ["open Set Filter"], "by_blocks": [block]}

    def _grow(self, nodes: list[dict[str, Any]], hypotheses: list[dict[str, Any]], depth: int) -> int:
        """Add a state and the proof of `depth` tactics from there; returns the number of the state."""
        number = len(nodes)
        node: dict[str, Any] = {"id": number}
        nodes.append(node)
        node["state"] = {"goals": [{"type": self._formula(), "hypotheses": hypotheses}]}
        children = []
        if depth > 1:
            more = [*hypotheses, self._hypothesis()] if self.rng.random() < 0.4 else hypotheses
            children.append(self._grow(nodes, more, depth - 1))
            if self.rng.random() < 0.15:
                children.append(self._grow(nodes, more, 1 + depth // 3))
        tactic = self.rng.choice(TACTICS).format(l=self.rng.choice(LEMMAS), h=self.rng.choice(NAMES))
        edge = {"tactic_string": tactic, "span": None, "parent": number, "children": children}
        node["tactic"] = {**edge, "tactic_depends_on": None}
        node["proof_size"] = 1 + sum(nodes[child]["proof_size"] for child in children)
        node["proof_depth"] = 1 + max((nodes[child]["proof_depth"] for child in children), default=0)
        return number

    def _hypothesis(self) -> dict[str, Any]:
        return {"type": self._formula(), "user_name": self.rng.choice(NAMES)}

    def _formula(self) -> str:
        pick = self.rng.choice
        return pick(FORMULAS).format(a=pick(NAMES), b=pick(NAMES), f=pick(NAMES), n=self.rng.randint(0, 99))


def write_leantree(path: Path, size: int, seed: int = 0) -> int:
    """Write about `size` bytes of JSONL; returns how many there are."""
    source = LeanTreeText(seed).files()
    written = 0
    with open(path, "wb") as file:
        while written < size:
            written += file.write(json.dumps(next(source), ensure_ascii=False).encode("utf-8") + b"\n")
    return written
