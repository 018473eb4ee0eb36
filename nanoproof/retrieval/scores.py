"""How good a retrieval is: R@1, R@10 and MRR as LeanDojo computes them, and BM25 as the baseline.

For a query with positives P and a list of retrieved premises r1, r2, ...: R@k = |{r1 .. rk} ∩ P| / |P|, in percent of
the mean over queries, so that R@1 is below 100 where a tactic uses several premises; MRR is the mean of 1 / rank of the
first positive, 0 where none is retrieved (LeanDojo, Yang et al. 2023, section 6, and its `evaluate.py`).

Shapes: N premises.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.retrieval.corpus import Corpus, Query
from nanoproof.retrieval.index import Index, IndexSearch, Ranking, best
from nanoproof.retrieval.vectors import Encoder, WordEncoder, embed

RETRIEVED = 100
"""How many premises are retrieved for a query that is scored."""
_WORD = re.compile(r"[^\W_]+|_+|[^\w\s]")


class Ranks(Protocol):
    """Ranks the accessible premises for queries."""

    exact_recall: float | None
    """Of the last ranking by approximate search, its `recall_of_exact`; None for exact ones."""

    def rank(self, corpus: Corpus, asked: Sequence[Query], count: int) -> list[Ranking]:
        """Return the `count` best accessible premises for each query; fewer where there are fewer."""
        ...


@dataclass(frozen=True)
class Scores:
    """What a retrieval reached: recalls in percent, MRR from 0 to 1, over so many queries."""

    recall_at_1: float
    recall_at_10: float
    mrr: float
    queries: int

    def __str__(self) -> str:
        return f"R@1: {self.recall_at_1:.2f}, R@10: {self.recall_at_10:.2f}, MRR: {self.mrr:.2f}"


def recall(positives: Sequence[int], retrieved: Sequence[int], count: int) -> float:
    """Return which part of the positives, a non-empty set, is among the first `count` retrieved."""
    wanted = set(positives)
    return len(wanted & set(retrieved[:count])) / len(wanted)


def reciprocal_rank(positives: Sequence[int], retrieved: Sequence[int]) -> float:
    """Return 1 / rank of the first positive, ranks from 1 on; 0 if none is retrieved."""
    wanted = set(positives)
    for rank, number in enumerate(retrieved, start=1):
        if number in wanted:
            return 1 / rank
    return 0.0


def recall_of_exact(exact: Sequence[Ranking], approximate: Sequence[Ranking], count: int = 10) -> float:
    """Return which part of the first `count` of exact search approximate search has, or others of the same score.

    It is 1 where there is nothing to find.
    """
    hits = total = 0
    for (_, wanted), (_, scores) in zip(exact, approximate, strict=True):
        if len(wanted):
            # The two multiply in different orders, so that equal cosines may differ in their last digits.
            hits += int((scores[:count] >= wanted[:count][-1] - 1e-5).sum())
            total += len(wanted[:count])
    if total == 0:
        return 1.0
    return hits / total


def score(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Scores:
    """Score pairs of positives and retrieved premises; those without positives do not count. 0 if none is left."""
    recalls_at_1, recalls_at_10, reciprocal_ranks = [], [], []
    for positives, retrieved in pairs:
        if len(positives):
            recalls_at_1.append(recall(positives, retrieved, 1))
            recalls_at_10.append(recall(positives, retrieved, 10))
            reciprocal_ranks.append(reciprocal_rank(positives, retrieved))
    if not reciprocal_ranks:
        return Scores(0.0, 0.0, 0.0, 0)
    at_1, at_10 = 100 * float(np.mean(recalls_at_1)), 100 * float(np.mean(recalls_at_10))
    return Scores(at_1, at_10, float(np.mean(reciprocal_ranks)), len(reciprocal_ranks))


def evaluate(ranks: Ranks, corpus: Corpus, asked: Sequence[Query]) -> tuple[Scores, list[Ranking]]:
    """Rank premises for queries and score that; also returns the rankings."""
    rankings = ranks.rank(corpus, asked, RETRIEVED)
    pairs = [(query.positives, numbers.tolist()) for query, (numbers, _) in zip(asked, rankings)]
    return score(pairs), rankings


def prediction(corpus: Corpus, query: Query, ranking: Ranking) -> dict[str, Any]:
    """Return the record of a query with what was retrieved, as LeanDojo's predictions have it."""
    names = [corpus.premises[number].full_name for number in ranking[0]]
    return {
        "url": query.origin[0],
        "commit": query.origin[1],
        "file_path": query.path,
        "full_name": query.full_name,
        "start": list(query.start),
        "tactic_idx": query.tactic,
        "context": query.context,
        "all_pos_premises": [corpus.premises[number].full_name for number in query.positives],
        "retrieved_premises": names,
        "scores": [round(float(score), 6) for score in ranking[1]],
    }


class EncoderRanks:
    """Ranking by the cosine of vectors. The index is kept: it is made anew for another corpus or changed weights."""

    def __init__(self, encoder: Encoder, index: Index | None = None, search: IndexSearch = "exact") -> None:
        self.encoder, self.index, self.search = encoder, index, search
        self.exact_recall: float | None = None

    def rank(self, corpus: Corpus, asked: Sequence[Query], count: int) -> list[Ranking]:
        self.index, _ = Index.build(corpus, self.encoder, self.index)
        contexts, accessible = [], []
        for query in asked:
            contexts.append(query.context)
            # Of the theorem and not the tactic, as LeanDojo has it.
            accessible.append(corpus.accessible(query.path, query.start))
        vectors_QC = embed(self.encoder, contexts)
        exact = self.index.search(vectors_QC, accessible, count)
        if self.search == "exact":
            return exact
        approximate = self.index.with_ann().search(vectors_QC, accessible, count)
        self.exact_recall = recall_of_exact(exact, approximate)
        return approximate


class WordRanks:
    """Ranking by `WordEncoder`, whose words are counted in the corpus that is ranked."""

    def __init__(self, search: IndexSearch = "exact") -> None:
        self.search = search
        self.exact_recall: float | None = None

    def rank(self, corpus: Corpus, asked: Sequence[Query], count: int) -> list[Ranking]:
        ranks = EncoderRanks(WordEncoder.of(premise.text for premise in corpus.premises), search=self.search)
        rankings = ranks.rank(corpus, asked, count)
        self.exact_recall = ranks.exact_recall
        return rankings


def words(text: str) -> list[str]:
    """Split a text for BM25: runs of letters and digits, so that a name gives its parts, and each symbol by itself."""
    return _WORD.findall(text)


class BM25Ranks:
    """Ranking by BM25 (Robertson's, k1 1.5, b 0.75, as the library has it) over the words of texts."""

    exact_recall: float | None = None

    def __init__(self) -> None:
        """Raises UserError where the library bm25s is not installed."""
        if find_spec("bm25s") is None:
            raise UserError("BM25 needs the package bm25s: pip install 'nanoproof[hf]'")

    def rank(self, corpus: Corpus, asked: Sequence[Query], count: int) -> list[Ranking]:
        import bm25s

        if not len(corpus):
            return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in asked]
        vocabulary: dict[str, int] = {}
        # Numbers for words, since the library's own tokenizer would drop symbols and words of one letter.
        rows = []
        for premise in corpus.premises:
            rows.append([vocabulary.setdefault(word, len(vocabulary)) for word in words(premise.plain)])
        baseline = bm25s.BM25()
        baseline.index((rows, vocabulary), show_progress=False)
        rankings = []
        for query in asked:
            known = [vocabulary[word] for word in words(query.context) if word in vocabulary]
            scores_N = np.zeros(len(corpus), np.float32)
            if known:
                scores_N = baseline.get_scores(known)
            rankings.append(best(scores_N, corpus.accessible(query.path, query.start), count))
        return rankings
