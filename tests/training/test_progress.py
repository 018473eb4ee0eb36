"""Steps remaining: rows, the split, the kept epoch, texts and scores, and the order of candidates in search."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nanoproof import progress
from nanoproof.common.distributed import init_distributed
from nanoproof.common.errors import UserError
from nanoproof.compat.trainers import ProgressTrainer
from nanoproof.inference.language_model import TextSample
from nanoproof.policy.factory import open_policy
from nanoproof.policy.policy_options import TEMPLATE, ProgressOptions, TextModelOptions
from nanoproof.policy.prompt_formats import FORMATS
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.served_models import ServedModel
from nanoproof.policy.steps_remaining import ProgressPolicy, Scorer, progress_text, weighed
from nanoproof.retrieval.encoders import open_encoder
from nanoproof.search.policy import Suggestion
from nanoproof.training.options import ProgressSettings
from nanoproof.training.progress import ProgressRow, errors_of, read_rows, rows_from_traces, split_rows, train_progress
from tests.fakes.hf_models import save_decoder, save_encoder_decoder
from tests.fakes.policy import saying
from tests.helpers import Later
from tests.training import small

transformers: Any = Later("transformers")

torch.set_num_threads(1)

ROWS = [
    {"goal": f"x{n % 7} : Nat\n⊢ x = {n}", "tactic": "omega" if n % 2 else "simp", "steps_remaining": 4 * (n % 2)}
    for n in range(40)
]


def write(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that was trained through the known constructor."""
    folder = tmp_path_factory.mktemp("progress")
    data = write(folder / "rows.jsonl", [*ROWS, {"goal": "x", "tactic": " ", "steps_remaining": 1}])
    trainer = ProgressTrainer(
        data_path=str(data),
        model_name="scratch",
        output_dir=str(folder / "out"),
        max_length=64,
        batch_size=8,
        epochs=4.0,
        learning_rate=1e-3,
        eval_ratio=0.2,
        seed=42,
    )
    found = trainer.train()
    assert found["rows"] == {"train": 32, "held_out": 8, "skipped": 1}
    assert found["mse"] == pytest.approx(min(found["epochs"]), abs=1e-4) and len(found["epochs"]) == 4
    assert found["mse"] < max(found["epochs"])  # the worst one would be another
    return folder / "out"


def test_the_best_epoch_is_kept_and_plain_transformers_loads_it(trained: Path) -> None:
    model = transformers.AutoModelForSequenceClassification.from_pretrained(trained).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(trained)
    scorer = Scorer(trained)
    goals = [row["goal"] for row in ROWS[:2]]
    for goal, tactic in zip(goals, ("simp", "omega"), strict=True):
        with torch.no_grad():
            logit = float(model(**tokenizer(progress_text(goal, tactic), return_tensors="pt")).logits)
        assert scorer.steps_remaining(goal, [tactic]) == [pytest.approx(max(0.0, logit), abs=1e-5)]
    assert not (trained / "epochs").exists()


def test_texts_are_the_known_ones_and_goals_are_no_places() -> None:
    assert progress_text(" a {tactic} ", "b", "c\nd") == "Goal:\na {tactic}\n\nPrefix:\nc\nd\n\nCandidate tactic:\nb"
    assert progress_text("g", "t", None, "{tactic}|{goal}") == "t|g"
    assert ProgressRow("g", "", "t", 1).text == TEMPLATE.format(goal="g", prefix="", tactic="t")


def test_errors_and_the_split_by_hand() -> None:
    assert errors_of(np.array([[1.0], [2.0]]), np.array([0.0, 4.0])) == {"mse": 2.5, "mae": 1.5}
    for count, ratio, held_out in ((10, 0.2, 2), (11, 0.2, 3), (5, 0.1, 1), (3, 0.2, 1), (1000, 0.07, 70)):
        train, valid = split_rows(count, ratio, 42)
        assert len(valid) == held_out and sorted(train + valid) == list(range(count))
    assert split_rows(30, 0.2, 1) != split_rows(30, 0.2, 2)
    with pytest.raises(UserError, match="leaves none to train on"):
        split_rows(1, 0.2, 0)


def test_rows_of_proofs_count_the_tactics_after_each(tmp_path: Path) -> None:
    def node(number: int, depth: int | None, tactic: str = "", children: Sequence[int] = ()) -> dict[str, Any]:
        goals = [{"type": f"p{number}", "hypotheses": []}] if tactic else []
        edge = {"tactic": {"tactic_string": tactic, "children": list(children)}} if tactic else {}
        return {"id": number, "state": {"goals": goals}, "proof_depth": depth, **edge}

    nodes = [node(0, 3, "intro x", [1]), node(1, 2, "constructor", [2, 3]), node(2, 1, "rfl", []), node(3, 1, "sorry")]
    record = {"path": "A.lean", "theorems": [{"by_blocks": [{"tree": {"root_id": 0, "nodes": nodes}}]}]}
    data = write(tmp_path / "a.jsonl", [record])
    rows = rows_from_traces(str(data))
    assert [(row["tactic"], row["steps_remaining"]) for row in rows] == [("intro x", 2), ("constructor", 1), ("rfl", 0)]
    assert [row["prefix"] for row in rows] == ["", "intro x", "intro x\nconstructor"]
    assert {row["prefix"] for row in rows_from_traces(str(data), prefix=False)} == {""}
    with pytest.raises(UserError, match="holds no proofs to validate"):
        rows_from_traces(str(data), valid=True)


def test_the_commands_write_rows_and_say_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "sample.jsonl"
    assert progress.main(["sample-data", "--output", str(out)]) == 0
    assert "3 rows" in capsys.readouterr().out
    rows, skipped = read_rows(out)
    assert ([row.steps_remaining for row in rows], skipped) == ([1, 0, 12], 0)
    assert rows[1].prefix == "" and rows[2].tactic == "sorry"
    small.write_leantree(tmp_path / "data.jsonl", small.transitions(8))
    assert progress.main(["from-traces", "--data", str(tmp_path / "data.jsonl"), "--output", str(out)]) == 0
    assert len(read_rows(out)[0]) > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "line 1: not JSON"), ('{"goal": "g"}\n', "has no row with"), ("", "has no row with")],
)
def test_rows_of_another_shape_are_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(UserError, match=message):
        read_rows(tmp_path / "bad.jsonl")


# -- in search ---------------------------------------------------------------------------------------------------------


class Fixed:
    """A scorer that knows some tactics."""

    def __init__(self, **steps: float) -> None:
        self.steps = steps

    def steps_remaining(self, goal: str, tactics: Sequence[str], prefix: str | None = None) -> list[float]:
        return [self.steps[tactic] for tactic in tactics]


def test_candidates_are_ordered_by_log_probability_and_steps_and_keep_their_mass() -> None:
    suggestion = Suggestion(("a", "b", "c"), (math.log(0.4), math.log(0.2), math.log(0.1)), (4, 2, 1), 3.0)
    found = weighed(suggestion, [4.0, 0.0, 0.0], math.log(2))
    assert (found.tactics, found.counts, found.value) == (("b", "c", "a"), (2, 1, 4), 3.0)
    # 0.4 / 16, 0.2 and 0.1, together 0.325, scaled to 0.7
    expected = [0.2 * 0.7 / 0.325, 0.1 * 0.7 / 0.325, 0.025 * 0.7 / 0.325]
    assert [math.exp(each) for each in found.logprobs] == pytest.approx(expected)
    assert weighed(suggestion, [4.0, 0.0, 0.0], 0.0).tactics == suggestion.tactics
    policy = ProgressPolicy(saying("a", "b"), Fixed(a=3, b=1), 0.5)
    assert policy.suggest("⊢ p").tactics == ("b", "a")


def test_without_a_model_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEANPROGRESS_MODEL", " ")
    words = small.tokenizer()
    network, dist = (small.model(words), words), init_distributed("cpu")
    sampling = SamplingConfig(num_sampled_tactics=4, max_gen_tokens=8)
    options = TextModelOptions()
    assert (options.progress.settings(), options.record("sft/x")) == ({}, None)
    with open_policy("model", network, sampling, texts=options, dist=dist) as policy:
        assert not isinstance(policy, ProgressPolicy)


def test_the_environment_and_the_flag_name_the_model(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANPROGRESS_MODEL", str(trained))
    words = small.tokenizer()
    network, dist = (small.model(words), words), init_distributed("cpu")
    sampling = SamplingConfig(num_sampled_tactics=4, max_gen_tokens=8)
    with open_policy("model", network, sampling, texts=TextModelOptions(), dist=dist) as policy:
        assert isinstance(policy, ProgressPolicy)
        suggestion = policy.suggest("p : Prop\nh : p\n⊢ p", 3)
        assert sum(suggestion.counts) + suggestion.num_dropped == 4
    with open_policy("uniform", None, sampling, texts=TextModelOptions()) as policy:
        assert not isinstance(policy, ProgressPolicy)  # a baseline has no candidates to order
    record = TextModelOptions().record("sft/x")
    assert record is not None and record["progress_weight"] == 0.5 and len(record["progress_model"]) == 64
    monkeypatch.setenv("LEANPROGRESS_TEMPLATE", "{goal}")
    with pytest.raises(UserError, match="LEANPROGRESS_TEMPLATE has no"):
        Scorer(trained, template="{goal}")
    monkeypatch.delenv("LEANPROGRESS_TEMPLATE")
    missing = TextModelOptions(progress=ProgressOptions(str(tmp_path / "none")))
    with (
        pytest.raises(UserError, match=r"the progress model .*none cannot be loaded"),
        open_policy("model", network, sampling, texts=missing, dist=dist),
    ):
        pass


def test_a_server_rewards_with_the_steps_of_each_candidate(trained: Path) -> None:
    class Says:
        name = identity = "says"

        def generate(self, prompts: Any, options: Any, seeds: Any) -> list[list[TextSample]]:
            return [[TextSample("simp", -1.0, 2, True), TextSample("omega", -2.0, 2, True)] for _ in prompts]

    scorer = Scorer(trained)
    model: Any = Says()
    served = ServedModel("x", model, FORMATS["llmstep"], SamplingConfig(), scorer)
    found = served.candidates("p : Prop\nh : p\n⊢ p", use_reward=True)
    plain = served.candidates("p : Prop\nh : p\n⊢ p")
    steps = scorer.steps_remaining("p : Prop\nh : p\n⊢ p", [each.output for each in found])
    assert [each.reward for each in found] == pytest.approx([-left for left in steps], abs=1e-5)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert {each.output for each in plain} == {each.output for each in found} and plain[0].reward is None


@pytest.mark.parametrize("save", [save_decoder, save_encoder_decoder])
def test_training_begins_with_decoders_without_padding_and_with_encoder_decoders(
    save: Callable[[Path], Path], tmp_path: Path
) -> None:
    start, data = save(tmp_path / "start"), write(tmp_path / "rows.jsonl", ROWS[:6])
    settings = ProgressSettings(str(start), epochs=1.0, max_length=64, batch_size=4, eval_ratio=0.5)
    train_progress(data, tmp_path / "out", settings, use_cpu=True)
    scorer, tactics = Scorer(tmp_path / "out"), ["simp", "exact h"]
    alone = [scorer.steps_remaining("⊢ p", [tactic])[0] for tactic in tactics]
    assert scorer.steps_remaining("⊢ p", tactics) == pytest.approx(alone, abs=1e-5)


def test_what_no_model_of_steps_comes_of_is_one_line(tmp_path: Path) -> None:
    data = write(tmp_path / "rows.jsonl", ROWS[:6])
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "some/base"}')
    for start, message in ((tmp_path, "holds adapters"), (tmp_path / "none", "has no config.json|no such folder")):
        with pytest.raises(UserError, match=message):
            train_progress(data, tmp_path / "out", ProgressSettings(str(start)), use_cpu=True)
        with pytest.raises(UserError, match=message):
            open_encoder(f"hf:{start}")
    diverges = ProgressSettings("scratch", epochs=1.0, max_length=32, batch_size=2, learning_rate=1e12)
    with pytest.raises(UserError, match=r"not finite: try a smaller --learning-rate \(1e\+12\)"):
        train_progress(data, tmp_path / "out", diverges, use_cpu=True)
    assert not (tmp_path / "out" / "config.json").exists()


def test_models_of_classes_and_wrong_devices_are_refused(trained: Path, tmp_path: Path) -> None:
    config = transformers.BertConfig(
        vocab_size=300, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, num_labels=3
    )
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(trained).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="tells 3 classes apart"):
        Scorer(tmp_path)
    with pytest.raises(UserError, match="LEANPROGRESS_DEVICE nowhere"):
        Scorer(trained, "nowhere")
