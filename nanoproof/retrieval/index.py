"""An index: the vectors of a corpus's premises, search among those that are accessible, kept in a folder.

    index/corpus.jsonl     the premises, as in LeanDojo's data set
    index/vectors.npy      a vector for each, in their order
    index/ann.faiss        clusters of the vectors, where approximate search was asked for
    index/index.json       digests of these and of the encoder; written last

A premise is known by a digest of its text: when files change, only texts that are new are encoded.

Search is exact, or approximate for speed (`Ann`, extra `ann`). Either way only accessible premises are found, never
fewer than there are, and scores are cosines of the vectors themselves.

Shapes: Q queries, N premises, C channels, R rows of clustered vectors.
"""

import hashlib
import logging
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nanoproof.common.config import opt, validated
from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write, atomic_write_json, file_sha256, json_line, read_object
from nanoproof.retrieval.corpus import Corpus, DeclaringFile
from nanoproof.retrieval.vectors import Encoder, embed

INDEX_FOLDER, CORPUS_FILE, VECTORS_FILE, ABOUT_FILE = "index", "corpus.jsonl", "vectors.npy", "index.json"
ANN_FILE = "ann.faiss"
SCORES_AT_ONCE = 1 << 26
"""How many scores are in memory at a time."""
CLUSTERS, TRAINED_ON, CANDIDATES = 2, 40, 4
"""Of approximate search: clusters per square root of the vectors, vectors per cluster that these are trained on, and
candidates per premise that is wanted."""
READ, LEAST_READ = 1 / 16, 256
"""Part of the vectors that is read for a query, and how many at least."""

IndexSearch = Literal["exact", "ann"]
Ranking = tuple[np.ndarray, np.ndarray]
"""Numbers of premises, best first, and their scores."""


@validated("index")
class IndexSearchOption:
    """Search in the index."""

    index_search: IndexSearch = opt(
        "exact",
        "How premises are searched: exact compares all vectors; ann (extra `ann`) reads a part, for 100,000 and more.",
        choices=("exact", "ann"),
    )

    @property
    def approximate(self) -> bool:
        """Tell whether search is to be approximate. Raises UserError where it is and faiss is not installed."""
        if self.index_search == "ann":
            faiss_library()
        return self.index_search == "ann"


class Index:
    """The vectors of the premises of a corpus."""

    def __init__(self, corpus: Corpus, vectors_NC: np.ndarray, encoder: str, ann: "Ann | None" = None) -> None:
        """`encoder` is the identity of the encoder that made the vectors; with `ann` search is approximate."""
        assert len(corpus) == len(vectors_NC)
        self.corpus, self.vectors, self.encoder, self.ann = corpus, vectors_NC, encoder, ann

    @classmethod
    def build(
        cls,
        corpus: Corpus,
        encoder: Encoder,
        earlier: "Index | None" = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple["Index", int]:
        """Make the index of a corpus; returns it with the number of texts that were encoded.

        Of an `earlier` index by the same encoder, whatever corpus it is of, the vectors of equal texts are taken, and
        their clusters, if it has some: then search is approximate, and exact among what is new.
        """
        identity = encoder.identity
        known: dict[bytes, np.ndarray] = {}
        if earlier is not None and earlier.encoder == identity:
            for premise, vector_C in zip(earlier.corpus.premises, earlier.vectors):
                known[_digest(premise.text)] = vector_C
        texts, wanted = [], []
        for premise in corpus.premises:
            texts.append(premise.text)
            wanted.append(_digest(premise.text))
        new = dict(zip(reversed(wanted), reversed(texts)))
        for key in known:
            new.pop(key, None)
        fresh = embed(encoder, list(new.values()), stopped)
        known.update(zip(new, fresh))
        if wanted:
            vectors_NC = np.stack([known[key] for key in wanted])
        else:
            width = len(next(iter(known.values()), [0.0]))
            vectors_NC = np.zeros((0, width), np.float32)
        ann = None
        if earlier is not None and earlier.encoder == identity and earlier.ann is not None:
            ann = earlier.ann.moved(_places(earlier.corpus, wanted), len(wanted))
        return cls(corpus, vectors_NC, identity, ann), len(new)

    def with_ann(self) -> "Index":
        """Return the index with approximate search, all premises clustered anew. Raises UserError without faiss."""
        return Index(self.corpus, self.vectors, self.encoder, Ann.build(self.vectors))

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

    def search(self, queries_QC: np.ndarray, accessible: Sequence[np.ndarray | None], count: int) -> list[Ranking]:
        """Return for each query the numbers of the `count` likeliest premises, best first, and their cosines.

        `accessible[i]` holds the numbers of the premises to choose from, ascending, None for all; where these are
        fewer, there are fewer. Of equal cosines the lower number is first.
        """
        if self.ann is None:
            return search_exactly(self.vectors, queries_QC, accessible, count)
        rankings = []
        for query_C, allowed in zip(queries_QC, accessible, strict=True):
            rankings.append(self.ann.search(self.vectors, query_C, allowed, count))
        return rankings

    # -- files -------------------------------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write the index to a folder. Raises UserError where that is not possible."""
        with cannot(f"write the index {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            # From here until its end the folder has no whole index: a process that is killed in between leaves none
            # that would be taken for one, with vectors beside another corpus.
            (folder / ABOUT_FILE).unlink(missing_ok=True)
            self.corpus.save(folder / CORPUS_FILE)
            atomic_write(folder / VECTORS_FILE, lambda file: np.save(file, self.vectors))
            written = [CORPUS_FILE, VECTORS_FILE]
            # Clusters of an earlier corpus have the numbers of its premises.
            (folder / ANN_FILE).unlink(missing_ok=True)
            if self.ann is not None:
                assert self.ann.whole, "with_ann clusters what is new"
                self.ann.save(folder / ANN_FILE)
                written.append(ANN_FILE)
            digests = {name: file_sha256(folder / name) for name in written}
            atomic_write_json(
                folder / ABOUT_FILE, {"encoder": self.encoder, "premises": len(self.corpus), "sha256": digests}
            )

    @classmethod
    def load(cls, folder: Path, encoder: str | None = None, search: IndexSearch = "exact") -> "Index":
        """Read what `save` wrote. Raises UserError if it is not there, damaged, or by another encoder than this one,
        and for approximate search if it has no clusters.
        """
        again = "python -m nanoproof.retrieval index makes it"
        try:
            about = read_object(folder / ABOUT_FILE)
            written = (about or {}).get("sha256") or {}
            if search == "ann" and about and ANN_FILE not in written:
                raise UserError(f"{folder} has no {ANN_FILE} for --index-search ann; {again} with that option")
            names = [CORPUS_FILE, VECTORS_FILE]
            if search == "ann":  # exact search does without that file, and without faiss
                names.append(ANN_FILE)
            digests: dict[str, str] = {}
            if about:
                digests = {name: file_sha256(folder / name) for name in names}
        except OSError as error:
            raise UserError(f"there is no whole index in {folder}; {again}") from error
        if about is None or not isinstance(about.get("encoder"), str):
            raise UserError(f"there is no whole index in {folder}; {again}")
        for name, digest in digests.items():
            if written.get(name) != digest:
                raise UserError(f"{folder / name} is damaged: it is not what {ABOUT_FILE} says; {again}")
        if encoder is not None and about["encoder"] != encoder:
            raise UserError(f"{folder} is the index of another encoder; {again}")
        vectors_NC = np.load(folder / VECTORS_FILE, allow_pickle=False)
        ann = None
        if search == "ann":
            ann = Ann.load(folder / ANN_FILE)
        return cls(Corpus.load(folder / CORPUS_FILE), vectors_NC, about["encoder"], ann)


# -- exact search ------------------------------------------------------------------------------------------------------


def search_exactly(
    vectors_NC: np.ndarray, queries_QC: np.ndarray, accessible: Sequence[np.ndarray | None], count: int
) -> list[Ranking]:
    """Do what `Index.search` says by comparing all vectors."""
    rankings = []
    step = max(1, SCORES_AT_ONCE // max(1, len(vectors_NC)))
    for first in range(0, len(queries_QC), step):
        scores_QN = queries_QC[first : first + step] @ vectors_NC.T
        for scores_N, allowed in zip(scores_QN, accessible[first : first + step]):
            rankings.append(best(scores_N, allowed, count))
    return rankings


def best(scores_N: np.ndarray, allowed: np.ndarray | None, count: int) -> Ranking:
    """Return the numbers and scores of the `count` highest scores among the allowed numbers (ascending), best first.

    Of equal scores the lower number is first.
    """
    numbers = np.arange(len(scores_N)) if allowed is None else allowed
    scores = scores_N[numbers]
    if len(scores) > count:
        # Linear, where a sort of all would not be. What ties with the last stays until numbers decide.
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        enough = np.flatnonzero(scores >= least)
        numbers, scores = numbers[enough], scores[enough]
    order = np.lexsort((numbers, -scores))[:count]
    return numbers[order], scores[order]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _places(earlier: Corpus, wanted: Sequence[bytes]) -> np.ndarray:
    """Return for each premise of an earlier corpus where its text is among those `wanted`, by digest; else -1.

    A text that is wanted several times is given to as many premises.
    """
    free = defaultdict(list)
    # From the last one on, so that `pop` gives the lowest number first.
    for number, key in reversed(list(enumerate(wanted))):
        free[key].append(number)
    places_N = np.full(len(earlier), -1, np.int64)
    for number, premise in enumerate(earlier.premises):
        same_text = free.get(_digest(premise.text))
        if same_text:
            places_N[number] = same_text.pop()
    return places_N


# -- approximate search ------------------------------------------------------------------------------------------------


def faiss_library() -> Any:
    """Import faiss. Raises UserError where it is not installed."""
    logging.getLogger("faiss.loader").setLevel(logging.WARNING)  # else it tells each step of its loading
    try:
        import faiss
    except ImportError as error:
        raise UserError("--index-search ann needs the package faiss-cpu: pip install 'nanoproof[ann]'") from error
    return faiss


class Ann:
    """Vectors in clusters, 8 bits a channel, of which those nearest to a query are read (IVF, Jégou et al. 2011).

    They give candidates, which are compared by the vectors themselves. Premises that came after they were made are all
    candidates. Any number of threads may search.
    """

    def __init__(self, clusters: Any, numbers_R: np.ndarray, premises: int) -> None:
        """`numbers_R` says which of the `premises` a clustered vector is of; -1 if it is no longer there."""
        self._clusters, self._numbers, self._premises = clusters, numbers_R, premises
        self._new = np.setdiff1d(np.arange(premises), numbers_R)

    @classmethod
    def build(cls, vectors_NC: np.ndarray) -> "Ann":
        """Cluster vectors. Raises UserError without faiss."""
        faiss = faiss_library()
        # faiss takes rows of float32 one behind the other, and nothing else.
        vectors_NC = np.ascontiguousarray(vectors_NC, np.float32)
        count = min(round(CLUSTERS * math.sqrt(len(vectors_NC))), len(vectors_NC))
        clusters = faiss.index_factory(vectors_NC.shape[1], f"IVF{max(1, count)},SQ8", faiss.METRIC_INNER_PRODUCT)
        # With less than 39 vectors in a cluster, as in small libraries, faiss would write warnings to stderr.
        clusters.cp.min_points_per_centroid, clusters.cp.max_points_per_centroid = 1, TRAINED_ON
        if len(vectors_NC):
            clusters.train(vectors_NC)
            clusters.add(vectors_NC)
        return cls(clusters, np.arange(len(vectors_NC)), len(vectors_NC))

    @property
    def whole(self) -> bool:
        """Tell whether the clusters hold all premises, in their order, and nothing else."""
        return np.array_equal(self._numbers, np.arange(self._premises))

    def moved(self, places_N: np.ndarray, premises: int) -> "Ann":
        """Return it for a changed corpus of `premises`, where premise i has the number `places_N[i]`, -1 for none."""
        # A vector that was gone before has the number -1, which reads the place appended here, and stays -1.
        numbers_R = np.append(places_N, -1)[self._numbers]
        return Ann(self._clusters, numbers_R, premises)

    def search(self, vectors_NC: np.ndarray, query_C: np.ndarray, allowed: np.ndarray | None, count: int) -> Ranking:
        """Do what `Index.search` says for a query."""
        numbers = self._candidates(query_C, allowed, count)
        if numbers is None:
            return best(vectors_NC @ query_C, None, count)
        chosen, scores = best(vectors_NC[numbers] @ query_C, None, count)
        return numbers[chosen], scores

    def _candidates(self, query_C: np.ndarray, allowed: np.ndarray | None, count: int) -> np.ndarray | None:
        """Return the numbers, ascending, of `count` or more of the allowed premises, or of all; None for all there are.

        The fewer are allowed, the more clusters are read, and more again while there are fewer candidates than wanted;
        where that would be all clusters, all that are allowed are candidates.
        """
        possible = self._premises
        if allowed is not None:
            possible = len(allowed)
        reading = math.ceil(self._clusters.nlist * max(READ * self._premises, LEAST_READ) / max(1, possible))
        if reading >= self._clusters.nlist:
            return allowed
        # One place more, which stays False: -1, of a vector that is gone, reads it.
        faiss, mask_N = faiss_library(), np.zeros(self._premises + 1, bool)
        mask_N[slice(self._premises) if allowed is None else allowed] = True
        # faiss counts the bits of a byte from the lowest on, and clustered vectors in the order in which they came.
        bits = np.packbits(mask_N[self._numbers], bitorder="little")
        among = {} if allowed is None and self.whole else {"sel": faiss.IDSelectorBitmap(bits)}
        while reading < self._clusters.nlist:
            how = faiss.SearchParametersIVF(nprobe=reading, **among)
            rows = self._clusters.search(np.asarray(query_C, np.float32)[None], CANDIDATES * count, params=how)[1][0]
            # It fills up with -1 where the clusters that it read have too few.
            numbers = np.union1d(self._numbers[rows[rows >= 0]], self._new[mask_N[self._new]])
            if len(numbers) >= count:
                return numbers
            reading *= 4
        return allowed

    def save(self, file: Path) -> None:
        """Write the clusters."""
        data = faiss_library().serialize_index(self._clusters)
        atomic_write(file, lambda out: out.write(data.data))

    @classmethod
    def load(cls, file: Path) -> "Ann":
        """Read what `save` wrote, for the premises that were there then. Raises UserError without faiss."""
        clusters = faiss_library().read_index(str(file))
        return cls(clusters, np.arange(clusters.ntotal), clusters.ntotal)
