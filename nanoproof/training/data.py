"""Where a stage's transitions come from."""

import logging
from pathlib import Path

from nanoproof.data import nanolean
from nanoproof.data.sft import leantree
from nanoproof.data.transitions import TransitionList, load_split

log = logging.getLogger(__name__)

NAMED = {"nanolean": nanolean.transitions_file, "leantree": leantree.transitions_file}


def load_transitions(name: str) -> tuple[TransitionList, TransitionList]:
    """Training and validation transitions: `nanolean` (made on first use), `leantree`, or a file of LeanTree JSONL."""
    train, valid = load_split(NAMED[name]() if name in NAMED else Path(name))
    for reason, count in (train.left_out + valid.left_out).items():
        log.info("%s: left out %d x %s", name, count, reason)
    return train, valid
