"""Draw the worked example of docs/search.md, and print what its constants change.

    python -m scripts.draw_search --output-dir docs/images

The theorem is `p ∨ q → q ∨ p` on the embedded prover, the policy five tactics of equal probability and no idea of how
far a proof is.
"""

from dataclasses import replace
from pathlib import Path

from nanoproof.common.config import Parser, add_flags, from_args, opt, validated
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_text
from nanoproof.common.terminal import print_lines, table
from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.types import Branch, LeanSession, Theorem
from nanoproof.policy.baselines import UniformPolicy
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import or_node
from nanoproof.search.render import tree_picture
from nanoproof.search.search import search

THEOREM = Theorem("theorem or_swap (p q : Prop) : p ∨ q → q ∨ p := by sorry")
POLICY = UniformPolicy(("intro h", "left", "right", "cases h", "assumption"), value=3.0)
MOMENTS = (3, 40, 1000)
"""Simulations after which a picture is drawn; the last is more than the search needs."""


@validated("draw")
class DrawOptions:
    """Pictures."""

    output_dir: str = opt("docs/images", "Where the pictures go.")


def draw(lean: LeanSession, start: Branch, directory: Path) -> None:
    """Search, and draw the tree after some simulations and at the end."""
    root, log = or_node(start), SearchLog()
    for number, moment in enumerate(MOMENTS, 1):
        # With the same root and log a search goes on where it stopped: the pictures are of one tree.
        search(root, POLICY, lean, SearchConfig(), moment, log)
        path = directory / f"search_{number}.svg"
        atomic_write_text(path, tree_picture(root))
        print(f"{path}: after {log.counts.simulations} simulations")


def variations() -> dict[str, SearchConfig]:
    """Return the search of the pictures with one constant changed at a time."""
    plain = SearchConfig()
    return {
        "default": plain,
        "preset alphaproof": SearchConfig.preset("alphaproof"),
        "no_legal_value -40": replace(plain, no_legal_value=-40.0),
        "unvisited_penalty 32": replace(plain, unvisited_penalty=32.0),
        "unvisited_penalty 2": replace(plain, unvisited_penalty=2.0),
        "gamma 0.9": replace(plain, gamma=0.9),
        "c_base 3200": replace(plain, c_base=3200.0),
        "c_base 20": replace(plain, c_base=20.0),
        "c_and 1": replace(plain, c_and=1.0),
        "progressive_c 1": replace(plain, progressive_c=1.0),
        "merge_same_state off": replace(plain, merge_same_state=False),
        "best-first": replace(plain, algorithm="best-first"),
    }


def compare(lean: LeanSession, start: Branch) -> list[str]:
    """Count the simulations that the search takes under each variation."""
    rows = []
    for name, config in variations().items():
        root, log = or_node(start), SearchLog()
        reason = search(root, POLICY, lean, config, MOMENTS[-1], log)
        rows.append((name, reason, log.counts.simulations, log.counts.nodes, log.counts.tactics_run))
    return table(("change", "outcome", "simulations", "nodes", "tactics run"), rows)


def main(argv: list[str] | None = None) -> int:
    """Write the pictures and print what the constants change."""
    parser = Parser(prog="python -m scripts.draw_search", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, DrawOptions)
    options = from_args(DrawOptions, parser.parse_args(argv))
    with start_embedded(1) as servers, LeanServerClient(servers.addresses[0], servers.token).lease() as lean:
        start = lean.start(THEOREM)
        draw(lean, start, Path(options.output_dir))
        print_lines(compare(lean, start))
    return 0


if __name__ == "__main__":
    run_main(main)
