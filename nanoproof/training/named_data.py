"""Transitions and rows to train on or to look proofs up in, by the names that `--data` and `--similar-data` know.

Nothing here needs torch.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import repo_name, resolve_run_dir, traced_file
from nanoproof.data import nanolean
from nanoproof.data.sft import leantree
from nanoproof.data.sources.manifest import read_manifest
from nanoproof.data.transitions.leantree import TransitionList, load_split, split_proofs
from nanoproof.data.weighted_rows import Row, read_rows
from nanoproof.lean.types import Transition
from nanoproof.prover.attempt_log import logged_attempts
from nanoproof.retrieval.proved_states import ProvedStates
from nanoproof.retrieval.retrieve_options import RetrieveOptions

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


def proved_states(options: RetrieveOptions) -> ProvedStates | None:
    """Index the proofs of `--similar-data`; None if `--similar-tactics` does not ask for any.

    Raises UserError if they are not there.
    """
    if options.similar_tactics == 0:
        return None
    name = options.similar_data
    if name is None:
        raise UserError("--similar-tactics needs --similar-data: the proofs, as --data of sft names them, or an RL run")
    if name in NAMED or repo_name(name) is not None or Path(name).expanduser().is_file():
        return indexed(load_transitions(name)[0])
    run = resolve_run_dir(name, "--similar-data")
    transitions: list[Transition] = []
    for _, attempt in logged_attempts(run):
        # What was found, in this step or another: a log holds attempts that failed as well.
        if attempt.outcome == "proven":
            transitions += attempt.transitions
    if not transitions:
        raise UserError(f"--similar-data {name}: no attempt in {run} has proved anything")
    return indexed(transitions)


def indexed(transitions: Sequence[Transition]) -> ProvedStates:
    """Index the steps of proofs."""
    return ProvedStates.of((item.state, item.tactic) for item in transitions)


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
