"""Where a stage's transitions come from."""

import logging
from pathlib import Path

from nanoproof.data.nanolean import transitions_file
from nanoproof.data.transitions import TransitionList, load_split

log = logging.getLogger(__name__)


def load_transitions(name: str) -> tuple[TransitionList, TransitionList]:
    """Training and validation transitions: `nanolean` (made on first use), or a file of LeanTree JSONL."""
    train, valid = load_split(transitions_file() if name == "nanolean" else Path(name))
    for reason, count in (train.left_out + valid.left_out).items():
        log.info("%s: left out %d x %s", name, count, reason)
    return train, valid
