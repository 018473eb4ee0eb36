"""States that come up in several places of a tree: proofs found at one of them are replayed at the others.

The tree stays a tree: a proof that is moved becomes edges and nodes of its own, each run in Lean at its new place. So
whatever is solved replays, also where the states are equivalent and not the same text.
"""

from collections.abc import Iterable, Iterator, Sequence

from nanoproof.lean.types import TacticApplied
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog, TacticRunner, keys_of, new_child, run_tactics
from nanoproof.search.node import Kind, Node, walk


def is_repeat(node: Node, log: SearchLog) -> bool:
    """Tell whether the state of an unexpanded OR node was expanded elsewhere first, and is still open there."""
    first = log.expanded.get(node.identity[0]) if node.kind is Kind.OR and not node.expansions else None
    return first is not None and first.open


def note_expanded(node: Node, log: SearchLog) -> None:
    """Record that a node was expanded."""
    log.expanded.setdefault(node.identity[0], node)


def reuse_proofs(
    root: Node, path: Sequence[Node], num_before: int, lean: TacticRunner, config: SearchConfig, log: SearchLog
) -> None:
    """Replay what was proved at equal states, after a simulation that expanded the last node of `path`.

    That node had `num_before` children before. A proof is tried once at each node. Raises LeanError if the server
    fails.
    """
    fresh = [node for child in path[-1].children[num_before:] for node in branches_of(child)]
    solved = _note_proofs(path, log)
    if not solved and not any(node.identity[0] in log.proofs for node in fresh):
        return
    while True:
        replayed = False
        for node in _open_nodes(root):
            proof = log.proofs.get(node.identity[0])
            if proof is not None and (node, proof) not in log.replays:
                worked = _replay(node, proof, lean, config, log)
                log.replays.add((node, proof))
                log.counts.reused += worked
                replayed |= worked
        if not replayed:
            log.counts.nodes = sum(1 for _ in walk(root))  # without those of proofs that worked in part only
            return
        _mark_solved(root)
        _note_proofs(_solved_nodes(root), log)


def branches_of(child: Node) -> Sequence[Node]:
    """Return the OR nodes that have to be solved where an edge led to `child`."""
    return {Kind.CLOSED: (), Kind.OR: (child,), Kind.AND: child.children}[child.kind]


def _replay(node: Node, proof: Node, lean: TacticRunner, config: SearchConfig, log: SearchLog) -> bool:
    """Replay at an OR node the proof of another one; returns whether it worked."""
    edge = next(
        child for child in sorted(proof.children, key=lambda child: child.kind is not Kind.CLOSED) if child.solved
    )
    assert edge.tactic is not None
    child = node.known.get(edge.tactic)
    if child is None:
        if edge.tactic in node.known:
            return False
        result = run_tactics(node, [edge.tactic], lean, log.counts)[edge.tactic]
        if not isinstance(result, TacticApplied):
            return False
        key, identity = keys_of(result.branches, config)
        child = next((sibling for sibling in node.children if sibling.identity == identity), None)
        if child is None:
            candidate = edge.tactic, edge.prior, edge.logprob, edge.finisher
            child = new_child(result.branches, key, identity, candidate, log.counts)
    ours, theirs = branches_of(child), branches_of(edge)
    if len(ours) not in (0, len(theirs)):
        return False
    if not all(mine.solved or _replay(mine, other, lean, config, log) for mine, other in zip(ours, theirs)):
        return False
    if child not in node.children:
        node.children += (child,)
    node.known = {**node.known, edge.tactic: child}
    child.solved = node.solved = True
    return True


def _open_nodes(root: Node) -> list[Node]:
    """List the OR nodes to solve: those on paths of open nodes."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.open:
            if node.kind is Kind.OR:
                found.append(node)
            stack.extend(reversed(node.children))
    return found


def _solved_nodes(root: Node) -> Iterator[Node]:
    return (node for node in walk(root) if node.solved and node.kind is Kind.OR)


def _mark_solved(root: Node) -> None:
    """Move the marks of solved nodes up."""
    for node in reversed(list(walk(root))):
        if node.kind is not Kind.CLOSED:
            solved = [child.solved for child in node.children]
            node.solved = all(solved) if node.kind is Kind.AND else any(solved)


def _note_proofs(nodes: Iterable[Node], log: SearchLog) -> bool:
    """Record which of the nodes are solved; returns whether a state is among them that was not solved before."""
    before = len(log.proofs)
    for node in nodes:
        if node.solved and node.kind is Kind.OR:
            log.proofs.setdefault(node.identity[0], node)
    return len(log.proofs) > before
