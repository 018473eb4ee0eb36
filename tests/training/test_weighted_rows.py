"""Finetuning on rows of texts with weights, for networks of ours and for models of transformers."""

import json
import math
from pathlib import Path

import pytest
import torch

from nanoproof import sft
from nanoproof.common.errors import UserError
from nanoproof.data.transitions.packing import KIND_CODES, pack
from nanoproof.data.weighted_rows import Row, at_marker, read_rows, write_rows
from nanoproof.model.checkpoint import load_model
from nanoproof.model.gpt import GPT, with_reserved_markers
from nanoproof.model.tokenizer import RESERVED
from nanoproof.training.batches import Pick, RowSet
from nanoproof.training.loss import LossWeights, Normalizers, transition_loss
from nanoproof.training.named_data import load_rows
from tests.training import sft_runs, small

CPU = torch.device("cpu")
ROWS = [
    Row("theorem (p : Prop) (h0 : p) : p := by\n<|proof|>", "exact h0", 0.25),
    Row("theorem (q : Prop) (h1 : q) : q := by\n<|proof|>", "exact h1 exact h1 exact h1", 2.0),
    Row("p\n<hard theorem>\n<|conjecture|>", "theorem c : p := by\n</hard theorem>", 1.0),
]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("a\n<|proof|>", ("a\n", "<|proof|>")),
        ("a <|proof|> b\n<|conjecture|>", ("a <|proof|> b\n", "<|conjecture|>")),
        ("Complete:\ntheorem a := by", ("Complete:\ntheorem a := by\n", "<|proof|>")),
        ("lemma\n<hard theorem>", ("lemma\n<hard theorem>\n", "<|conjecture|>")),
    ],
)
def test_a_prompt_ends_with_a_marker(prompt: str, expected: tuple[str, str]) -> None:
    assert at_marker(prompt) == expected
    assert set(RESERVED) == {"<|proof|>", "<|conjecture|>"}


def nll_by_hand(network: GPT, prompt: list[int], answer: list[int]) -> torch.Tensor:
    """-log p of each token of an answer, from one forward pass over the text alone."""
    tokens = torch.tensor([[*prompt, *answer[:-1]]])
    places = torch.arange(len(prompt) - 1, len(prompt) + len(answer) - 1)
    logits = network(tokens, select_N=places).float()
    return -logits.log_softmax(-1)[range(len(answer)), answer]


def test_the_loss_is_the_weighted_mean_over_all_tokens_of_targets_and_their_end() -> None:
    words = small.tokenizer()
    network = with_reserved_markers(small.model(words))
    examples = RowSet(words, ROWS, 128).examples([Pick(0, 0), Pick(0, 1), Pick(0, 2)])
    batch = pack(examples, 128, words.pad)
    assert int((batch.kinds == KIND_CODES["tactic"]).sum()) == sum(len(words.encode(row.target)) + 1 for row in ROWS)
    total, weight = 0.0, 0.0
    with torch.no_grad():
        loss, parts = transition_loss(network, batch, LossWeights(0.0), Normalizers.of(batch))
        for row in ROWS:
            text, marker = at_marker(row.prompt)
            start = words.conjecture if marker == "<|conjecture|>" else words.proof
            answer = [*words.encode(row.target), words.eos]
            nll = nll_by_hand(network, [words.bos, *words.encode(text), start], answer)
            total, weight = total + row.weight * float(nll.sum()), weight + row.weight * len(answer)
    assert float(loss) == pytest.approx(total / weight, rel=1e-4)
    assert 0 <= float(parts["tactic_token_accuracy"]) <= 1


def test_small_weights_do_not_make_the_loss_small() -> None:
    words = small.tokenizer()
    network = with_reserved_markers(small.model(words))
    losses = []
    for factor in (1.0, 1e-4):
        rows = [row._replace(weight=row.weight * factor) for row in ROWS]
        batch = pack(RowSet(words, rows, 128).examples([Pick(0, n) for n in range(3)]), 128, words.pad)
        with torch.no_grad():
            losses.append(float(transition_loss(network, batch, LossWeights(0.0), Normalizers.of(batch))[0]))
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def test_of_a_row_that_is_too_long_the_end_is_kept() -> None:
    words = small.tokenizer()
    row = Row("p q r s p q r s\n<|proof|>", "exact h0", 1.0)
    prompt, target = words.encode("p q r s p q r s\n"), [*words.encode("exact h0"), words.eos]
    whole = len(prompt) + len(target) + 2

    def kept(longest: int) -> tuple[list[int], list[int]]:
        rows = RowSet(words, [row], longest)
        assert rows.num_cut == (longest < whole)
        (example,) = rows.examples([Pick(0, 0)])
        assert len(example) <= longest
        return example.prefix, example.continuations[0].tokens

    assert kept(whole) == ([words.bos, *prompt], [words.proof, *target])
    assert kept(whole - 1) == ([words.bos, *prompt[1:]], [words.proof, *target])
    assert kept(len(target) + 2) == ([words.bos], [words.proof, *target])
    assert kept(len(target) + 1) == ([words.bos], [words.proof, *target[1:]])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{}", "must hold a list"),
        ('[{"prompt": "a", "target": "b"}, {"prompt": "a"}]', "row 2: expected texts"),
        ('[{"prompt": "a", "target": "b", "weight": -1}]', "row 1"),
        ('[{"prompt": "a", "target": "b", "weight": true}]', "row 1"),
        ('[{"prompt": "a", "target": "b", "weight": NaN}]', "row 1"),
        ("[", "not valid JSON"),
        ("[]", "no rows to train on"),
        ('[{"prompt": "a", "target": "b", "weight": 0}]', "all weights are 0"),
    ],
)
def test_what_are_no_rows_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "rows.json").write_text(text)
    with pytest.raises(UserError, match=complaint):
        load_rows(str(tmp_path / "rows.json"), None, None)


def test_rows_are_read_as_they_were_written_packed_too(tmp_path: Path) -> None:
    for name in ("rows.json", "packed.json.gz"):
        write_rows(tmp_path / name, ROWS)
        assert read_rows(tmp_path / name) == ROWS
    assert read_rows(tmp_path / "packed.json") == ROWS


def test_the_command_learns_rows_and_goes_on_where_it_was(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.json", [*ROWS * 7, *ROWS[:2], Row("p q r s " * 40, "exact h0", 1.0)])
    line = sft_runs.words(tmp_path, "run", "--epochs", 12, "--eval-data", tmp_path / "rows.json")
    line[line.index("--data") + 1] = str(tmp_path / "rows.json")
    assert sft.main([*line, "--eval-every", "9steps"]) == 0
    metrics = [json.loads(each) for each in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    decisions = json.loads((tmp_path / "run" / "meta.json").read_text())["decisions"]
    assert "24 to train, 24 to validate, 2 cut at their beginning to 128 tokens" in decisions["transitions"]
    valid = [each["valid/loss"] for each in metrics if "valid/loss" in each]
    assert len(valid) == 2 and valid[1] < valid[0] < math.log(600)
    network, _, _ = load_model(tmp_path / "run", CPU, torch.float32)
    assert network.config.whole_proofs
    with pytest.raises(UserError, match="--state-after-weight"):
        sft.main([*line, "--state-after-weight", "0.1"])
    with pytest.raises(UserError, match="--eval-data goes with"):
        sft.main(sft_runs.words(tmp_path, "other", "--eval-data", tmp_path / "rows.json"))
