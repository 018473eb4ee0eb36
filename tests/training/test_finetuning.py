"""Supervised finetuning from end to end, its data, and what its options promise."""

import random
from collections import Counter
from dataclasses import replace

import pytest
import torch

from nanoproof import sft
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.data.transitions.packing import KIND_CODES, ExampleLimits, pack
from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.lean.types import Transition
from nanoproof.model.checkpoint import load_model
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import train_tokenizer
from nanoproof.policy.prompt import prompt_tokens
from nanoproof.training.batches import (
    MAX_DEPTH_WEIGHT,
    EpochSampler,
    Pick,
    StepExamples,
    TransitionSet,
    balanced_depth_weights,
    balanced_shard,
)
from nanoproof.training.loss import LossWeights, Normalizers, transition_loss
from nanoproof.training.options import BatchOptions, OptimizerOptions
from nanoproof.training.step import StepSettings, build_optimizer, train_step
from scripts import export_model
from tests.data.installed import install
from tests.helpers import run_ranks
from tests.training import small
from tests.training.sft_runs import interrupted, interrupted_on_ranks, words

pytestmark = pytest.mark.slow

WORDS = small.tokenizer()
LIMITS = ExampleLimits(sequence=128)


# -- data ------------------------------------------------------------------------------------------------------------


def texts(examples):
    return [WORDS.decode(example.prefix + example.continuations[0].tokens) for example in examples]


def test_an_augmented_transition_is_the_same_for_the_same_seed_epoch_and_index_and_new_in_each_epoch():
    items = small.transitions()
    first, again, other_seed, plain = (
        TransitionSet(WORDS, items, LIMITS, seed=seed, augment=augment)
        for seed, augment in ((1, True), (1, True), (2, True), (1, False))
    )
    everything = [[Pick(epoch, index) for index in range(len(items))] for epoch in range(3)]
    assert first.examples(everything[1]) == again.examples(everything[1])
    assert first.examples(everything[1][5:9]) == first.examples(everything[1])[5:9]
    versions = [texts(first.examples(picks)) for picks in everything]
    versions += [texts(other_seed.examples(everything[1])), texts(plain.examples(everything[1]))]
    for number, version in enumerate(versions):
        for other in versions[:number]:
            assert sum(a != b for a, b in zip(version, other)) > len(items) / 4
    assert plain.examples(everything[1]) == plain.examples(everything[2])


def test_an_augmented_transition_that_grew_over_the_limits_is_replaced_by_the_plain_one(monkeypatch):
    items = small.transitions(4)
    monkeypatch.setattr(
        "nanoproof.training.batches.augment_transition",
        lambda item, rng: (
            replace(item, state=item.state * 20) if item.state != items[2].state else replace(item, tactic="rfl")
        ),
    )
    made = TransitionSet(WORDS, items, LIMITS, augment=True)
    assert made.too_long == 0
    shown = texts(made.examples([Pick(0, index) for index in range(4)]))
    expected = [f"{item.state}\n{item.tactic}" for item in items]
    assert shown == [*expected[:2], f"{items[2].state}\nrfl", expected[3]]


def test_what_does_not_fit_and_what_no_search_writes_is_counted():
    items = [Transition("⊢ p", "rfl", 1), Transition("⊢ p", "exact h " * 20, 1), Transition("⊢ p " * 200, "rfl", 1)]
    made = TransitionSet(WORDS, items, LIMITS)
    tokens = len(WORDS.encode(items[1].tactic)) + 1
    assert made.out_of_reach(tokens) == "1 left out as too long"
    with_end = tokens - 1
    assert (
        made.out_of_reach(with_end)
        == f"1 left out as too long, 1 with a tactic of more than --max-gen-tokens {with_end}"
    )
    assert TransitionSet(WORDS, items[:1], LIMITS).out_of_reach(99) == ""


def test_steps_come_in_the_order_of_the_sampler_and_go_on_from_a_saved_position():
    items = small.transitions()
    made = TransitionSet(WORDS, items, LIMITS, augment=True)
    ranks = [replace(small.ALONE, rank=rank, world_size=2) for rank in range(2)]
    alone = StepExamples(made, EpochSampler(len(items), 3), 16, small.ALONE)
    shares = [StepExamples(made, EpochSampler(len(items), 3), 16, rank) for rank in ranks]
    for step in range(6):
        examples = alone.next()
        first, second = (share.next() for share in shares)
        assert sorted(first + second, key=examples.index) == examples
        assert first == sorted(first, key=examples.index) and second == sorted(second, key=examples.index)
        assert {share.state()["offset"] for share in shares} == {alone.state()["offset"]}
        if step == 3:
            position = alone.state()
    sampler = EpochSampler(len(items), 3)
    sampler.restore(position)
    resumed = StepExamples(made, sampler, 16, small.ALONE)
    resumed.next()
    assert resumed.next() == examples
    for stream in (alone, resumed, *shares):
        stream.close()


def test_ranks_get_about_as_much_to_compute_and_each_something():
    sizes = [900, 10, 20, 0, 300, 300, 310, 40]
    ranks = [replace(small.ALONE, rank=rank, world_size=3) for rank in range(3)]
    picks = [Pick(0, index) for index in range(len(sizes))]
    shares = [balanced_shard(picks, lambda pick: sizes[pick.index], rank) for rank in ranks]
    assert sorted(pick.index for share in shares for pick in share) == list(range(len(sizes)))
    assert sorted(sum(sizes[pick.index] for pick in share) for share in shares) == [380, 600, 900]
    nothing = [balanced_shard(picks, lambda pick: 0, rank) for rank in ranks]
    assert sorted(map(len, nothing)) == [2, 3, 3]


def test_with_balanced_depths_all_depths_count_alike_and_rare_ones_not_too_much():
    items = [Transition("⊢ p", "h", depth) for depth in [1] * 60 + [2] * 30 + [3] * 10]
    depths = Counter(item.depth for item in items)
    weights = balanced_depth_weights(depths)
    shares = [weights[depth - 1] * count for depth, count in depths.items()]
    assert shares == pytest.approx([100 / 3] * 3)
    items += [Transition("⊢ p", "h", 64)]
    weights = balanced_depth_weights(Counter(item.depth for item in items * 3))
    assert sum(weights[item.depth - 1] for item in items) == pytest.approx(len(items))
    assert weights[63] / weights[0] == pytest.approx(MAX_DEPTH_WEIGHT / (101 / (4 * 60)))


# -- losses ----------------------------------------------------------------------------------------------------------


def losses(model, made, weights):
    batch = pack(made.examples([Pick(0, index) for index in range(len(made))]), 128, WORDS.pad)
    norms = Normalizers.of(batch)
    return batch, transition_loss(model, batch, weights, norms)


def test_balanced_values_are_the_weighted_mean_of_the_plain_losses():
    items = small.transitions(20)
    weights = balanced_depth_weights(Counter(item.depth for item in items))
    model = small.model(WORDS)
    expected = 0.0
    for item in items:
        _, (_, parts) = losses(model, TransitionSet(WORDS, [item], LIMITS), LossWeights(1.0))
        expected += weights[item.depth - 1] * float(parts["value_loss"]) / len(items)
    _, (_, parts) = losses(model, TransitionSet(WORDS, items, LIMITS, depth_weights=weights), LossWeights(1.0))
    assert float(parts["value_loss"]) == pytest.approx(expected, rel=1e-5)


def test_the_goals_left_are_predicted_from_state_and_tactic_and_change_nothing_else():
    model = small.model(WORDS)
    items = [replace(item, state_after="a : Prop\n⊢ b") for item in small.transitions(6)]
    _, (_, plain) = losses(model, TransitionSet(WORDS, items, LIMITS), LossWeights(0.1))
    made = TransitionSet(WORDS, items, LIMITS, state_after=True)
    batch, (loss, parts) = losses(model, made, LossWeights(0.1, state_after=0.5))
    assert int((batch.kinds == KIND_CODES["state_after"]).sum()) == 6 * (len(WORDS.encode("a : Prop\n⊢ b")) + 1)
    for name in plain:
        assert float(parts[name]) == pytest.approx(float(plain[name]), rel=1e-5)
    assert float(loss.detach()) == pytest.approx(
        float(parts["tactic_loss"] + 0.1 * parts["value_loss"] + 0.5 * parts["state_after_loss"])
    )
    optimizer, step = build_optimizer(model, OptimizerOptions()), BatchOptions(row_length=128)
    examples = made.examples([Pick(0, index) for index in range(6)])
    for _ in range(30):
        last = train_step(
            model,
            optimizer,
            examples,
            1.0,
            StepSettings(step, LossWeights(0.1, state_after=0.5), 1.0, WORDS.pad),
            small.ALONE,
        )
    assert last["state_after_loss"] < 0.3 * float(parts["state_after_loss"])


# -- whole runs ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run without a break and one with, alone and with two ranks."""
    path = tmp_path_factory.mktemp("sft")
    (path / "alone").mkdir()
    interrupted(path / "alone")
    (path / "ranks").mkdir()
    run_ranks(2, interrupted_on_ranks, path / "ranks")
    return path


def records(run):
    return {record["step"]: record for record in read_jsonl(run / "metrics.jsonl")}


@pytest.mark.parametrize("ranks", ["alone", "ranks"])
def test_an_interrupted_run_equals_the_uninterrupted_one(folder, ranks):
    whole, parts = records(folder / ranks / "whole"), records(folder / ranks / "parts")
    assert list(whole) == list(parts) == list(range(1, 12))
    measured = [name for name in whole[11] if not name.endswith(("time", "seconds"))]
    assert {"loss", "state_after_loss", "grad_norm", "valid/tactic_exact_match"} <= set(measured)
    for step, record in whole.items():
        assert [parts[step].get(name) for name in measured] == [record.get(name) for name in measured]
    models = [load_model(folder / ranks / run)[0].state_dict() for run in ("whole", "parts")]
    assert all(torch.equal(weight, models[1][name]) for name, weight in models[0].items())


@pytest.mark.parametrize("ranks", ["alone", "ranks"])
def test_the_loss_falls_and_rows_are_full(folder, ranks):
    found = records(folder / ranks / "whole")
    assert found[11]["loss"] < 0.6 * found[1]["loss"]
    assert found[11]["valid/tactic_loss"] < found[4]["valid/tactic_loss"]
    assert all(record["packing"] > 0.6 for record in found.values())


def test_two_ranks_train_as_one(folder):
    alone, ranks = (records(folder / name / "whole") for name in ("alone", "ranks"))
    for name in ("loss", "tactic_loss", "value_loss", "grad_norm"):
        assert ranks[1][name] == pytest.approx(alone[1][name], rel=1e-4)
    assert ranks[11]["loss"] == pytest.approx(alone[11]["loss"], rel=0.02)


def test_every_epoch_leaves_a_checkpoint_and_every_evaluation_a_table(folder):
    run = folder / "alone" / "whole"
    # 56 transitions (4 are for validation), 16 a step: epochs are over in the steps 4, 7 and 11.
    assert sorted(int(file.stem.split("_")[1]) for file in run.glob("model_*.pt")) == [4, 7, 11]
    tables = [event for event in read_jsonl(run / "events.jsonl") if event["kind"] == "policy_evaluation"]
    assert [event["step"] for event in tables] == [4, 8, 11]
    assert sum(row["count"] for row in tables[-1]["depths"]) == tables[-1]["transitions"] == 4


def test_steps_of_a_resumed_run_do_not_change_their_size(folder):
    line = ["--resume-from", str(folder / "alone" / "whole"), "--target-examples-per-step", "8", "--epochs", "4"]
    with pytest.raises(UserError, match=r"--target-examples-per-step 8 clashes with --resume-from .* have 16"):
        sft.main(line)


def test_a_model_that_reads_states_both_ways_stays_so(tmp_path):
    sft.main(words(tmp_path, "first", "--prefix-lm", "--epochs", 0.5, "--no-save-epochs"))
    assert load_model(tmp_path / "first")[0].config.prefix_lm
    export_model.main(["--model-path", str(tmp_path / "first"), "--to-hf", str(tmp_path / "hub")])
    options = [
        "--data",
        str(tmp_path / "data.jsonl"),
        "--epochs",
        "0",
        "--device-type",
        "cpu",
        "--log-level",
        "warning",
    ]
    for spec, run in ((str(tmp_path / "first"), "second"), (f"hf:{tmp_path / 'hub'}", "third")):
        sft.main([*options, "--log-level", "warning", "--model-path", spec, "--run-dir", str(tmp_path / run)])
        assert load_model(tmp_path / run)[0].config.prefix_lm


def test_without_data_the_proofs_of_mathlib_are_taken_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    line = words(tmp_path, "run", "--epochs", 0)
    install("leantree", leantree_mathlib__jsonl=(tmp_path / "data.jsonl").read_bytes())
    place = line.index("--data")
    assert sft.main(line[:place] + line[place + 2 :]) == 0
    assert read_json(tmp_path / "run" / "args.json")["data"] == "leantree"


@pytest.mark.parametrize("line", [[], ["--data", "auto"]])
def test_without_data_and_without_these_proofs_a_line_names_the_two_choices(tmp_path, monkeypatch, line):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    with pytest.raises(UserError, match=r"give --data: leantree, .*data\.download leantree brings, or nanolean"):
        sft.main(line)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--balance-value-by-depth", "--value-weight", 0], "--balance-value-by-depth .* --value-weight 0"),
        (
            ["--row-length", 16],
            r"no transition fits in 16 tokens.* --row-length \(16\) and the model's sequence \(128\)",
        ),
        (["--state-after-weight", -1], "--state-after-weight must be >= 0"),
    ],
)
def test_options_that_do_not_go_together_are_named(tmp_path, more, message):
    with pytest.raises(UserError, match=message):
        sft.main(words(tmp_path, "run", *more))
    assert not (tmp_path / "run").exists()


def test_a_step_with_fewer_examples_than_ranks_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("nanoproof.training.loop.start_ranks", lambda options: replace(small.ALONE, world_size=32))
    with pytest.raises(UserError, match=r"--target-examples-per-step 16 .* 32 ranks \(--nproc_per_node\)"):
        sft.main(words(tmp_path, "run"))


def test_goals_left_cannot_be_learned_from_data_that_does_not_know_them(tmp_path, monkeypatch):
    unknown = [replace(item, state_after=None) for item in small.transitions()]
    monkeypatch.setattr("nanoproof.training.named_data.load_transitions", lambda name: (unknown, []))
    with pytest.raises(UserError, match=r"--state-after-weight: .* does not say which goals a tactic leaves"):
        sft.main(words(tmp_path, "run", "--state-after-weight", 1))


@pytest.mark.nightly
def test_a_model_that_sees_100_transitions_long_enough_reproduces_them_greedily():
    chance, lemmas = random.Random(0), ("add_comm", "mul_one", "le_trans", "succ_pos", "zero_add")
    items = [
        Transition(f"{x} {y} : Prop\n⊢ {x} ∧ {y}", f"rw [{chance.choice(lemmas)}, {x}]", chance.randint(1, 5))
        for x in "abcdefghijklmnopqrst"
        for y in "ABCDE"
    ]
    assert len(items) == 100
    words = train_tokenizer([item.state + "\n" + item.tactic for item in items], 480)
    torch.manual_seed(0)
    model = GPT.create(GPTConfig(vocab_size=words.vocab_size, depth=2, aspect_ratio=32, head_dim=32, sequence_len=64))
    batch, steps = BatchOptions(device_batch_size=64, row_length=64), 50
    optimizer = build_optimizer(model, OptimizerOptions(matrix_lr=0.05, unembedding_lr=0.02))
    examples = TransitionSet(words, items, ExampleLimits(sequence=64)).examples([Pick(0, n) for n in range(100)])
    for step in range(steps):
        factor = min(1.0, 2 * (1 - step / steps))
        train_step(
            model, optimizer, examples, factor, StepSettings(batch, LossWeights(0.01), 1.0, words.pad), small.ALONE
        )
    prompts = [prompt_tokens(words, item.state, 64) for item in items]
    answers = Engine(model, words).generate(prompts, SamplingOptions(1, 30, temperature=1e-6), [0] * 100)
    assert [words.decode(answer.samples[0].tokens) for answer in answers] == [item.tactic for item in items]
