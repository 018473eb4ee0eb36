"""The premises of a project whose files change: read anew where they did."""

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

from nanoproof.common.distributed import choose_device
from nanoproof.lean.types import Theorem
from nanoproof.policy.added_tactics import AddedTactics, PremiseTactics
from nanoproof.repos.premise_data import folder_files, library_files
from nanoproof.repos.project import LIBRARY_FOLDER, SKIPPED_FOLDERS
from nanoproof.repos.traced_files import TracedFile
from nanoproof.retrieval.corpus import Corpus
from nanoproof.retrieval.folders import WORDS
from nanoproof.retrieval.index import Index
from nanoproof.retrieval.premises import Retriever
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.retrieval.vectors import WordEncoder
from nanoproof.search.policy import Policy, Suggestion, around_each, policy_for

MOST_PREMISES = 100
"""Premises of a state that can be asked for."""
_LOOK_AGAIN_SECONDS = 2.0
"""How often at most it is looked whether files have changed: searches ask thousands of times a second."""


class ProjectPremises:
    """Finds premises among a project's declarations, and those of an index or of NanoLean. Safe for many threads."""

    def __init__(self, root: Path, options: RetrieveOptions, device_type: str, with_nanolean: bool) -> None:
        """`options` name the index, if there is one; without one, those of NanoLean's library count if wanted."""
        self._root, self._options, self._device_type, self._with_nanolean = root, options, device_type, with_nanolean
        self._base: Retriever | None = None
        self._retriever: Retriever | None = None
        self._signature: tuple[tuple[str, int, int], ...] | None = None
        self._looked = float("-inf")
        self._lock = threading.Lock()

    def retriever(self) -> Retriever | None:
        """Return the retriever over the files as they are now; None if nothing is declared anywhere."""
        with self._lock:
            if time.monotonic() - self._looked > _LOOK_AGAIN_SECONDS:
                signature = _signature(self._root)
                if signature != self._signature:
                    self._retriever, self._signature = self._read(bool(signature)), signature
                self._looked = time.monotonic()
            return self._retriever

    def _read(self, has_files: bool) -> Retriever | None:
        files: list[TracedFile] = []
        if has_files:
            files = folder_files(self._root)
        if self._options.retriever not in (None, WORDS):
            # What the index and its encoder are is read once; the project's files are put over it.
            if self._base is None:
                opened = Retriever.open(self._options, choose_device(self._device_type)[0])
                self._base = Retriever(opened.encoder, opened.index, MOST_PREMISES)
            return self._base.with_files(files)
        known = list(files)
        if self._with_nanolean:
            known += _library()
        corpus = Corpus(known)
        if not corpus.premises:
            return None
        # Weights of words are by how rare they are here, so that this encoder is made anew with the files.
        encoder = WordEncoder.of(premise.text for premise in corpus.premises)
        return Retriever(encoder, Index.build(corpus, encoder)[0], MOST_PREMISES, [file.path for file in files])

    def around(self, policy: Policy) -> Policy:
        """Put tactics of the project's premises beside those of a policy, if options ask for them."""
        if not self._options.premise_tactics or self._options.retrieve:
            return policy  # with --retrieve, the policy has been opened with both
        return around_each(policy, lambda member: _FreshPremiseTactics(member, self, self._options))


class _FreshPremiseTactics:
    """`PremiseTactics` over the retriever of the moment."""

    def __init__(self, policy: Policy, premises: ProjectPremises, options: RetrieveOptions) -> None:
        self.policy, self._premises, self._options = policy, premises, options

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest as the policy does, and tactics of premises."""
        return self.for_theorem(Theorem("")).suggest(state_text, seed)

    def for_theorem(self, theorem: Theorem) -> Policy:
        """Return the policy with tactics of the premises that this theorem may use."""
        own, retriever = policy_for(self.policy, theorem), self._premises.retriever()
        if retriever is None:
            return own
        return AddedTactics(own, [PremiseTactics(retriever, self._options)], theorem)


def _library() -> list[TracedFile]:
    """Return NanoLean's library, with paths that no file of a project has."""
    files = []
    for file in library_files():
        imports = tuple(f"{LIBRARY_FOLDER}/{path}" for path in file.imports)
        files.append(replace(file, path=f"{LIBRARY_FOLDER}/{file.path}", imports=imports))
    return files


def _signature(root: Path) -> tuple[tuple[str, int, int], ...]:
    """Return path, time and size of each Lean file: what changes with them."""
    entries = []
    for folder, folders, names in os.walk(root):
        # In place: `os.walk` goes on into what is left of the list.
        folders[:] = [name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS]
        for name in names:
            if name.endswith(".lean"):
                path = os.path.join(folder, name)
                try:
                    about = os.stat(path)
                except OSError:
                    continue
                entries.append((path, about.st_mtime_ns, about.st_size))
    return tuple(sorted(entries))
