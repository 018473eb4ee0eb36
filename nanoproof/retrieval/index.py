"""An index: the vectors of a corpus's premises, exact search among those that are accessible, kept in a folder.

    index/corpus.jsonl     the premises, as in LeanDojo's data set
    index/vectors.npy      a vector for each, in their order
    index/index.json       digests of both and of the encoder; written last

A premise is known by a digest of its text: when files change, only texts that are new are encoded.

Shapes: Q queries, N premises, C channels.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, atomic_write_json, file_sha256, json_line, read_object
from nanoproof.retrieval.corpus import Corpus, DeclaringFile
from nanoproof.retrieval.encoders import Encoder, embed

INDEX_FOLDER, CORPUS_FILE, VECTORS_FILE, ABOUT_FILE = "index", "corpus.jsonl", "vectors.npy", "index.json"
SCORES_AT_ONCE = 1 << 26
"""How many scores are in memory at a time."""


class Index:
    """The vectors of the premises of a corpus."""

    def __init__(self, corpus: Corpus, vectors_NC: np.ndarray, encoder: str) -> None:
        """`encoder` is the identity of the encoder that made the vectors."""
        assert len(corpus) == len(vectors_NC)
        self.corpus, self.vectors, self.encoder = corpus, vectors_NC, encoder

    @classmethod
    def build(
        cls,
        corpus: Corpus,
        encoder: Encoder,
        earlier: "Index | None" = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple["Index", int]:
        """Make the index of a corpus; returns it with the number of texts that were encoded.

        Of an `earlier` index by the same encoder, whatever corpus it is of, the vectors of equal texts are taken.
        """
        identity = encoder.identity
        texts = [each.text for each in corpus.premises]
        known: dict[bytes, np.ndarray] = {}
        if earlier is not None and earlier.encoder == identity:
            known = {_digest(each.text): row for each, row in zip(earlier.corpus.premises, earlier.vectors)}
        wanted = [_digest(text) for text in texts]
        new = dict(zip(reversed(wanted), reversed(texts)))
        for key in known:
            new.pop(key, None)
        fresh = embed(encoder, list(new.values()), stopped)
        known.update(zip(new, fresh))
        width = len(next(iter(known.values()))) if known else 1
        vectors_NC = np.stack([known[key] for key in wanted]) if wanted else np.zeros((0, width), np.float32)
        return cls(corpus, vectors_NC, identity), len(new)

    def updated(self, files: Iterable[DeclaringFile], encoder: Encoder) -> tuple["Index", int]:
        """Return the index with some files in place of those of the same paths, or added, and how many texts were
        encoded for it.
        """
        return Index.build(self.corpus.with_files(files), encoder, self)

    @property
    def identity(self) -> str:
        """A digest of what it finds: encoder and premises."""
        digest = hashlib.sha256(self.encoder.encode())
        for record in self.corpus.records():
            digest.update(json_line(record).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    # -- search ------------------------------------------------------------------------------------------------------

    def search(
        self, queries_QC: np.ndarray, accessible: Sequence[np.ndarray | None], count: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for each query the numbers of the `count` likeliest premises, best first, and their cosines.

        `accessible[i]` holds the numbers of the premises to choose from, None for all; where these are fewer, there are
        fewer. Of equal cosines the lower number is first.
        """
        found = []
        step = max(1, SCORES_AT_ONCE // max(1, len(self.vectors)))
        for first in range(0, len(queries_QC), step):
            scores_QN = queries_QC[first : first + step] @ self.vectors.T
            for scores_N, allowed in zip(scores_QN, accessible[first : first + step]):
                found.append(best(scores_N, allowed, count))
        return found

    # -- files -------------------------------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write the index to a folder. Raises UserError where that is not possible."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ABOUT_FILE).unlink(missing_ok=True)
            self.corpus.save(folder / CORPUS_FILE)
            atomic_write(folder / VECTORS_FILE, lambda file: np.save(file, self.vectors))
            digests = {name: file_sha256(folder / name) for name in (CORPUS_FILE, VECTORS_FILE)}
            atomic_write_json(
                folder / ABOUT_FILE, {"encoder": self.encoder, "premises": len(self.corpus), "sha256": digests}
            )
        except OSError as error:
            raise UserError(f"cannot write the index {folder}: {error.strerror}") from error

    @classmethod
    def load(cls, folder: Path, encoder: str | None = None) -> "Index":
        """Read what `save` wrote. Raises UserError if it is not there, damaged, or by another encoder than this one."""
        again = "python -m nanoproof.retrieval index makes it"
        try:
            about = read_object(folder / ABOUT_FILE)
            digests = {name: file_sha256(folder / name) for name in (CORPUS_FILE, VECTORS_FILE)} if about else {}
        except OSError as error:
            raise UserError(f"there is no whole index in {folder}; {again}") from error
        if about is None or not isinstance(about.get("encoder"), str):
            raise UserError(f"there is no whole index in {folder}; {again}")
        for name, digest in digests.items():
            if (about.get("sha256") or {}).get(name) != digest:
                raise UserError(f"{folder / name} is damaged: it is not what {ABOUT_FILE} says; {again}")
        if encoder is not None and about["encoder"] != encoder:
            raise UserError(f"{folder} is the index of another encoder; {again}")
        vectors_NC = np.load(folder / VECTORS_FILE, allow_pickle=False)
        return cls(Corpus.load(folder / CORPUS_FILE), vectors_NC, about["encoder"])


def best(scores_N: np.ndarray, allowed: np.ndarray | None, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers and scores of the `count` highest scores among the allowed numbers (ascending), best first.

    Of equal scores the lower number is first.
    """
    numbers = np.arange(len(scores_N)) if allowed is None else allowed
    scores = scores_N[numbers]
    if len(scores) > count:
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        enough = np.flatnonzero(scores >= least)
        numbers, scores = numbers[enough], scores[enough]
    order = np.lexsort((numbers, -scores))[:count]
    return numbers[order], scores[order]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
