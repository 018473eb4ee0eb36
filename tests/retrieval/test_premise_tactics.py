"""Tactics made of retrieved premises, and the retriever that compares words."""

import math
from types import SimpleNamespace

import pytest

from nanolean.data.make import HELD_OUT_LIBRARY
from nanoproof.common.errors import UserError
from nanoproof.lean.types import Theorem
from nanoproof.policy.added_tactics import AddedTactics, PremiseTactics, tactics_with
from nanoproof.policy.baselines import UniformPolicy
from nanoproof.repos.premise_data import read_source
from nanoproof.retrieval.corpus import CorpusPremise
from nanoproof.retrieval.premises import Retriever
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.retrieval.vectors import WordEncoder, words_of
from nanoproof.rl.collection import Collection
from nanoproof.rl.options import RLConfig, parse_args
from nanoproof.search.policy import policy_for
from tests.helpers import main_of
from tests.retrieval.library import GOALS, files, write_export
from tests.training import small

run = main_of("nanoproof.retrieval")


@pytest.fixture
def finder() -> Retriever:
    return Retriever.open(by_words(2), files=files())


def by_words(count: int) -> RetrieveOptions:
    return RetrieveOptions(premise_tactics=count, retriever="words")


# -- tactics with premises ---------------------------------------------------------------------------------------------


def test_tactics_with_a_premise_are_those_of_its_kind() -> None:
    fact, unfolded = corpus_premise("N.f_succ", "lemma"), corpus_premise("N.f", "def")
    assert tactics_with(fact) == ("apply N.f_succ", "rw [N.f_succ]", "rw [← N.f_succ]", "simp [N.f_succ]")
    assert tactics_with(unfolded) == ("simp [N.f]", "unfold N.f")
    assert tactics_with(corpus_premise("N.T", "structure")) == ()
    told_by_code = CorpusPremise("A", "A.lean", "theorem A : p", (1, 1), (1, 2))
    assert tactics_with(told_by_code) == ("apply A", "rw [A]", "rw [← A]", "simp [A]")


def corpus_premise(name: str, kind: str) -> CorpusPremise:
    return CorpusPremise(name, "A.lean", f"{kind} {name} : p", (1, 1), (1, 2), kind)


def test_tactics_with_premises_come_after_the_policys_own(finder) -> None:
    own = UniformPolicy(["rw [C1]", "simp"])
    policy = policy_for(AddedTactics(own, [PremiseTactics(finder, by_words(2))]), Theorem("", "", "C2"))
    found = policy.suggest(f"⊢ {GOALS['C']}")
    of_first = ["apply C1", "rw [← C1]", "simp [C1]"]
    of_second = ["apply A1", "rw [A1]", "rw [← A1]", "simp [A1]"]
    assert found.tactics == ("rw [C1]", "simp", *of_first, *of_second)
    assert found.logprobs[2:5] == (-3.0,) * 3 and found.logprobs[5:] == (-3.0 - math.log(2),) * 4
    assert found.counts == (1,) * 9 and found.value == own.suggest("").value
    one = AddedTactics(own, [PremiseTactics(finder, by_words(1))]).suggest(f"⊢ {GOALS['C']}")
    assert not any("A1" in tactic for tactic in one.tactics)


# -- words in place of a network ---------------------------------------------------------------------------------------


def test_words_are_identifiers_their_parts_and_symbols() -> None:
    counted = words_of("theorem <a>Nat.add_comm</a> (a b : Nat) : a + b = b + a")
    assert counted == {
        **{"theorem": 1, "Nat": 2, "add_comm": 1, "add": 1, "comm": 1, "+": 2, "=": 1},
    }
    assert words_of("sumTo n") == {"sumTo": 1, "sum": 1, "to": 1}


def test_a_word_weighs_by_how_often_it_is_there_and_how_rare_it_is() -> None:
    encoder = WordEncoder.of(["Nat add", "Nat mul", "Nat sub", "Nat mul mul"])
    alone, both = encoder.encode(["mul", "Nat mul mul"]).double().numpy()
    often, rare = math.log(1 + 4 / 5), (1 + math.log(2)) * math.log(1 + 4 / 3)
    assert math.isclose(abs(float(alone @ both)), rare / math.hypot(often, rare), rel_tol=1e-6)
    assert WordEncoder.of(["Nat add"]).identity != encoder.identity
    assert not encoder.encode(["n"]).any(), "a text without a word is like no other"


def test_a_retriever_by_words_needs_no_training(tmp_path, capsys) -> None:
    export, folder = write_export(tmp_path / "export"), tmp_path / "words"
    assert run(["index", "--encoder", "words", "--data", str(export), "--retriever", str(folder)]) == 0
    assert "12 premises of 4 files, 12 texts encoded" in capsys.readouterr().out
    found = Retriever.open(RetrieveOptions(premise_tactics=2, retriever=str(folder))).premises("⊢ xs ++ [] = ys")
    assert {each.full_name[0] for each in found} == {"B"}
    assert run(["evaluate", "--encoder", "words", "--data", str(export)]) == 0
    assert "2 tactics, words: R@1" in capsys.readouterr().out
    with pytest.raises(UserError, match="nothing to train"):
        run(["train", "--encoder", "words", "--data", str(export), "--out", str(tmp_path / "new")])


def test_words_of_a_project_are_those_of_its_files() -> None:
    options = RetrieveOptions(premise_tactics=3, retriever="words")
    assert options.settings() == {"premise_tactics": 3, "premise_logprob": -3.0, "retriever": "words"}
    found = Retriever.open(options, files=files())
    names = {each.full_name for each in found.premises("⊢ xs ++ [] = ys", "C.lean, line 2")}
    assert names == {"B1", "B2", "B3"}, "what C imports, and not what it declares later"
    with pytest.raises(UserError, match="there is none here"):
        Retriever.open(options)
    with pytest.raises(ValueError, match="--premise-tactics needs --retriever"):
        RetrieveOptions(premise_tactics=1)


def test_the_library_leaves_out_what_a_benchmark_asks_for() -> None:
    names = {each.full_name for each in read_source("nanolean").corpus.premises}
    assert "Nat.dvd_sub" in names and not names & HELD_OUT_LIBRARY


def test_reinforcement_learning_tries_them_in_collection_and_evaluation(tmp_path) -> None:
    export, folder = write_export(tmp_path / "export"), tmp_path / "words"
    assert run(["index", "--encoder", "words", "--data", str(export), "--retriever", str(folder)]) == 0
    flags = ["--model-path", "sft/run", "--premise-tactics", "1", "--retriever", str(folder)]
    config = RLConfig.from_args(parse_args(flags))
    experience = SimpleNamespace()
    collection = Collection(config, SimpleNamespace(state=None), experience, small.ALONE)  # type: ignore[arg-type]
    for purpose in ("collect", "evaluate"):
        prover = collection._make_prover(purpose, UniformPolicy(["simp"]))
        assert "apply C1" in prover.policy.suggest(f"⊢ {GOALS['C']}").tactics
