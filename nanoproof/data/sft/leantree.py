"""LeanTree: the proofs of Mathlib as transitions. The last tenth of its lines (files of Mathlib) is for validation.

python -m nanoproof.data.sft.leantree stats
python -m nanoproof.data.sft.leantree show --split valid --max 3
python -m nanoproof.data.sft.leantree show --id Mathlib/Logic/Basic.lean
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError, run_main
from nanoproof.data.dataset_cli import check_max, chosen_splits, make_parser, print_items
from nanoproof.data.sources.manifest import file_path
from nanoproof.data.transitions.leantree import TransitionList, load_split

NAME, FILE = "leantree", "leantree_mathlib.jsonl"
SPLITS = ("train", "valid")


def transitions_file() -> Path:
    """Return the path of the LeanTree JSONL. Raises UserError, with the command that fetches it, if it is missing."""
    return file_path(NAME, FILE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `stats` or `show`; the id of a transition is the path of its Lean file."""
    parser, _ = make_parser("nanoproof.data.sft.leantree", "The transitions of LeanTree.", SPLITS, "transition")
    args = parser.parse_args(argv)
    check_max(args)
    splits = dict(zip(SPLITS, load_split(transitions_file())))
    if args.command == "stats":
        _print_stats(splits, args.json)
        return 0
    names = chosen_splits(args, SPLITS)
    items: list[tuple[str, dict[str, Any]]] = []
    for name in names:
        transitions = splits[name]
        chosen = [index for index in range(len(transitions)) if args.id in (None, transitions.path(index))]
        for index in chosen[: args.max - len(items)]:  # `--max` counts over all splits
            item, path = transitions[index], transitions.path(index)
            text = f"-- {path}, {name}, proof depth {item.depth}\n{item.state}\n\n  {item.tactic}"
            items.append((text, {"path": path, "split": name, **asdict(item)}))
    if args.id is not None and not items:
        raise UserError(f"--id {args.id}: no transition of such a file in {NAME} {', '.join(names)}")
    print_items(items, args.json)
    return 0


def _print_stats(splits: dict[str, TransitionList], as_json: bool) -> None:
    report: dict[str, dict[str, Any]] = {}
    for name, items in splits.items():
        files = set(map(items.path, range(len(items))))
        left_out = dict(items.left_out.most_common())
        report[name] = {"transitions": len(items), "files": len(files), "left_out": left_out}
    if as_json:
        print(json.dumps({"name": NAME, "splits": report}))
        return
    print(NAME)
    for name, counts in report.items():
        print(f"  {name:<10}{counts['transitions']:>10,} transitions of {counts['files']:,} files")
        for reason, count in counts["left_out"].items():
            print(f"  {'left out':<10}{count:>10,}  {reason}")


if __name__ == "__main__":
    run_main(main)
