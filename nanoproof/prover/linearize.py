"""From the steps of a proof to the text of a Lean 4 tactic block."""

from nanoproof.prover.proof import Proof


def linearize(steps: Proof) -> str:
    """The proof, one tactic per line (more only where a tactic itself has more).

    Where a tactic leaves several branches, each gets a `·` block. A branch of several coupled goals cannot have one,
    since `·` shows its block a single goal: its tactics stand as they are, and work on the first goals that are left.
    """
    lines: list[str] = []
    stack = [("", False)]  # for each open branch: its indentation, and whether it is one of several
    for step in steps:
        indent, is_one_of_several = stack.pop()
        focused = is_one_of_several and step.goals == 1
        inner = indent + "  " if focused else indent
        first, *rest = step.tactic.strip("\n").split("\n")
        lines.append(indent + ("· " if focused else "") + first)
        lines += [inner + line for line in rest]
        stack += [(inner, step.branches > 1)] * step.branches
    return "\n".join(lines)
