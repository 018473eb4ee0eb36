"""What benchmarks/train.py claims and how it runs: both ways of finetuning agree, every part of the table is made."""

import pytest
import torch

from benchmarks.plain_sft import plain_gradients, plain_rows
from benchmarks.train import main
from benchmarks.train_device import BASELINES, cases, markdown, result_of
from benchmarks.train_measures import Case, DeviceOptions, measure
from nanoproof.common.errors import UserError
from nanoproof.data.transitions.packing import pack
from nanoproof.model.gpt import GPTConfig
from nanoproof.training.loss import LossWeights, Normalizers, transition_loss
from tests.training.small import examples, model, tokenizer

TINY = DeviceOptions(
    network=GPTConfig(depth=1, aspect_ratio=32, head_dim=32, sequence_len=330, vocab_size=448),
    device_batch_size=1,
    accumulation=1,
    transitions=2,
    timed_steps=1,
)


def test_two_padded_rows_for_each_transition_give_loss_and_gradients_of_packed_ones() -> None:
    words = tokenizer()
    network, items = model(words), examples(words, 12)
    for block in network.layers:  # fresh layers are the identity, with which attention would not matter
        torch.nn.init.normal_(block.attention_out.weight, std=0.1)
    batch = pack(items, 100, words.pad)
    loss, _ = transition_loss(network, batch, LossWeights(0.3), Normalizers.of(batch))
    loss.backward()
    packed = {name: parameter.grad.clone() for name, parameter in network.named_parameters()}
    for order, batch_size in ((items, 4), (sorted(items, key=len), 7)):
        network.zero_grad()
        plain = plain_gradients(network, order, batch_size, 0.3, words.pad)
        assert plain["loss"] == pytest.approx(float(loss.detach()), rel=1e-5)
        for name, parameter in network.named_parameters():
            torch.testing.assert_close(parameter.grad, packed[name], rtol=1e-4, atol=1e-6)


def test_the_plain_way_reads_every_state_twice() -> None:
    words = tokenizer()
    items = examples(words, 5)
    assert sum(len(row.tokens) for row in plain_rows(items)) == sum(len(item) + len(item.prefix) for item in items)


@pytest.mark.nightly
@pytest.mark.parametrize("part", sorted(BASELINES))
def test_every_part_of_the_table_can_be_measured(part: str) -> None:
    figures = measure(Case(part, "sdpa"), "cpu", TINY)  # type: ignore[arg-type]
    assert figures["rate"] > 0
    assert figures["rows"] == 1
    assert "sdpa" in figures["attention"]


def test_a_case_that_a_device_cannot_do_says_why_in_the_table() -> None:
    with pytest.raises(UserError, match="--fp8: it needs a CUDA device"):
        measure(Case("pretrain", fp8=True), "cpu", TINY)
    done = {"rate": 10.0, "unit": "tokens/s", "rows": 4, "peak_gib": 1.5, "mfu": 0.25, "device": "GPU"}
    done |= {"attention": "sdpa (asked for)", "compile": "on", "fp8": "off"}
    figures = {case: {"error": "out of memory"} for case in cases()} | {BASELINES["pretrain"]: done}
    table = markdown([result_of(case, figures, TINY) for case in figures])
    assert "| pretrain (attention auto, fp8) | - | - | - | - | - | out of memory | | |" in table
    assert "| 10.0 tokens/s | 1.0 | 25.0% | 1.5 GiB | 4 | sdpa (asked for) |" in table


@pytest.mark.parametrize(
    ("words", "flag"), [(["--depth", "2"], "--depth"), (["--device", "cpu", "--steps", "1"], "--steps")]
)
def test_flags_of_the_measurement_that_is_not_run_are_refused(words: list[str], flag: str) -> None:
    with pytest.raises(UserError, match=flag):
        main(words)
