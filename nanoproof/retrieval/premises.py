"""Premises for the states of a search, or of training: retrieved once for each state, in batches, within a budget.

Which premises a theorem may use: those before it if it is in the corpus itself, those before its line if it is in a
file that was added (`with_files`: then all other files count as imported), and else all of the corpus, as for the
theorems of benchmarks.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from nanoproof.common.config import change, check, group, opt, validate
from nanoproof.common.errors import UserError
from nanoproof.retrieval.corpus import Corpus, CorpusPremise, DeclaringFile, context_text
from nanoproof.retrieval.encoders import ROWS, WORDS, Encoder, WordEncoder, embed, open_encoder, retriever_folder
from nanoproof.retrieval.index import INDEX_FOLDER, Index, IndexSearchOption

PREMISE_LOGPROB = -3.0
STEP_LOGPROB = -3.0
LEMMAS = 32
"""Premises that are looked at for lemmas to apply forward: few of them fit the hypotheses of a state."""
CACHED = 1 << 16
"""States whose premises are kept."""
_AT_LINE = re.compile(r"(?P<path>.+), line (?P<line>\d+)", re.DOTALL)
"""How theorems of a project's file are called."""


@dataclass(frozen=True)
class RetrieveOptions:
    """Premise retrieval."""

    retrieve: int = opt(0, "Premises to put before each state; 0: none.", min=0, metavar="K")
    premise_tactics: int = opt(
        0,
        "Premises for which tactics are tried at every state beside the policy's: apply, rw, simp; 0: none.",
        min=0,
        metavar="K",
        advanced=True,
    )
    premise_logprob: float = opt(
        PREMISE_LOGPROB,
        "Log-probability that such a tactic of the best premise counts with; of the k-th, ln k less.",
        max=0,
        constant=True,
    )
    step_tactics: int | None = opt(
        None,
        "Steps that a state itself suggests, tried beside the policy's: what is there is taken apart, rewritten with, "
        "applied forward (with --retriever lemmas too), inductions, case splits; at most N, 0: none. Default: 12 for "
        "a network of fewer than ten million parameters that is used or scored on NanoLean, else none.",
        min=0,
        metavar="N",
        advanced=True,
    )
    similar_tactics: int = opt(
        0,
        "Tactics of the proved states most like a state, tried beside the policy's in its names; at most N, 0: none.",
        min=0,
        metavar="N",
        advanced=True,
    )
    similar_data: str | None = opt(
        None,
        "Proofs of --similar-tactics: `nanolean`, `leantree`, `repo:NAME`, a file of LeanTree JSONL, or an RL run.",
        metavar="DATA",
        advanced=True,
    )
    step_logprob: float = opt(
        STEP_LOGPROB,
        "Log-probability that the first of such steps and of such tactics counts with; the k-th ln k less.",
        max=0,
        constant=True,
    )
    step_decay: float = opt(
        0.0,
        "What --step-logprob loses with each step of RL, in which the network learns from those that end in proofs.",
        min=0,
        constant=True,
    )
    retriever: str | None = opt(
        None,
        "Folder that python -m nanoproof.retrieval train or index wrote: encoder and index of the premises; or "
        f"`{WORDS}`: the declarations of the project that is proved, compared word by word.",
    )
    retrieve_tokens: int = opt(
        512, "Tokens that a state and its premises may have; what does not fit is left out.", min=1, advanced=True
    )
    searching: IndexSearchOption = group(IndexSearchOption, index_search=change(advanced=True))

    def __post_init__(self) -> None:
        validate(self, "retrieval")
        check(self.retrieve == 0 or self.retriever is not None, "--retrieve needs --retriever, the folder of an index")
        check(
            self.premise_tactics == 0 or self.retriever is not None,
            "--premise-tactics needs --retriever: the folder of an index, or words",
        )
        check(
            self.retriever in (None, WORDS) or self.count > 0,
            "--retriever needs --retrieve K, --premise-tactics K or --step-tactics N",
        )
        check(self.similar_data is None or self.similar_tactics > 0, "--similar-data is for --similar-tactics N")
        check(
            self.searching.index_search == "exact" or self.retriever not in (None, WORDS),
            "--index-search ann needs --retriever, the folder of an index",
        )

    @property
    def count(self) -> int:
        """How many premises of a state are looked for."""
        lemmas = 0
        if self.step_tactics and self.retriever is not None:
            lemmas = LEMMAS
        return max(self.retrieve, self.premise_tactics, lemmas)

    @property
    def adds_tactics(self) -> bool:
        """Whether tactics are tried beside the policy's."""
        return self.premise_tactics > 0 or bool(self.step_tactics) or self.similar_tactics > 0

    def settings(self) -> dict[str, Any] | None:
        """Return what these options change of what a policy suggests, for the record; None if nothing.

        Raises UserError if the retriever is not there.
        """
        changes: dict[str, Any] = {}
        if self.step_tactics:
            changes["step_tactics"] = self.step_tactics
        if self.similar_tactics:
            changes |= {"similar_tactics": self.similar_tactics, "similar_data": self.similar_data}
        if self.step_tactics or self.similar_tactics:
            changes["step_logprob"] = self.step_logprob
        if self.count == 0:
            return changes or None
        if self.retrieve:
            changes |= {"retrieve": self.retrieve, "retrieve_tokens": self.retrieve_tokens}
        if self.premise_tactics:
            changes |= {"premise_tactics": self.premise_tactics, "premise_logprob": self.premise_logprob}
        if self.searching.index_search != "exact":
            changes["index_search"] = self.searching.index_search
        if self.retriever == WORDS:
            return {**changes, "retriever": WORDS}
        # Not the folder: an index may be brought up to date there between two runs.
        return {**changes, "retriever": Index.load(_folder(self.retriever) / INDEX_FOLDER).identity}


def _folder(spec: str | None) -> Any:
    folder = retriever_folder(spec or "")
    if folder is None:
        raise UserError(f"--retriever {spec}: no such folder of python -m nanoproof.retrieval train or index")
    return folder


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
        cls, options: RetrieveOptions, device: torch.device | str = "cpu", files: Sequence[DeclaringFile] = ()
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
        folder = _folder(options.retriever)
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
        return self.all_premises([state], [name])[0]

    def all_premises(self, states: Sequence[str], names: Sequence[str]) -> list[tuple[CorpusPremise, ...]]:
        """Return the premises for each state of the theorem of a name, the best first."""
        keys = [(context_text(state), self._scope(name)) for state, name in zip(states, names, strict=True)]
        known: dict[tuple[str, str], tuple[CorpusPremise, ...]] = {}
        missing, contexts, allowed = [], [], []
        with self._lock:
            for key in dict.fromkeys(keys):
                if key in self._kept:
                    known[key] = self._kept[key]
                else:
                    missing.append(key)
        for context, scope in missing:
            contexts.append(context)
            allowed.append(self.accessible(scope))
        if missing:
            # Outside of the lock: two threads may search for one state at a time, and get the same.
            vectors_QC = np.stack(self._vectors(contexts))
            for key, (numbers, _) in zip(missing, self.index.search(vectors_QC, allowed, self.count)):
                known[key] = tuple(self.index.corpus.premises[number] for number in numbers)
            with self._lock:
                for key in missing:
                    self._kept[key] = known[key]
                while len(self._kept) > CACHED:
                    self._kept.popitem(last=False)
        return [known[key] for key in keys]

    def _scope(self, name: str) -> str:
        """Return what tells the accessible premises of a theorem: its name, or nothing where all are."""
        inside = self.index.corpus.find(name) is not None or _AT_LINE.fullmatch(name) is not None
        if inside:
            return name
        return ""  # one entry for a state of all theorems of a benchmark

    def _vectors(self, contexts: Sequence[str]) -> list[np.ndarray]:
        """Encode contexts, with those of other threads that wait; the last one to come computes."""
        # Futures, so that a state that another thread waits for is not encoded twice.
        with self._lock:
            mine = [self._waiting.setdefault(context, Future()) for context in contexts]
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
        return [future.result() for future in mine]

    def _encode(self, contexts: list[str]) -> list[np.ndarray]:
        """Encode contexts; one by one on a CPU, so that a vector does not depend on what waited beside it."""
        size = ROWS
        if self.encoder.device.type == "cpu":
            size = 1
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
