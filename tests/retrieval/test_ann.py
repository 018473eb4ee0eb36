"""Approximate search in an index: what it finds, may find and keeps, against exact search, and life without faiss."""

import json
import sys
import zlib
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.repos.traced_files import TracedFile
from nanoproof.retrieval.corpus import MARK_END, MARK_START, Corpus
from nanoproof.retrieval.index import Ann, Index, IndexSearchOption, search_exactly
from nanoproof.retrieval.premises import Retriever
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.retrieval.scores import recall_of_exact
from tests.helpers import main_of
from tests.retrieval.library import premise, write_export

needs_faiss = pytest.mark.skipif(find_spec("faiss") is None, reason="needs faiss-cpu: pip install 'nanoproof[ann]'")
run = main_of("nanoproof.retrieval")
PATHS = [f"F{number}.lean" for number in range(20)]


class Hashed:
    """An encoder whose vectors are random, and near each other where names begin with the same letter and digits."""

    max_tokens, identity, device = 9, "hashed", torch.device("cpu")

    def training(self, on: bool) -> None: ...

    def encode(self, texts: Any) -> torch.Tensor:
        def normal(text: str) -> torch.Tensor:
            return torch.randn(16, generator=torch.Generator().manual_seed(zlib.crc32(text.encode())))

        names = [text.split()[1].replace(MARK_START, "").replace(MARK_END, "") for text in texts]
        return torch.nn.functional.normalize(torch.stack([normal(n[:3]) + 0.5 * normal(n) for n in names]), dim=-1)


def file(number: int, names: list[str]) -> TracedFile:
    made = tuple(premise(name, 3 * n + 1, f"def {name} : P") for n, name in enumerate(names))
    return TracedFile(PATHS[number], tuple(PATHS[:number]), made, ())


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """500 premises: 20 files of 25, each of which imports those before it."""
    return Corpus([file(number, [f"A{number:02}x{n}" for n in range(25)]) for number in range(20)])


@pytest.fixture(scope="module")
def exact(corpus) -> Index:
    return Index.build(corpus, Hashed())[0]  # type: ignore[arg-type]


def asked(count: int = 40, seed: int = 0) -> np.ndarray:
    queries = Hashed().encode([f"def A{n % 20:02}q{n + seed} : Q" for n in range(count)])
    return np.asarray(queries.numpy())


@needs_faiss
@pytest.mark.parametrize("count", [1, 10, 600])
def test_only_accessible_premises_are_found_never_fewer_than_there_are_and_nearly_the_best(exact, count: int) -> None:
    rng = np.random.default_rng(0)
    sizes = [0, 1, 9, 60, 250, 499]
    some = [np.sort(rng.choice(500, size, replace=False)) for size in sizes for _ in range(6)]
    accessible: list[np.ndarray | None] = [*some, None, None, None, None]
    queries = asked()
    wanted, found = (index.search(queries, accessible, count) for index in (exact, exact.with_ann()))
    for query, allowed, (numbers, scores), (best, _) in zip(queries, accessible, found, wanted, strict=True):
        assert len(numbers) == len(best) and len(set(numbers)) == len(numbers)
        assert allowed is None or set(numbers) <= set(allowed)
        assert np.allclose(scores, exact.vectors[numbers] @ query, atol=1e-6) and (np.diff(scores) <= 0).all()
        if allowed is not None and len(allowed) < 20:
            assert numbers.tolist() == best.tolist()  # few are all compared
    assert recall_of_exact(wanted, found, count) > 0.9


@needs_faiss
def test_a_part_of_the_vectors_is_read_and_more_while_what_is_allowed_lies_elsewhere() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((600, 8)).astype(np.float32) * 0.1
    vectors[:300, 0] += 1
    vectors[300:, 1] += 1
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ann, query, far = Ann.build(vectors), vectors[7], np.arange(300, 600)
    near = ann._candidates(query, None, 5)
    assert near is not None and 5 <= len(near) <= 20 and 7 in near
    numbers, scores = ann.search(vectors, query, far, 5)
    (best,) = search_exactly(vectors, query[None], [far], 5)
    assert len(numbers) == 5 and set(numbers) <= set(far) and recall_of_exact([best], [(numbers, scores)], 5) >= 0.4


@needs_faiss
def test_after_files_changed_what_is_gone_is_not_found_and_what_is_new_is(exact) -> None:
    names = [f"A03x{n}" for n in range(5, 25)] + [f"A03y{n}" for n in range(8)]  # five gone, eight new
    before = exact.with_ann()
    changed, encoded = before.updated([file(3, names)], Hashed())
    assert encoded == 8 and changed.ann is not None and not changed.ann.whole
    reference = Index(changed.corpus, changed.vectors, changed.encoder)
    queries = np.concatenate([asked(), np.asarray(Hashed().encode([f"def A03y{n} : P" for n in range(8)]).numpy())])
    for accessible in ([None] * 48, [changed.corpus.accessible(PATHS[10], (30, 1))] * 48):
        wanted, found = (index.search(queries, accessible, 10) for index in (reference, changed))
        assert recall_of_exact(wanted, found) > 0.9
        for query, (numbers, scores) in zip(queries, found):
            assert np.allclose(scores, changed.vectors[numbers] @ query, atol=1e-6)
            assert accessible[0] is None or set(numbers) <= set(accessible[0])
        firsts = [changed.corpus.premises[numbers[0]].full_name for numbers, _ in found[40:]]
        assert firsts == [f"A03y{n}" for n in range(8)]
    assert [len(numbers) for numbers, _ in before.search(queries, [None] * 48, 10)] == [10] * 48  # as it was
    assert (changed.with_ann().ann or before).whole


@needs_faiss
def test_clusters_are_kept_with_the_index_and_go_when_it_is_saved_without(exact, tmp_path) -> None:
    made = exact.with_ann()
    made.save(tmp_path)
    loaded = Index.load(tmp_path, "hashed", "ann")
    for mine, again in zip(made.search(asked(), [None] * 40, 9), loaded.search(asked(), [None] * 40, 9)):
        assert mine[0].tolist() == again[0].tolist()
    assert Index.load(tmp_path).ann is None
    damaged = (tmp_path / "ann.faiss").read_bytes()[:-1]
    (tmp_path / "ann.faiss").write_bytes(damaged)
    with pytest.raises(UserError, match=r"ann\.faiss is damaged"):
        Index.load(tmp_path, search="ann")
    Index.load(tmp_path).save(tmp_path)
    with pytest.raises(UserError, match=r"no ann\.faiss for --index-search ann; python -m nanoproof.retrieval index"):
        Index.load(tmp_path, search="ann")
    nothing = Index.build(Corpus([]), Hashed())[0].with_ann()  # type: ignore[arg-type]
    nothing.save(tmp_path)
    ((numbers, _),) = Index.load(tmp_path, search="ann").search(np.zeros((1, 1), np.float32), [None], 3)
    assert len(numbers) == 0


@needs_faiss
def test_commands_make_measure_and_search_clusters(tmp_path, capsys) -> None:
    data, folder = write_export(tmp_path / "data"), tmp_path / "r"
    index = ["index", "--data", str(data), "--retriever", str(folder), "--encoder", "words", "--device-type", "cpu"]
    ann = ["--index-search", "ann"]
    assert run([*index, *ann]) == 0 and (folder / "index" / "ann.faiss").is_file()
    common = ["--retriever", str(folder), "--device-type", "cpu"]
    capsys.readouterr()
    for how in (common, ["--encoder", "words"]):
        assert run(["evaluate", *how, "--data", str(data), *ann, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["exact_recall_at_10"] == 100.0
    assert run(["evaluate", *common, "--data", str(data), *ann]) == 0
    assert "approximate search, 100.00% of exact search's first 10" in capsys.readouterr().out
    assert run(["search", "⊢ xs ++ [] = xs", *common, "-k", "2", *ann]) == 0
    lines = capsys.readouterr().out
    assert run(["search", "⊢ xs ++ [] = xs", *common, "-k", "2"]) == 0 and capsys.readouterr().out == lines
    options = RetrieveOptions(retrieve=2, retriever=str(folder), searching=IndexSearchOption("ann"))
    assert Retriever.open(options).index.ann is not None and (options.settings() or {})["index_search"] == "ann"
    assert run(index) == 0 and not (folder / "index" / "ann.faiss").exists()
    assert "ann.faiss is removed" in capsys.readouterr().out


def test_without_the_library_one_line_says_what_to_install(exact, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    data, folder = write_export(tmp_path / "data"), tmp_path / "r"
    ann = ["--encoder", "words", "--index-search", "ann"]
    for command in (["index", "--retriever", str(folder)], ["evaluate"]):
        with pytest.raises(UserError, match=r"needs the package faiss-cpu: pip install 'nanoproof\[ann\]'"):
            run([*command, "--data", str(data), *ann])
    assert not folder.exists()
    assert run(["index", "--data", str(data), "--retriever", str(folder), "--encoder", "words"]) == 0
    with pytest.raises(UserError, match="faiss-cpu"):
        exact.with_ann()


def test_approximate_search_is_for_the_folder_of_an_index() -> None:
    for retriever in (None, "words"):
        with pytest.raises(ValueError, match="--index-search ann needs --retriever, the folder of an index"):
            RetrieveOptions(premise_tactics=0, retriever=retriever, searching=IndexSearchOption("ann"))
