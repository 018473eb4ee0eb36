"""Premises for the states of a search: retrieved once for each state, in batches, within a budget.

Which premises a theorem may use: those before it if it is in the corpus itself, those before its line if it is in a
file that was added (`with_files`: then all other files count as imported), and else all of the corpus, as for the
theorems of benchmarks.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.retrieval.corpus import Corpus, CorpusPremise, DeclaringFile, context_text
from nanoproof.retrieval.folders import WORDS, existing_folder
from nanoproof.retrieval.index import INDEX_FOLDER, Index
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.retrieval.vectors import ROWS, Encoder, WordEncoder, embed

if TYPE_CHECKING:
    import torch

CACHED = 1 << 16
"""States whose premises are kept."""
_AT_LINE = re.compile(r"(?P<path>.+), line (?P<line>\d+)", re.DOTALL)
"""How theorems of a project's file are called."""


class Retriever:
    """Finds premises for states. Any number of threads may ask: those that wait share a batch."""

    def __init__(self, encoder: Encoder, index: Index, count: int, own_files: Iterable[str] = ()) -> None:
        """`count` premises for each state; `own_files` are the paths of the files that were added to the corpus."""
        self.encoder, self.index, self.count = encoder, index, count
        self._own = frozenset(own_files)
        # The first guards what is below, for moments. Under the second one thread at a time uses the encoder, which is
        # not safe for several.
        self._lock, self._computing = threading.Lock(), threading.Lock()
        self._waiting: dict[str, Future[np.ndarray]] = {}
        self._kept: OrderedDict[tuple[str, str], tuple[CorpusPremise, ...]] = OrderedDict()
        self.encoded = 0
        """States that were encoded so far."""

    @classmethod
    def open(
        cls, options: RetrieveOptions, device: "torch.device | str" = "cpu", files: Sequence[DeclaringFile] = ()
    ) -> "Retriever":
        """Open the folder that options name, or with `words` make the retriever, and add the premises of files.

        Raises UserError for a folder that is not there, or has no index of its own, and for `words` without files.
        """
        if options.retriever == WORDS:
            if not files:
                raise UserError(
                    f"--retriever {WORDS} reads the declarations of a project, and there is none here; "
                    f"python -m nanoproof.retrieval index --encoder {WORDS} makes the folder of an index"
                )
            corpus = Corpus(files)
            by_words = WordEncoder.of(premise.text for premise in corpus.premises)
            return cls(by_words, Index.build(corpus, by_words)[0], options.count, corpus.paths)
        from nanoproof.retrieval.encoders import open_encoder  # it needs torch, which words do not

        folder = existing_folder(options.retriever)
        encoder = open_encoder(str(folder), device=device)
        index = Index.load(folder / INDEX_FOLDER, encoder.identity, options.searching.index_search)
        opened = cls(encoder, index, options.count)
        if files:
            opened = opened.with_files(files)
        return opened

    def with_files(self, files: Sequence[DeclaringFile]) -> "Retriever":
        """Return the retriever with the premises of some files added, in place of those of the same paths."""
        index, _ = self.index.updated(files, self.encoder)
        return Retriever(self.encoder, index, self.count, (file.path for file in files))

    # -- what may be used --------------------------------------------------------------------------------------------

    def accessible(self, name: str) -> np.ndarray | None:
        """Return the numbers of the premises that a theorem called so may use; None for all."""
        corpus = self.index.corpus
        premise = corpus.find(name)
        if premise is not None:
            return corpus.before(premise)
        match = _AT_LINE.fullmatch(name)
        if match is None or match["path"] not in corpus:
            return None
        before = corpus.accessible(match["path"], (int(match["line"]), 1))
        if match["path"] not in self._own:
            return before
        # A file that was added names its imports by its project's paths, which need not be those of the index.
        parts = [before]
        for path in corpus.paths:
            if path not in self._own:
                numbers = corpus.in_file(path)
                parts.append(np.arange(numbers.start, numbers.stop, dtype=np.int64))
        return np.unique(np.concatenate(parts))

    # -- retrieval ---------------------------------------------------------------------------------------------------

    def premises(self, state: str, name: str = "") -> tuple[CorpusPremise, ...]:
        """Return the premises for a state of the theorem called `name`, the best first."""
        context, scope = context_text(state), self._scope(name)
        with self._lock:
            known = self._kept.get((context, scope))
        if known is not None:
            return known
        # Outside of the lock: two threads may search for one state at a time, and get the same.
        vectors_QC = self._vector(context)[None]
        ((numbers, _),) = self.index.search(vectors_QC, [self.accessible(scope)], self.count)
        premises = tuple(self.index.corpus.premises[number] for number in numbers)
        with self._lock:
            self._kept[context, scope] = premises
            while len(self._kept) > CACHED:
                self._kept.popitem(last=False)
        return premises

    def _scope(self, name: str) -> str:
        """Return what tells the accessible premises of a theorem: its name, or nothing where all are."""
        inside = self.index.corpus.find(name) is not None or _AT_LINE.fullmatch(name) is not None
        if inside:
            return name
        return ""  # one entry for a state of all theorems of a benchmark

    def _vector(self, context: str) -> np.ndarray:
        """Encode a context, with those of other threads that wait; the last one to come computes."""
        # Futures, so that a state that another thread waits for is not encoded twice.
        with self._lock:
            mine = self._waiting.setdefault(context, Future())
        with self._computing:
            # All that came while others computed, ours or not: they may have computed ours. What comes from here on is
            # for the thread that computes next.
            with self._lock:
                todo, self._waiting = self._waiting, {}
            try:
                vectors = self._encode(list(todo))
            except BaseException as error:  # KeyboardInterrupt too: who waits for these must not wait for ever
                for waiting in todo.values():
                    waiting.set_exception(error)
                raise
            for waiting, vector in zip(todo.values(), vectors):
                waiting.set_result(vector)
        return mine.result()

    def _encode(self, contexts: list[str]) -> list[np.ndarray]:
        """Encode contexts; one by one on a CPU, so that a vector does not depend on what waited beside it."""
        size = 1
        if not isinstance(self.encoder, WordEncoder) and self.encoder.device.type != "cpu":
            size = ROWS
        self.encoded += len(contexts)
        vectors: list[np.ndarray] = []
        for first in range(0, len(contexts), size):
            vectors.extend(embed(self.encoder, contexts[first : first + size]))
        return vectors


def fitting(
    premises: Sequence[CorpusPremise], state: str, budget: int, count: Callable[[str], int], marked: bool = False
) -> list[str]:
    """Choose the texts of premises, the best first, that fit beside a state into a budget of tokens.

    `count` counts the tokens of a text. One that does not fit is left out, and later ones that do are taken, as
    ReProver does. With `marked` names are between marks.
    """
    left = budget - count(state)
    chosen = []
    for premise in premises:
        text = premise.plain
        if marked:
            text = premise.text
        # With what stands between it and the next, which has tokens too.
        size = count(text + "\n\n")
        if size <= left:
            chosen.append(text)
            left -= size
    return chosen
