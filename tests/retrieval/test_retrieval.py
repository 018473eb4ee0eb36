"""Encoders, training, the index and its commands, on tiny networks; and premises before the states of a search."""

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.compat.trainers import RetrievalTrainer
from nanoproof.inference.own_model import OwnModel
from nanoproof.lean.types import Theorem
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.policy.factory import open_policy
from nanoproof.policy.policy_options import TextModelOptions
from nanoproof.policy.prompt_formats import FORMATS
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.text_policy import RetrievingPolicy, TextPolicy
from nanoproof.repos.premise_data import read_source
from nanoproof.retrieval.corpus import Corpus
from nanoproof.retrieval.encoders import OwnEncoder, open_encoder
from nanoproof.retrieval.index import Index
from nanoproof.retrieval.premises import Retriever, fitting
from nanoproof.retrieval.retrieve_options import RetrieveOptions, TrainOptions
from nanoproof.retrieval.training import Epoch, RetrievalData, Trainer, train_retriever
from nanoproof.retrieval.vectors import embed, encode_all
from nanoproof.search.policy import policy_for
from tests.helpers import main_of
from tests.policy.test_text_policy import ScriptedModel, sample
from tests.retrieval.library import GOALS, files, premise, write_export
from tests.training import small

TEXTS = ["⊢ a + b = b + a", "theorem <a>A1</a> : p ∧ q → q", "x"]
FAST = TrainOptions(epochs=2, batch_size=4, lr=0.01, num_negatives=2)
run = main_of("nanoproof.retrieval")


@pytest.fixture(scope="session")
def words() -> Any:
    return small.tokenizer()


@pytest.fixture
def encoder(words) -> OwnEncoder:
    return OwnEncoder(small.model(words), words)


@pytest.fixture(scope="session")
def data_set(tmp_path_factory) -> Path:
    return write_export(tmp_path_factory.mktemp("data") / "merged")


@pytest.fixture(scope="session")
def byte_t5(tmp_path_factory) -> Path:
    from tests.fakes.hf_models import save_encoder

    return save_encoder(tmp_path_factory.mktemp("t5"))


# -- encoders ----------------------------------------------------------------------------------------------------


def test_our_encoder_gives_the_vectors_that_embed_gives_whatever_stands_beside_a_text(encoder, words) -> None:
    alone = OwnModel("m", encoder.model, words)
    expected = alone.embed(TEXTS)
    alone.close()
    assert np.allclose(embed(encoder, TEXTS), expected, atol=1e-6)
    assert np.allclose(embed(encoder, TEXTS[2:]), expected[2:], atol=1e-6)
    assert np.allclose(np.linalg.norm(expected, axis=1), 1)
    encoder.max_tokens = 3
    assert np.allclose(embed(encoder, ["a b c d"]), embed(encoder, ["zz zz zz b c d"]), atol=1e-6)  # the end is read


def test_an_encoder_of_transformers_takes_the_masked_mean_of_the_last_states(byte_t5) -> None:
    from nanoproof.inference.hf_model import HFModel

    made = open_encoder(f"hf:{byte_t5}")
    model = HFModel(str(byte_t5))
    assert np.allclose(embed(made, TEXTS), model.embed(TEXTS), atol=1e-5)
    model.close()
    tokens = made.tokenizer(TEXTS[:1], return_tensors="pt")  # type: ignore[attr-defined]
    mean = made.network(**tokens).last_hidden_state[0].mean(0)  # type: ignore[attr-defined]
    assert torch.allclose(made.encode(TEXTS[:1])[0], mean / mean.norm(), atol=1e-6)


def test_gradients_reach_all_that_is_trained_and_batches_by_length_change_nothing(encoder) -> None:
    before = encoder.identity
    whole, parts = encoder.encode(TEXTS), encode_all(encoder, TEXTS, rows=1)
    assert torch.allclose(whole, parts, atol=1e-6)
    parts.sum().backward()
    assert all(each.grad is not None for each in encoder.parameters()) and encoder.model.head.weight.grad is None
    assert encoder.identity == before
    with torch.no_grad():
        encoder.parameters()[0].add_(1e-3)
    assert encoder.identity != before


@pytest.mark.parametrize(
    ("spec", "message"),
    [("openai:http://x/v1", "gives no vectors"), ("nowhere", "--encoder nowhere"), ("hf:", "expected hf:PATH_OR_ID")],
)
def test_what_is_no_encoder_is_refused(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        open_encoder(spec)


# -- training ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["mse", "contrastive"])
def test_training_lowers_the_loss_and_keeps_the_best_epoch(encoder, data_set, loss: Any) -> None:
    data = read_source(str(data_set)).data("random")
    assert (len(data.train), len(data.valid), data.name) == (12, 3, str(data_set))
    seen: list[Epoch] = []
    trainer = Trainer(encoder, data, TrainOptions(loss=loss, epochs=6, batch_size=4, lr=0.02, patience=9))
    best = trainer.run(seen.append)
    assert seen[-1].loss < 0.7 * seen[0].loss
    assert best is not None and best.scores is not None
    assert best.scores.recall_at_10 == max(each.scores.recall_at_10 for each in seen if each.scores)
    assert trainer.evaluate(data.valid) == best.scores
    assert [each.step for each in seen[:2]] == [3, 6]


def test_each_corpus_starts_from_the_result_of_the_one_before(encoder, data_set, tmp_path, monkeypatch) -> None:
    data = read_source(str(data_set)).data("random")
    parts = [RetrievalData(data.corpus, data.train, data.valid, name) for name in ("one", "two")]
    begins, ends = [], []
    whole = Trainer.run

    def watched(self: Trainer, *args: Any) -> Epoch | None:
        begins.append(encoder.identity)
        found = whole(self, *args)
        ends.append(encoder.identity)
        return found

    monkeypatch.setattr(Trainer, "run", watched)
    best = train_retriever(encoder, parts, FAST, tmp_path / "out", {"x": 1})
    assert begins[1] == ends[0] != begins[0] and ends[1] != ends[0] and best is not None
    assert open_encoder(str(tmp_path / "out")).identity == ends[1]
    Index.load(tmp_path / "out" / "index", ends[1])
    rows = [(row["data"], row["epoch"]) for row in read_jsonl(tmp_path / "out" / "metrics.jsonl")]
    assert rows == [("one", 1), ("one", 2), ("two", 1), ("two", 2)]


def test_a_stopped_training_keeps_what_was_best_and_a_run_without_an_epoch_writes_nothing(
    encoder, data_set, tmp_path
) -> None:
    data = read_source(str(data_set)).data("random")
    epochs: list[Epoch] = []
    found = train_retriever(
        encoder, [data], FAST, tmp_path / "a", {}, lambda _, epoch: epochs.append(epoch), lambda: bool(epochs)
    )
    assert found is epochs[0] and len(epochs) == 1 and (tmp_path / "a" / "index" / "index.json").is_file()
    assert train_retriever(encoder, [data], FAST, tmp_path / "b", {}, stopped=lambda: True) is None
    assert not (tmp_path / "b").exists()


def test_data_without_a_tactic_that_names_a_premise_is_refused(encoder) -> None:
    with pytest.raises(UserError, match="no tactic to train on names a premise"):
        Trainer(encoder, RetrievalData(Corpus(files()), [], []), FAST)


# -- the index ---------------------------------------------------------------------------------------------------


def test_only_texts_that_are_new_are_encoded_when_a_file_changes(encoder, tmp_path) -> None:
    made, encoded = Index.build(Corpus(files()), encoder)
    assert encoded == len(made.corpus) == 12
    listed = files()
    changed = type(listed[0])("A.lean", (), (*listed[0].premises[1:], premise("A7", 30)), ())
    later, again = made.updated([changed], encoder)
    assert again == 1 and [each.full_name for each in later.corpus.premises][-3:] == ["A2", "A3", "A7"]
    fresh, _ = Index.build(later.corpus, encoder)
    assert np.allclose(later.vectors, fresh.vectors, atol=1e-6) and later.identity == fresh.identity != made.identity
    later.save(tmp_path)
    loaded = Index.load(tmp_path, encoder.identity)
    assert (loaded.vectors == later.vectors).all() and loaded.identity == later.identity
    with torch.no_grad():
        encoder.parameters()[0].add_(1e-3)
    assert later.updated([changed], encoder)[1] == 12  # other weights: all anew
    with pytest.raises(UserError, match="index of another encoder"):
        Index.load(tmp_path, encoder.identity)


def test_a_damaged_or_missing_index_is_told(encoder, tmp_path) -> None:
    with pytest.raises(UserError, match="no whole index"):
        Index.load(tmp_path)
    Index.build(Corpus(files()), encoder)[0].save(tmp_path)
    (tmp_path / "vectors.npy").write_bytes((tmp_path / "vectors.npy").read_bytes()[:-1])
    with pytest.raises(UserError, match=r"vectors\.npy is damaged"):
        Index.load(tmp_path)
    (tmp_path / "index.json").unlink()
    with pytest.raises(UserError, match="no whole index"):
        Index.load(tmp_path)


# -- commands ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, words, data_set) -> Path:
    """A retriever trained by the command."""
    folder = tmp_path_factory.mktemp("trained")
    save_checkpoint(folder / "base", 0, small.model(words), words)
    start = ["train", "--data", str(data_set), "--encoder", str(folder / "base"), "--device-type", "cpu"]
    assert run([*start, "--out", str(folder / "r"), "--epochs", "2", "--batch-size", "4", "--lr", "0.01"]) == 0
    return folder / "r"


def test_what_is_trained_is_measured_searched_and_brought_up_to_date(retriever, data_set, tmp_path, capsys) -> None:
    common = ["--retriever", str(retriever), "--device-type", "cpu"]
    assert run(["evaluate", *common, "--data", str(data_set), "--json", "--predictions", str(tmp_path / "p")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["queries"], found["split"], found["recall_at_10"]) == (2, "test", 100 * (1 + 1) / 2)  # nine at most
    first = next(iter(read_jsonl(tmp_path / "p")))
    assert (first["url"], first["full_name"], first["all_pos_premises"]) == ("https://host/o/n", "last", ["A1"])
    assert run(["index", *common, "--data", str(data_set)]) == 0
    assert "12 premises of 4 files, 0 texts encoded" in capsys.readouterr().out
    assert run(["search", "⊢ a + b = b + a", *common, "-k", "3", "--theorem", "B2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6 and {line.split()[2][0] for line in lines[::2]} <= {"A", "B"}


def test_commands_say_in_one_line_what_is_wrong(retriever, data_set, tmp_path) -> None:
    for words, message in (
        (["train", "--data", str(tmp_path), "--out", str(tmp_path / "o")], "expected a folder of"),
        (["train", "--data", str(data_set), "--out", str(data_set)], "there are other files in it"),
        (["search", "⊢ p", "--retriever", str(tmp_path)], "no such folder"),
        (["search", "⊢ p", "--retriever", str(retriever), "--theorem", "Z"], "no premise of that name"),
        (["index", "--data", str(data_set), "--retriever", str(data_set)], "there are other files in it"),
    ):
        with pytest.raises(UserError, match=message):
            run(words)


def test_the_trainer_of_leandojo_chains_its_passes_and_goes_on_where_it_was(byte_t5, data_set, tmp_path) -> None:
    exports: list[list[str]] = []

    class Database:
        def export_merged_data(self, repositories: list[Any], output_path: Path) -> None:
            exports.append([each["name"] for each in repositories])

    config = {"model_name": str(byte_t5), "max_epochs": 1, "batch_size": 4, "max_seq_len": 64, "lr": 1e-3}
    trainer = RetrievalTrainer(config, output_dir=tmp_path)
    scores = trainer.train([{"name": "o/a"}, {"name": "o/b"}], Database(), data_set)
    assert exports == [["o/a"], ["o/a", "o/b"]] and 0 <= scores["recall_at_10"] <= 100
    about = json.loads((tmp_path / "retriever.json").read_text())
    assert about["encoder"] == str(tmp_path / "passes" / "000_o_a") and about["max_tokens"] == 64
    assert trainer.evaluate()["R@10"] == 100.0
    assert RetrievalTrainer(config, tmp_path).train([{"name": "o/a"}, {"name": "o/b"}], Database(), data_set) == scores
    assert len(exports) == 2  # both passes are done
    with pytest.raises(UserError, match="name what to start from"):
        RetrievalTrainer({}, tmp_path).train([], None, data_set)


# -- in search ---------------------------------------------------------------------------------------------------


class OneHot:
    """An encoder whose vectors tell the goal: that of `GOALS` which a text has in it."""

    max_tokens, identity, device = 9, "one hot", torch.device("cpu")

    def __init__(self) -> None:
        self.asked: list[str] = []

    def training(self, on: bool) -> None: ...

    def encode(self, texts: Any) -> torch.Tensor:
        self.asked += texts
        return torch.tensor([[float(goal in text) for goal in GOALS.values()] for text in texts])


@pytest.fixture
def finder() -> Retriever:
    made = OneHot()
    found = Retriever(made, Index.build(Corpus(files()), made)[0], 2)  # type: ignore[arg-type]
    made.asked.clear()
    return found


def found_names(finder: Retriever, state: str, name: str = "") -> list[str]:
    return [each.full_name for each in finder.premises(state, name)]


def test_a_theorem_is_given_what_it_may_use_and_each_state_is_encoded_once(finder) -> None:
    state = f"⊢ {GOALS['D']}"
    assert found_names(finder, state) == found_names(finder, state, "of_a_benchmark") == ["D1", "D2"]
    assert found_names(finder, f"⊢ {GOALS['C']}", "C2") == ["C1", "A1"]
    assert found_names(finder, state, "A2") == ["A1"]
    assert finder.encoded == 3 and found_names(finder, state) == ["D1", "D2"] and finder.encoded == 3


def test_in_an_added_file_the_lines_before_count_and_what_it_does_not_import_of_the_added_ones_is_hidden(
    finder,
) -> None:
    listed = files()
    own = [
        type(listed[0])("E.lean", (), (premise("C8", 1), premise("C9", 10)), ()),
        type(listed[0])("F.lean", (), (premise("C7", 1),), ()),
    ]
    more = finder.with_files(own)
    more.count = 9
    state = f"⊢ {GOALS['C']}"
    assert found_names(more, state, "E.lean, line 10")[:4] == ["C1", "C2", "C3", "C8"]
    assert "C9" not in found_names(more, state, "E.lean, line 10")
    assert "C7" not in found_names(more, state, "E.lean, line 99")
    assert found_names(more, state)[:6] == ["C1", "C2", "C3", "C8", "C9", "C7"]


def test_threads_that_ask_for_the_same_state_at_once_share_the_work(finder) -> None:
    answers: list[list[str]] = []
    states = [f"h{n % 3} : p\n⊢ {GOALS['B']}" for n in range(12)]
    threads = [threading.Thread(target=lambda s=s: answers.append(found_names(finder, s))) for s in states]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [["B1", "B2"]] * 12 and set(finder.encoder.asked) == set(states)


def test_a_failing_encoder_fails_those_who_wait_and_nobody_later(finder, monkeypatch) -> None:
    monkeypatch.setattr(finder.encoder, "encode", lambda texts: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        finder.premises("⊢ p")
    monkeypatch.undo()
    assert len(finder.premises("⊢ p")) == 2


def test_premises_that_do_not_fit_are_left_out_and_later_ones_that_do_are_taken() -> None:
    rows = [("A1", "def A1 : 123456789"), ("A2", "def A2 : 1"), ("A3", "def A3 : 1")]
    made = tuple(premise(name, 3 * n + 1, code) for n, (name, code) in enumerate(rows))
    premises = Corpus([type(files()[0])("A.lean", (), made, ())]).premises
    assert [len(each.plain) + 2 for each in premises] == [20, 12, 12]
    assert fitting(premises, "state", 5 + 20 + 12, len) == [premises[0].plain, premises[1].plain]
    assert fitting(premises, "state", 5 + 19, len) == [premises[1].plain]
    assert fitting(premises, "state", 5 + 24, len) == [premises[0].plain]
    assert fitting(premises, "state", 5 + 27, len, marked=True) == [premises[0].text]
    assert fitting(premises, "state", 4, len) == []


def test_premises_stand_before_the_state_and_the_best_is_last(finder) -> None:
    first, second = "theorem C1 : p ∧ q → q", "theorem A1 : a + b = b + a"
    state = f"⊢ {GOALS['C']}"
    model = ScriptedModel(sample("simp"))
    with TextPolicy(model, FORMATS["reprover"]) as text:
        policy = policy_for(RetrievingPolicy(text, finder, 512), Theorem("", "", "C2"))
        assert policy.suggest(state).tactics == ("simp",)
    marked = [each.replace(" C1 ", " <a>C1</a> ").replace(" A1 ", " <a>A1</a> ") for each in (second, first)]
    assert model.asked[0][0] == ["\n\n".join([*marked, state])]


def test_options_that_do_not_go_together_are_refused(retriever, words) -> None:
    with pytest.raises(ValueError, match="--retrieve needs --retriever"):
        RetrieveOptions(retrieve=8)
    with pytest.raises(ValueError, match="--retriever needs --retrieve"):
        RetrieveOptions(retriever="x")
    options = RetrieveOptions(retrieve=2, retriever=str(retriever))
    assert (options.settings() or {})["retrieve"] == 2 and RetrieveOptions().settings() is None
    network = small.model(words), words
    for spec, loaded, name in (("hf:x", None, "bfs-prover"), (None, network, "nanoproof")):
        texts = TextModelOptions(prompt_format="bfs-prover" if spec else None)
        opened = open_policy(
            "model", loaded, SamplingConfig(), spec=spec, texts=texts, dist=small.ALONE, retrieving=options
        )
        with pytest.raises(UserError, match=f"format {name} have no place for premises"), opened:
            pass
