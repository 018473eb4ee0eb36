"""Transitions and rows to train on, by the names that `--data` knows.

Nothing here needs torch.
"""

import argparse
import logging
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import repo_name, traced_file
from nanoproof.data import nanolean
from nanoproof.data.sft import leantree
from nanoproof.data.sources.manifest import read_manifest
from nanoproof.data.transitions.leantree import TransitionList, load_split, split_proofs
from nanoproof.data.weighted_rows import Row, read_rows
from nanoproof.lean.types import Transition

log = logging.getLogger(__name__)

NAMED = {
    "nanolean": nanolean.transitions_file,
    nanolean.HARD: nanolean.reference_file,
    "leantree": leantree.transitions_file,
}
REPO_TRANSITIONS = "leantree.jsonl"
"""The file of a repository's trace with its transitions."""
AUTO = "auto"


def chosen_transitions(data: str) -> str:
    """Resolve `--data`: `auto` is `leantree` if it was downloaded. Raises UserError if it was not."""
    if data != AUTO:
        return data
    if read_manifest(leantree.NAME) is None:
        raise UserError(
            "give --data: leantree, the proofs of Mathlib, which python -m nanoproof.data.download leantree brings, "
            "or nanolean, those of the embedded prover"
        )
    return leantree.NAME


def choose_data(args: argparse.Namespace) -> None:
    """Replace `--data auto` by the data set that is there; raises UserError if that is not unique."""
    args.data = chosen_transitions(args.data)


def transitions_path(name: str) -> Path:
    """Return the LeanTree JSONL of a name that `--data` takes. Raises UserError for a repository that is not traced."""
    repo = repo_name(name)
    if repo is not None:
        return traced_file(repo, REPO_TRANSITIONS)
    if name in NAMED:
        return NAMED[name]()
    return Path(name)


def load_transitions(name: str) -> tuple[TransitionList, TransitionList]:
    """Load transitions to train on and to validate: `nanolean` (made on first use), `leantree`, LeanTree JSONL,
    or `repo:NAME`, what was traced of a repository.
    """
    train, valid = load_split(transitions_path(name))
    for reason, count in (train.left_out + valid.left_out).items():
        log.info("%s: left out %d x %s", name, count, reason)
    return train, valid


def load_proofs(name: str) -> tuple[list[Transition], list[Transition]]:
    """Load the whole proofs of the same data, to train on and to validate: from a statement to the proof of it.

    Raises UserError if there is none to train on.
    """
    train, valid = split_proofs(transitions_path(name))
    if not train:
        raise UserError(f"--data {name} holds no whole proofs to train on")
    return train, valid


def load_rows(name: str, valid: str | None, most: int | None) -> tuple[list[Row], list[Row]]:
    """Load rows to train on, and at most `most` to validate on. Raises UserError if there is none to train on."""
    train = read_rows(Path(name).expanduser())
    if not train:
        raise UserError(f"--data {name} holds no rows to train on")
    if not any(row.weight for row in train):
        raise UserError(f"--data {name} holds no rows to train on: all weights are 0")
    if valid is None:
        return train, []
    return train, read_rows(Path(valid).expanduser())[:most]


# -- Transitions as examples -----------------------------------------------------------------------------------------
