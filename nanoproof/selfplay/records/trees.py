"""The tree store: search trees of the newest attempts, for people who want to see how a search went.

`trees/<step>_<rank>_<sequence>.json.gz` holds what `search/tree_json.py` describes. A rank keeps `--keep-trees` of
them and takes in only as many as cost it next to nothing: proofs and failures in turn, if there are both.
"""

import gzip
import json
import logging
import re
import time
from collections import deque
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write
from nanoproof.search.node import Node
from nanoproof.search.tree_json import tree_to_json
from nanoproof.selfplay.records.observer import Number

log = logging.getLogger(__name__)

SHARE = 0.01
"""A tree is written when at least 1 / SHARE of the time that the last one took has gone by."""
LEAST_SECONDS = 0.5
MAX_NODES = 20_000
"""Larger trees are not written: nobody could look at them, and they would hold up the actors."""
_NAME = re.compile(r"(\d+)_(\d+)_(\d+)\.json\.gz")


def tree_file(run_path: Path, number: Number) -> Path:
    """Where the tree of an attempt is, if it is kept."""
    return run_path / "trees" / "{}_{}_{}.json.gz".format(*number)


def kept_trees(run_path: Path) -> list[Number]:
    """The attempts whose trees are kept, in order."""
    try:
        found = [_NAME.fullmatch(file.name) for file in (run_path / "trees").iterdir()]
    except OSError:
        return []
    return sorted((int(match[1]), int(match[2]), int(match[3])) for match in found if match)


def read_tree(run_path: Path, number: Number) -> dict[str, Any]:
    """A kept tree. Raises UserError if there is none, or if it is damaged."""
    file = tree_file(run_path, number)
    try:
        with gzip.open(file) as source:
            tree = json.load(source)
    except FileNotFoundError as error:
        raise UserError(f"no such tree: {file}") from error
    except (OSError, EOFError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}") from error
    if not isinstance(tree, dict):
        raise UserError(f"{file} holds no tree")
    return tree


class TreeStore:
    """The trees of one rank. `wants` may be asked by any thread, `write` is called by one."""

    def __init__(self, run_path: Path, rank: int, keep: int) -> None:
        self._path, self._keep = run_path, keep
        self._kept = deque(number for number in kept_trees(run_path) if number[1] == rank)
        self._not_before = float("-inf")
        self._last_proven = False
        self._pending = False
        self._failed = False

    def wants(self, proven: bool, nodes: int) -> bool:
        """Whether the tree of an attempt that has ended now is to be written; if so, `write` has to be called."""
        if self._keep == 0 or self._pending or nodes > MAX_NODES:
            return False
        patience = LEAST_SECONDS if proven == self._last_proven else 0.0
        wanted = time.monotonic() >= self._not_before + patience
        if wanted:
            self._pending, self._last_proven = True, proven
        return wanted

    def write(self, number: Number, root: Node) -> None:
        """Write a tree, and remove those that are too many."""
        began, busy = time.monotonic(), time.thread_time()
        try:
            content = json.dumps(tree_to_json(root), ensure_ascii=False, separators=(",", ":")).encode()
            file = tree_file(self._path, number)
            atomic_write(file, lambda target: target.write(gzip.compress(content, 6)), sync=False)
            self._kept.append(number)
            while len(self._kept) > self._keep:
                tree_file(self._path, self._kept.popleft()).unlink(missing_ok=True)
        except OSError as error:
            if not self._failed:
                log.warning("search trees cannot be written: %s; the run goes on without them", error)
            self._failed = True
        self._not_before = began + max(LEAST_SECONDS, (time.thread_time() - busy) / SHARE)
        self._pending = False
