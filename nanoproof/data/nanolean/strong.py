"""Strong tactics for generated proofs: now and then one replaces a whole plain proof in the supervised data.

They are rare on purpose. A model that has seen them a few times can try them; how far they reach is for reinforcement
learning to find out.
"""

import random

from nanoproof.data.nanolean.problem import Problem, Step, render

_ADD = "simp [Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]"
_MUL = "simp [Nat.mul_comm, Nat.mul_left_comm, Nat.mul_assoc]"


def strong_proof(problem: Problem, rng: random.Random) -> Step | None:
    """A one-tactic proof to try, by the problem's family and what its plain proof uses; None where none is likely."""
    plain = render(problem.proof)
    names = [name for name, _ in problem.hypotheses]
    listed = ", ".join(names)
    options: list[str] = []
    if problem.family == "nat_identity":
        if "Nat.mul_add" in plain or "Nat.add_mul" in plain:
            options.append("simp [Nat.mul_add, Nat.add_mul]")
        options += [text for word, text in (("Nat.add_", _ADD), ("Nat.mul_", _MUL)) if word in plain]
    elif problem.family == "equation":
        options += [f"simp [{listed}]", "simp [*]", "simp_all"]
    elif problem.family == "cancel":
        options += ["simp_all"] if len(names) == 1 else []
    elif names:
        options += ["simp_all", f"simp [{listed}]"]
    return Step(rng.choice(options)) if options else None
