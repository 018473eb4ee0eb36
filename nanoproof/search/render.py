"""A search tree as text for people: one line per node with its tactic, visits, value and what is left to prove."""

from nanoproof.search.node import Kind, Node

_STATE_WIDTH = 72


def render_tree(root: Node, max_nodes: int = 200) -> str:
    """The tree, solved and most visited children first; ✓ marks what is solved, unvisited leaves are only counted.

    N is the number of visits, V the mean value (minus the tactics still needed), P the share of its siblings' priors.
    """
    lines: list[str] = []
    stack: list[tuple[Node, Node | None, str, str]] = [(root, None, "", "")]
    hidden = 0
    while stack:
        node, parent, lead, indent = stack.pop()
        if len(lines) >= max_nodes:
            hidden += 1
            continue
        lines.append(lead + _describe(node, parent))
        shown = [child for child in node.children if child.visits or child.solved]
        if node.kind is Kind.AND:
            shown = list(node.children)
        elif len(shown) < len(node.children):
            lines[-1] += f"  (+{len(node.children) - len(shown)} untried)"
        if node.kind is Kind.OR:
            shown = sorted(shown, key=lambda child: (-child.solved, -child.visits))
        for i, child in reversed(list(enumerate(shown))):
            last = i == len(shown) - 1
            stack.append((child, node, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  ")))
    if hidden:
        lines.append(f"... and {hidden} more branches of the tree")
    return "\n".join(lines)


def _describe(node: Node, parent: Node | None) -> str:
    parts = ["✓" if node.solved else "·"]
    if node.tactic is not None:
        parts.append(" ".join(node.tactic.split()) + (" [finisher]" if node.finisher else ""))
        parts.append("→")
    elif parent is not None:
        parts.append(f"branch {parent.children.index(node) + 1}")
    if node.kind is Kind.CLOSED:
        parts.append("closed")
    elif node.kind is Kind.AND:
        parts.append(f"all {len(node.children)} branches")
    else:
        parts.append(shorten(node.state))
    if node.kind is not Kind.CLOSED:
        share = f" P={node.prior / parent.prior_sum:.2f}" if parent is not None and parent.prior_sum else ""
        value = f" V={node.value:.2f}" if node.visits else ""
        parts.append(f" [N={node.visits}{value}{share}]")
    return " ".join(parts)


def shorten(state: str) -> str:
    """What a state asks for, on one line: its targets, without hypotheses."""
    targets = [" ".join(goal[goal.index("⊢") :].split()) for goal in state.split("\n\n") if "⊢" in goal]
    text = "  ".join(targets) or " ".join(state.split())
    return text if len(text) <= _STATE_WIDTH else text[: _STATE_WIDTH - 1] + "…"
