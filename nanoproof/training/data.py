"""Where a stage's transitions come from."""

import logging
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.data import nanolean
from nanoproof.data.manifest import read_manifest
from nanoproof.data.sft import leantree
from nanoproof.data.transitions import TransitionList, load_split

log = logging.getLogger(__name__)

NAMED = {"nanolean": nanolean.transitions_file, "leantree": leantree.transitions_file}
AUTO = "auto"


def chosen_transitions(data: str) -> str:
    """What `--data` says, or where it is `auto` `leantree` if it is here. Raises UserError if it is not."""
    if data != AUTO:
        return data
    if read_manifest(leantree.NAME) is None:
        raise UserError(
            "give --data: leantree, the proofs of Mathlib, which python -m nanoproof.data.download leantree brings, "
            "or nanolean, those of the embedded prover"
        )
    return leantree.NAME


def load_transitions(name: str) -> tuple[TransitionList, TransitionList]:
    """Training and validation transitions: `nanolean` (made on first use), `leantree`, or a file of LeanTree JSONL."""
    train, valid = load_split(NAMED[name]() if name in NAMED else Path(name))
    for reason, count in (train.left_out + valid.left_out).items():
        log.info("%s: left out %d x %s", name, count, reason)
    return train, valid
