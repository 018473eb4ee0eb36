"""Random solved trees: what is extracted, simplified and laid out proves, and the depths are those of its steps."""

import random
from itertools import count

import pytest

from nanolean.tests.each import each
from nanoproof.lean.types import Branch
from nanoproof.prover.linearize import layouts, linearize
from nanoproof.prover.proof import Proof, SolvedStates, depths, proof_depths, transitions_of
from nanoproof.prover.replay import Replayed, replay_tree, simplify, ways
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node, or_node
from nanoproof.search.search import search
from nanoproof.search.tree_json import tree_from_json, tree_to_json
from tests.fakes.lean import Outcome, ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.fakes.proof_text import Refused, TextRunner
from tests.fakes.world import RandomLean, RandomPolicy, state

SEEDS = range(60)


class World:
    """A random script in which `A` has a proof, with splits of all kinds, tactics that fail and ways round."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.script: dict[str, dict[str, Outcome]] = {}
        self.numbers = count()
        self.fill("A", 0)
        names = list(self.script)
        for name in names:
            options = self.script[name]
            if self.rng.random() < 0.3:
                options[f"bad{next(self.numbers)}"] = self.rng.choice(["reject", "timeout", "banned"])
            if self.rng.random() < 0.3:  # what works elsewhere works here too
                options.update(self.script[self.rng.choice(names)])

    def new(self, depth: int, tag: str = "") -> str:
        name = f"S{next(self.numbers)}"
        self.fill(name, depth)
        return f"{tag}:{name}" if tag else name

    def coupled(self, depth: int) -> str:
        name = f"X{next(self.numbers)} & Y{next(self.numbers)}"
        kind = self.rng.randrange(3)
        rest: list[str] = [self.new(depth + 1) for _ in range(kind)]
        self.script[name] = {f"exact c{next(self.numbers)}": rest}
        return name

    def fill(self, name: str, depth: int) -> None:
        n = next(self.numbers)
        kind = self.rng.randrange(8 if depth < 4 else 2)
        options: dict[str, Outcome]
        if kind == 0 or depth > 6:
            options = {self.rng.choice([f"exact e{n}", f"exact f{n} (fun x =>\n  x)"]): []}
        elif kind in (1, 2):
            options = {f"step{n}": [self.new(depth + 1)]}
        elif kind == 3:
            options = {f"split{n}": [self.new(depth + 1) for _ in range(self.rng.choice([2, 2, 3]))]}
        elif kind == 4:
            arms = self.rng.choice(["| a x => ?_ | b => ?_", "| a => ?_ | c x y => ?_"])
            tags = ["a", "c" if "c x" in arms else "b"]
            if self.rng.random() < 0.2:
                tags.reverse()  # not the order of the holes
            options = {f"cases h{n} with {arms}": [self.new(depth + 1, tag) for tag in tags]}
        elif kind == 5:
            tags = self.rng.choice([["inl", "inr"], ["zero", "succ"], ["inl", "inl"], ["inl", "h✝"]])
            options = {f"cases h{n}": [self.renamed(depth + 1, tag) for tag in tags]}
        elif kind == 6:
            options = {f"have h{n} : T := ?_": [self.new(depth + 1), self.new(depth + 1)]}
        else:
            branches = [self.coupled(depth), *(self.new(depth + 1) for _ in range(self.rng.randrange(3)))]
            self.rng.shuffle(branches)
            options = {f"apply g{n}": branches}
        self.script[name] = options

    def renamed(self, depth: int, tag: str) -> str:
        if self.rng.random() < 0.5:
            return self.new(depth, tag)
        name = f"S{next(self.numbers)}"
        self.script[name] = {"rename_i x y": [self.new(depth + 1)]}
        return f"{tag}:{name}"


def solve(seed: int) -> tuple[ScriptedLean, Node]:
    world = World(seed)
    lean = ScriptedLean(world.script)
    policy = ScriptedPolicy({name: [suggestion(list(options), 3.0)] for name, options in world.script.items()})
    root = or_node(branch("A"))
    search(root, policy, lean, SearchConfig(), 2000, SearchLog())
    assert root.solved
    return lean, root


def steps_of(lean: ScriptedLean, root: Node) -> tuple[Replayed, Replayed]:
    original = replay_tree(lean, branch("A"), root)
    assert original is not None
    return original, simplify(lean, original, SolvedStates(root))


def proves(lean: RandomLean | ScriptedLean, start: Branch, text: str) -> bool:
    try:
        TextRunner(lean).prove(start, text)
    except Refused:
        return False
    return True


@each("seed", SEEDS)
def test_every_layout_of_a_proof_proves_when_it_is_read_back(seed: int) -> None:
    lean, root = solve(seed)
    for proof in steps_of(lean, root):
        for text in (linearize(proof.steps), linearize(proof.steps, plain=True)):
            assert proves(lean, branch("A"), text), text


def test_the_random_worlds_have_every_kind_of_layout() -> None:
    texts = [text for seed in SEEDS for text in layouts(steps_of(*solve(seed))[0].steps)]
    for part in ("| a x =>", "case inl =>", "case succ x y =>", ":= by", "· ", "· exact", "(fun x =>\n", "apply g"):
        assert any(part in text for text in texts), part


def test_a_step_that_lists_several_ways_says_the_one_that_closes_its_branch() -> None:
    listed = "induction n <;> first | (simp_all [f] <;> (try simp_all) <;> first | omega | grind) | grind [f]"
    # Each of them works: the shortest is said. What closes nothing, such as `grind [f]`, is not there.
    works: dict[str, Outcome] = {
        listed: [],
        "induction n <;> first | (simp_all [f] <;> first | omega | grind) | grind [f]": [],
        "induction n <;> simp_all [f] <;> first | omega | grind": [],
        "induction n <;> simp_all [f] <;> omega": [],
    }
    lean = ScriptedLean({"A": works})
    policy = ScriptedPolicy({"A": [suggestion([listed], 1.0)]})
    root = or_node(branch("A"))
    search(root, policy, lean, SearchConfig(), 10, SearchLog())
    _, simplified = steps_of(lean, root)
    assert [step.tactic for step in simplified.steps] == ["induction n <;> simp_all [f] <;> omega"]


@pytest.mark.parametrize(
    ("tactic", "shorter"),
    [
        ("simp", []),
        ("first | omega | simp", ["omega", "simp"]),
        (
            "rcases x with h | h <;> first | omega | (grind)",
            ["rcases x with h | h <;> omega", "rcases x with h | h <;> grind"],
        ),
        ("have h : p := (by first | simp | omega) <;> exact h", ["have h : p := (by simp) <;> exact h"]),
        ("cases n <;> (repeat' split) <;> simp", ["cases n <;> simp"]),
    ],
)
def test_the_ways_that_a_tactic_lists_are_those_of_its_outermost_first(tactic: str, shorter: list[str]) -> None:
    assert set(shorter) <= set(ways(tactic)) and tactic not in ways(tactic)
    assert bool(ways(tactic)) == bool(shorter)


@each("seed", SEEDS)
def test_transitions_are_those_of_the_proof_and_their_depths_add_up(seed: int) -> None:
    lean, root = solve(seed)
    original, simplified = steps_of(lean, root)
    assert len(simplified.steps) <= len(original.steps)
    assert depths(original.steps)[0] == proof_depths(root)[root]
    for proof in (original, simplified):
        assert_depths(lean, proof.steps)
        assert [b.state.text for b in proof.branches] == [step.state for step in proof.steps]


def assert_depths(lean: ScriptedLean, steps: Proof) -> None:
    """Each depth is one more than the largest of those of the branches that Lean says the tactic leaves."""
    transitions = transitions_of(steps)
    assert len(transitions) == len(steps)
    stack = [(branch("A"), transitions[0].depth)]
    for position, transition in enumerate(transitions):
        text, tactic, depth = transition.state, transition.tactic, transition.depth
        current, at_most = stack.pop()
        assert (text, depth <= at_most) == (current.state.text, True)
        left = lean.script[" & ".join(goal.type for goal in current.state.goals)][tactic]
        assert depth == 1 or left
        stack += reversed([(branch(name), depth - 1) for name in left])
        if left:
            below = [t.depth for t, s in zip(transitions, steps, strict=True) if s.state in map(text_of, left)]
            assert max(below) >= depth - 1 >= 1
        else:
            assert depth == 1, position
    assert not stack


def text_of(name: str) -> str:
    return branch(name).state.text


@each("seed", SEEDS)
def test_a_tree_from_a_file_replays_as_the_one_that_was_searched(seed: int) -> None:
    lean, root = solve(seed)
    read = tree_from_json(tree_to_json(root))
    original, simplified = steps_of(lean, root)
    assert [proof.steps for proof in steps_of(lean, read)] == [original.steps, simplified.steps]


@each("seed", range(80))
def test_proofs_where_states_come_again_and_again_still_prove(seed: int) -> None:
    lean = RandomLean(seed, num_states=6 if seed % 2 else 30, close=0.08)
    root = or_node(state(0))
    search(root, RandomPolicy(seed), lean, SearchConfig(), 200, SearchLog())
    if not root.solved:
        return
    original = replay_tree(lean, state(0), root)
    assert original is not None and depths(original.steps)[0] == proof_depths(root)[root]
    simplified = simplify(lean, original, SolvedStates(root))
    assert len(simplified.steps) <= len(original.steps)
    assert proves(lean, state(0), linearize(simplified.steps))
