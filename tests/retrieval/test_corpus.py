"""Which premises a place may use, how they are written, which ones tactics used, and how retrieval is scored."""

import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.repos.traced_files import Position, Provenance, TracedFile, TracedTactic
from nanoproof.retrieval.corpus import Corpus, context_text, is_context, queries, with_name
from nanoproof.retrieval.index import Index, best
from nanoproof.retrieval.scores import BM25Ranks, evaluate, prediction, score, words
from nanoproof.retrieval.training import (
    Example,
    NegativeSampler,
    arrange,
    contrastive_loss,
    label_matrix,
    lr_factor,
    mse_loss,
)
from tests.retrieval.library import files, premise, theorem


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(files())


def names(corpus: Corpus, numbers: np.ndarray) -> list[str]:
    return [corpus.premises[number].full_name for number in numbers]


# -- which premises ----------------------------------------------------------------------------------------------


def test_imports_of_imports_and_what_ends_before_the_place_are_accessible(corpus: Corpus) -> None:
    assert names(corpus, corpus.accessible("C.lean", (4, 1))) == ["A1", "A2", "A3", "B1", "B2", "B3", "C1"]
    assert names(corpus, corpus.accessible("B.lean", (90, 1))) == ["A1", "A2", "A3", "B1", "B2", "B3"]
    assert names(corpus, corpus.accessible("D.lean", (1, 1))) == []
    assert names(corpus, corpus.before(corpus.premises[4])) == ["A1", "A2", "A3", "B1"]


def test_a_premise_that_ends_at_the_place_is_accessible_and_one_that_ends_later_is_not(corpus: Corpus) -> None:
    assert names(corpus, corpus.accessible("A.lean", (2, 9))) == ["A1"]
    assert names(corpus, corpus.accessible("A.lean", (2, 8))) == []


def test_files_that_import_each_other_do_not_import_themselves() -> None:
    circle = [TracedFile(f"{x}.lean", (f"{y}.lean",), (premise(f"{x}1", 1),), ()) for x, y in ("AB", "BA")]
    made = Corpus(circle)
    assert names(made, made.accessible("A.lean", (1, 1))) == ["B1"]


def test_what_the_compiler_named_and_what_has_no_code_is_left_out() -> None:
    rows = [("A1", "P"), ("", "P"), ("foo.user__.n1", "P"), ("[anonymous]", "P"), ("A2", "P"), ("A3", " \n")]
    made = tuple(premise(name, 1, code) for name, code in rows)
    assert [each.full_name for each in Corpus([TracedFile("A.lean", (), made, ())]).premises] == ["A1", "A2"]


def test_a_corpus_is_the_same_after_it_was_saved(corpus: Corpus, tmp_path) -> None:
    corpus.save(tmp_path / "corpus.jsonl")
    again = Corpus.load(tmp_path / "corpus.jsonl")
    assert again.premises == corpus.premises and again.paths == corpus.paths
    assert (again.accessible("C.lean", (4, 1)) == corpus.accessible("C.lean", (4, 1))).all()
    (tmp_path / "corpus.jsonl").write_text('{"path": 3}\n')
    with pytest.raises(UserError, match="is no corpus of premises"):
        Corpus.load(tmp_path / "corpus.jsonl")


# -- texts -------------------------------------------------------------------------------------------------------


@each(
    ("code", "full_name", "text"),
    [
        ("theorem add_comm (a b : Nat) : a + b = b + a", "Nat.add_comm", "theorem <N> (a b : Nat) : a + b = b + a"),
        ("theorem Nat.add_comm : add_comm", "Nat.add_comm", "theorem <N> : add_comm"),
        ("theorem _root_.Nat.x : P", "Nat.x", "theorem <N> : P"),
        ("theorem «x y» : P", "A.x y", "theorem <N> : P"),
        ("theorem x' : x", "A.x", "theorem x' : <N>"),
        ("instance : Inhabited Nat", "instInhabitedNat", "instance : Inhabited Nat"),
        ("theorem B.c : P", "A.B.c", "theorem <N> : P"),
        ("@[deprecated c, to_additive B.c]\ntheorem c : P", "B.c", "@[deprecated c, to_additive B.c]\ntheorem <N> : P"),
        ("open c in\ndef f.{u} : c := B.f", "B.f", "open c in\ndef <N>.{u} : c := B.f"),
        ("structure c where\n  f : P", "c.f", "structure c where\n  <N> : P"),
    ],
)
def test_the_longest_ending_of_the_name_becomes_the_full_name(code: str, full_name: str, text: str) -> None:
    assert with_name(code, full_name, "<N>") == text


def test_encoders_read_marked_names_and_language_models_one_plain_line() -> None:
    code = "theorem le_refl\n    (n : Nat) : n ≤ n"
    each = Corpus([TracedFile("A.lean", (), (premise("Nat.le_refl", 1, code),), ())]).premises[0]
    assert each.text == "theorem <a>Nat.le_refl</a>\n    (n : Nat) : n ≤ n"
    assert each.plain == "theorem Nat.le_refl (n : Nat) : n ≤ n"


def test_a_context_is_the_state_without_its_count_of_goals() -> None:
    assert context_text("2 goals\ncase a\n⊢ p\n\ncase b\n⊢ q") == "case a\n⊢ p\n\ncase b\n⊢ q"
    assert context_text("h : 2 goals\n⊢ p") == "h : 2 goals\n⊢ p"
    assert is_context("⊢ p") and not is_context("p") and not is_context("⊢ <a>p</a>")


# -- what tactics used -------------------------------------------------------------------------------------------


def test_a_place_is_in_a_premise_from_its_start_to_its_end(corpus: Corpus) -> None:
    places = [(1, 1), (2, 9), (2, 10), (4, 1), (3, 5)]
    assert [corpus.locate("A.lean", place) for place in places] == [0, 0, None, 1, None]
    assert corpus.locate("Lost.lean", (1, 1)) is None


def test_queries_have_the_located_premises_once_each_and_skip_tactics_without(corpus: Corpus) -> None:
    unknown = Provenance("Lost", "Lost.lean", Position(1, 1), None), Provenance("core", "", None, None)
    twice = TracedTactic(
        "t", "1 goals\n⊢ p", "no goals", "t", (*theorem("t", "B2", "A1").tactics[0].premises * 2, *unknown)
    )
    plain = TracedTactic("simp", "⊢ p", "no goals", "simp", ())
    given = theorem("t", "A1")
    made, elsewhere = queries(
        corpus, [type(given)(*(given.full_name, given.path, given.start, given.end, ""), (plain, twice), ())]
    )
    assert [(each.tactic, each.context, names(corpus, np.array(each.positives))) for each in made] == [
        (1, "⊢ p", ["B2"])
    ]
    assert elsewhere == 0
    lost = type(given)(*(given.full_name, "Lost.lean", given.start, given.end, ""), given.tactics, ())
    assert queries(corpus, [lost]) == ([], 1)


# -- metrics -----------------------------------------------------------------------------------------------------


def test_recall_and_reciprocal_rank_are_those_computed_by_hand() -> None:
    pairs = [((1, 2), [2, 5, 1]), ((7,), [*range(10, 20), 7]), ((3, 4, 5, 6), [9, 3, 4]), ((), [1])]
    found = score(pairs)
    assert found.queries == 3
    assert found.recall_at_1 == pytest.approx(100 * (1 / 2 + 0 + 0) / 3)
    assert found.recall_at_10 == pytest.approx(100 * (1 + 0 + 2 / 4) / 3)
    assert found.mrr == pytest.approx((1 + 1 / 11 + 1 / 2) / 3)
    assert str(found) == "R@1: 16.67, R@10: 50.00, MRR: 0.53"
    assert str(score([((), [1])])) == "R@1: 0.00, R@10: 0.00, MRR: 0.00"


def test_the_tenth_counts_for_recall_and_the_eleventh_does_not() -> None:
    assert score([((0,), [*range(1, 10), 0])]).recall_at_10 == 100
    assert score([((0,), [*range(1, 11), 0])]).recall_at_10 == 0


def test_bm25_ranks_accessible_premises_by_their_words(corpus: Corpus) -> None:
    pytest.importorskip("bm25s")
    asked, _ = queries(corpus, [theorem("t", "A1", "B2", "D1")])
    found, rankings = evaluate(BM25Ranks(), corpus, asked)
    assert [names(corpus, numbers)[0][0] for numbers, _ in rankings] == ["A", "B", "C"]  # D is not accessible
    assert names(corpus, rankings[0][0])[:3] == ["A1", "A2", "A3"] and len(rankings[0][0]) == 9
    assert found.recall_at_10 == pytest.approx(100 * 2 / 3)
    record = prediction(corpus, asked[0], rankings[0])
    assert (record["tactic_idx"], record["all_pos_premises"], record["start"]) == (0, ["A1"], [90, 1])
    assert record["retrieved_premises"][0] == "A1" and len(record["scores"]) == 9
    assert words("Nat.add_comm' ≤ x") == ["Nat", ".", "add", "_", "comm", "'", "≤", "x"]


# -- training ----------------------------------------------------------------------------------------------------


def test_columns_are_all_positives_then_the_first_negative_of_each_then_the_second() -> None:
    assert arrange([10, 20, 30], [[11, 12], [], [31]], 2) == [10, 20, 30, 11, 31, 12]


def test_labels_are_1_wherever_a_premise_is_a_positive_of_the_state() -> None:
    labels = label_matrix([{10, 20}, {20}, {30, 11}], [10, 20, 30, 11, 31, 10])
    assert labels.tolist() == [[1, 1, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]]


def test_losses_are_those_computed_by_hand() -> None:
    cosines, labels = torch.tensor([[1.0, 0.5], [0.0, 0.2]]), torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    assert float(mse_loss(cosines, labels)) == pytest.approx((0 + 0.25 + 1 + 0.64) / 4)
    first = -np.log(np.exp(2) / (np.exp(2) + np.exp(1)))
    second = -(np.log(1 / (1 + np.exp(0.4))) + np.log(np.exp(0.4) / (1 + np.exp(0.4)))) / 2
    assert float(contrastive_loss(cosines, labels, 0.5)) == pytest.approx((first + second) / 2)


def test_the_learning_rate_rises_to_1_and_falls_to_0_along_half_a_cosine() -> None:
    assert [lr_factor(step, 12, 2) for step in (0, 1, 2, 7, 12)] == pytest.approx([0.5, 1.0, 1.0, 0.5, 0.0])


@given(st.integers(0, 4), st.integers(0, 3), st.integers(0, 100), st.sampled_from(["A1", "B2", "C1", "C3"]))
def test_negatives_are_accessible_distinct_and_at_most_so_many_of_the_own_file(
    count: int, in_file: int, seed: int, name: str
) -> None:
    corpus = Corpus(files())
    (query,) = queries(corpus, [theorem("t", name, line=6)])[0]
    positive = query.positives[0]
    drawn = NegativeSampler(corpus, count, in_file, random.Random(seed)).draw(Example(query, positive))
    allowed = set(corpus.accessible("C.lean", (6, 1)).tolist())
    own = [number for number in drawn if corpus.premises[number].path == corpus.premises[positive].path]
    assert positive not in drawn and len(set(drawn)) == len(drawn)
    assert set(drawn) <= allowed  # of C only C1, which ends at line 2
    possible = [n for n in allowed if corpus.premises[n].path == corpus.premises[positive].path and n != positive]
    assert len(own) == min(count, in_file, len(possible))
    assert len(drawn) == count  # there are six others in two files, whatever the own one is
    assert drawn[: len(own)] == own


def test_where_there_are_too_few_negatives_there_are_fewer() -> None:
    corpus = Corpus(files()[:1])
    given = theorem("t", "A1")
    moved = type(given)(*("t", "A.lean", Position(5, 1), given.end, ""), given.tactics, ())
    (query,) = queries(corpus, [moved])[0]
    assert NegativeSampler(corpus, 3, 1, random.Random(0)).draw(Example(query, 0)) == []


# -- exact search ------------------------------------------------------------------------------------------------


def test_search_takes_the_best_of_the_allowed_and_of_equal_ones_the_first(corpus: Corpus) -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.1, 0.5], np.float32)
    assert best(scores, None, 3)[0].tolist() == [1, 0, 2]
    assert best(scores, np.array([2, 3, 4]), 2)[0].tolist() == [2, 4]
    assert best(scores, np.array([3]), 5)[0].tolist() == [3] and len(best(scores, np.array([], int), 5)[0]) == 0
    vectors = np.eye(len(corpus), dtype=np.float32)
    (found,) = Index(corpus, vectors, "e").search(vectors[7:8], [None], 1)
    assert names(corpus, found[0]) == ["C2"] and found[1].tolist() == [1.0]
