"""Believable theorems, proofs, tactics and search trees, made up at random: nothing here was checked by Lean."""

import math
from dataclasses import dataclass
from random import Random
from typing import Any

from nanoproof.lean.types import Theorem, Transition
from nanoproof.prover.attempt import Attempt, FailedTactic, Outcome

_STATEMENTS = [
    ("Nat.add_swap", "(a b c : Nat) : a + b + {k} + c = c + {k} + (b + a)", ["a b c : Nat"]),
    ("Nat.le_pad", "(a b : Nat) (h : a ≤ b) : a + {k} ≤ b + {k}", ["a b : Nat", "h : a ≤ b"]),
    ("Nat.mul_dist", "(n m : Nat) : n * (m + {k}) = n * m + n * {k}", ["n m : Nat"]),
    ("and_shuffle", "(p q r : Prop) (h : p ∧ q ∧ r) (n : Fin {k}) : r ∧ p", ["p q r : Prop", "h : p ∧ q ∧ r"]),
    ("List.length_pad", "(xs : List Nat) : (xs ++ [{k}]).length = xs.length + 1", ["xs : List Nat"]),
    ("Nat.sub_bound", "(n : Nat) (h : {k} < n) : n - {k} < n", ["n : Nat", "h : {k} < n"]),
    ("or_elim_twice", "(p q : Prop) (h : p ∨ q ∨ p) : {k} = {k} ∧ (q ∨ p)", ["p q : Prop", "h : p ∨ q ∨ p"]),
    ("Nat.pow_pos", "(n : Nat) (h : 0 < n) : 0 < n ^ {k}", ["n : Nat", "h : 0 < n"]),
]
_STEPS = ["intro x", "rw [Nat.add_comm]", "simp only [Nat.add_assoc]", "induction n with", "cases h", "constructor"]
_STEPS += ["apply Nat.le_trans", "rw [Nat.mul_add, Nat.add_comm]", "obtain ⟨h₁, h₂⟩ := h", "refine ⟨?_, ?_⟩"]
_STEPS += ["have h₁ : 0 ≤ {k} := Nat.zero_le _", "exact Nat.add_le_add h (Nat.le_refl _)", "rw [← Nat.succ_add]"]
_LAST = ["omega", "rfl", "simp", "exact h", "exact ⟨h₂, h₁⟩", "decide", "assumption", "simp [Nat.add_left_comm]"]
_WRONG = ["linarith", "ring", "exact h.1", "rw [Nat.sub_self]", "apply Nat.lt_irrefl", "norm_num", "contradiction"]
_DATASETS = ("nanolean", "leanworkbook", "numinamath")


@dataclass(frozen=True)
class Invented:
    """A theorem with what the simulation knows of it: how hard it is (0 to 1) and how long its proof."""

    theorem: Theorem
    hardness: float
    length: int
    context: tuple[str, ...]
    goal: str


def invent_theorem(number: int, seed: int = 0) -> Invented:
    """The same theorem for the same number."""
    rng = Random(f"{seed}/{number}")
    name, statement, context = _STATEMENTS[number % len(_STATEMENTS)]
    k = str(2 + number // len(_STATEMENTS))
    dataset = _DATASETS[min(2, int(rng.expovariate(1.2)))]
    text = statement.replace("{k}", k)
    label = f"{name}_{number:05d}" + "_of_a_name_without_end" * (8 if number % 5 == 4 else 0)
    theorem = Theorem(f"theorem {label} {text} := by\n  sorry\n", dataset, label)
    hardness = rng.betavariate(1.3, 1.1)
    lines = tuple(line.replace("{k}", k) for line in context)
    return Invented(theorem, hardness, 1 + int(rng.expovariate(0.35)), lines, text.rsplit(" : ", 1)[1])


def invent_state(one: Invented, rng: Random, left: int) -> str:
    """A proof state some tactics before the end."""
    extra = [f"h{i} : {rng.randint(0, 9)} ≤ {rng.randint(9, 40)}" for i in range(min(4, max(0, one.length - left)))]
    return "\n".join([*one.context, *extra, f"⊢ {one.goal}" + f" + {left}" * (left < one.length)])


def invent_tactic(rng: Random, last: bool = False) -> str:
    """A tactic that does something."""
    return rng.choice(_LAST if last else _STEPS).replace("{k}", str(rng.randint(1, 30)))


def invent_attempt(one: Invented, rng: Random, skill: float, budget: int, step: int) -> Attempt:
    """An attempt at a theorem by a model that is as good as `skill` (0 to 1)."""
    outcome = _outcome(one, rng, skill)
    done = outcome in ("proven", "disproven")
    used = max(1, int(budget * rng.random() ** 2)) if done else (budget if outcome == "unproven" else rng.randint(0, 9))
    steps = [invent_tactic(rng, left == 1) for left in range(one.length, 0, -1)] if done else []
    states = [invent_state(one, rng, left) for left in range(one.length, 0, -1)] if done else []
    proof = "\n".join(steps)
    body = "\n".join("  " + line for line in steps)
    gone = outcome == "error" and one.length > 1
    check = {"accepted": False, "reason": "the axioms of it are not reported: []", "lost": "ProtocolError"}
    lean, policy = 0.03 * used * (0.5 + rng.random()), 0.05 * used * (0.5 + rng.random())
    return Attempt(
        one.theorem,
        outcome,
        message={"unproven": "no proof within the budget", "error": "the Lean server went away"}.get(outcome, ""),
        disproving=outcome == "disproven" or rng.random() < 0.05,
        proof=proof,
        source=one.theorem.source.replace("  sorry", body) if done else "",
        num_tactics=len(steps),
        transitions=tuple(Transition(*row) for row in zip(states, steps, range(one.length, 0, -1))),
        failed_tactics=tuple(
            FailedTactic(invent_state(one, rng, rng.randint(1, one.length)), rng.choice(_WRONG))
            for _ in range(rng.randint(0, 12))
        ),
        budget=budget,
        seed=rng.getrandbits(48),
        policy=f"step {step}",
        stop_reason={"unproven": "budget", "error": "ServerUnavailable"}.get(outcome, "solved"),
        counts={"simulations": used, "expansions": used, "tactic_samples": 6 * used, "tactics_run": 4 * used},
        seconds={"search": round(lean + policy, 3), "lean": round(lean, 3), "policy": round(policy, 3), "check": 0.2},
        check={**check, "server": "127.0.0.1:8001"} if gone else None,
    )


def _outcome(one: Invented, rng: Random, skill: float) -> Outcome:
    luck = rng.random()
    if luck < 0.01:
        return "error"
    if one.hardness > 0.96:
        return "disproven" if luck < 0.3 else "unproven"
    return "proven" if one.hardness < skill * (0.7 + 0.6 * rng.random()) else "unproven"


def invent_tree(one: Invented, attempt: Attempt, rng: Random, size: int) -> dict[str, Any]:
    """A search tree of about `size` nodes in the form of `search/tree_json.py`, with the proof if there is one."""
    kind, parent, tactic, state, solved = ["o"], [-1], [-1], [0], [attempt.outcome == "proven"]
    states, tactics = [invent_state(one, rng, one.length)], list[str]()

    def add(letter: str, above: int, text: str | None, is_solved: bool) -> int:
        kind.append(letter)
        parent.append(above)
        tactic.append(-1 if text is None else len(tactics))
        state.append(len(states) if letter == "o" else -1)
        solved.append(is_solved)
        if text is not None:
            tactics.append(text)
        if letter == "o":
            states.append(invent_state(one, rng, rng.randint(1, one.length)) + f" -- {len(states)}")
        return len(kind) - 1

    open_nodes, node = [0], 0
    for transition in attempt.transitions[:-1] if attempt.outcome == "proven" else ():
        node = add("o", node, transition.tactic, True)
        open_nodes.append(node)
    if attempt.outcome == "proven":
        add("c", node, attempt.transitions[-1].tactic, True)
    while len(kind) < size:
        above = open_nodes[min(len(open_nodes) - 1, int(rng.expovariate(1 / (1 + len(open_nodes) / 4))))]
        if rng.random() < 0.12:
            both = add("a", above, "constructor", False)
            open_nodes += [add("o", both, None, False) for _ in range(2)]
        else:
            open_nodes.append(add("o", above, invent_tactic(rng), False))
    visits = [1] * len(kind)
    for i in range(len(kind) - 1, 0, -1):
        visits[parent[i]] += visits[i]
    priors = [round(rng.random() ** 2, 4) for _ in kind]
    values = [-(1.0 + 6 * rng.random()) * (0.4 if solved[i] else 1.0) * visits[i] for i in range(len(kind))]
    return {
        "kind": "".join(kind),
        "solved": "".join("01"[one] for one in solved),
        **{"parent": parent, "tactic": tactic, "prior": priors, "state": state},
        "logprob": [round(math.log(max(prior, 1e-4)), 3) for prior in priors],
        "visits": visits,
        "value_sum": [round(value, 3) for value in values],
        "expansions": [1 + count // 8 for count in visits],
        **{"finisher": [], "dead": [i for i in range(1, len(kind)) if not solved[i] and rng.random() < 0.02]},
        **{"spellings": {}, "merged": [], "keys": {}},
        "refused": {"0": [len(tactics), len(tactics) + 1]},
        **{"states": states, "tactics": [*tactics, *rng.sample(_WRONG, 2)]},
    }
