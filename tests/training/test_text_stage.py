"""Parts of training on text: the plan of a run, bits per byte, samples, counts of tokens."""

import math
from pathlib import Path

import pytest
import torch

from nanoproof.data.text.documents import split_last
from nanoproof.data.text.text_files import MemoryFile
from nanoproof.data.text.token_loader import TokenBatch
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.optim import NonFiniteLoss
from nanoproof.training.options import OptimizerOptions
from nanoproof.training.pretraining import (
    NEW_TOKENS,
    PROMPTS,
    ValidationText,
    bits_per_byte,
    count_tokens,
    greedy_texts,
)
from nanoproof.training.schedule import (
    FULL_BATCH,
    MidtrainLength,
    PretrainLength,
    clock,
    describe_schedule,
    plan_batch,
    short,
    suit_batch,
)
from nanoproof.training.step import build_optimizer, token_step
from tests.training import small

WORDS = small.tokenizer()
TEXTS = [item.state + "\n" + item.tactic for item in small.transitions(20)]


def never() -> bool:
    return False


# -- plan --------------------------------------------------------------------------------------------------------------


def test_the_default_model_gets_a_full_batch_and_small_ones_smaller():
    length = PretrainLength()
    tokens, _ = length.wanted(10**9, 0.0)
    assert tokens == 12 * 10**9 and length.batch(tokens)[0] == pytest.approx(FULL_BATCH)
    assert length.batch(tokens / 1000)[0] == pytest.approx(FULL_BATCH / 1000**0.383)


def test_midtraining_makes_smaller_steps_only_where_there_would_be_too_few():
    length = MidtrainLength(epochs=2.0)
    assert length.wanted(10, 65e6)[0] == 130e6 and length.batch(130e6)[0] == FULL_BATCH
    assert length.batch(1e6)[0] == 1e6 / 100


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_the_usual_numbers_of_ranks_get_the_same_batch(ranks):
    plan = suit_batch(FULL_BATCH, "", 32, 768, ranks)
    assert plan.rows == 512 and plan.accumulation == 16 // ranks


def test_a_batch_that_is_smaller_than_one_micro_batch_is_rounded_up_and_says_so():
    plan = suit_batch(1000, "why", 32, 256, 3)
    assert plan.rows == 96 and "rounded up" in plan.reason


def test_a_batch_that_is_asked_for_is_met_exactly():
    assert plan_batch(491_520, "", 16, 768, 8).accumulation == 5


def test_the_schedule_is_told_in_words():
    told = describe_schedule(1000, 0.005, 0.65, 1.0, 0.05)
    assert told == "learning rates rise for 5 steps, stay at 1 of full until step 350, fall to 0.05 at step 1000"


def test_numbers_are_told_short():
    assert [short(12), short(1234), short(7.5e9), short(0.5)] == ["12", "1.23k", "7.5G", "0.5"]
    assert clock(3723.4) == "1:02:03"


# -- bits per byte -----------------------------------------------------------------------------------------------------


def test_each_token_but_the_first_is_a_target_once():
    text = ValidationText.encode(WORDS, TEXTS, row_length=16, max_tokens=10**6)
    stream = [token for tokens in WORDS.encode_batch(TEXTS) for token in [WORDS.bos, *tokens]]
    targets = text.targets_RT[text.targets_RT >= 0].tolist()
    assert targets == stream[1:] and text.num_targets == len(stream) - 1
    assert text.num_bytes == sum(len(item.encode()) for item in TEXTS)


def test_no_more_validation_tokens_are_taken_than_asked_for():
    assert ValidationText.encode(WORDS, TEXTS, row_length=16, max_tokens=50).num_targets == 50


def test_a_model_without_opinion_needs_the_logarithm_of_the_vocabulary_for_each_token():
    model = small.model(WORDS)
    torch.nn.init.zeros_(model.head.weight)
    text = ValidationText.encode(WORDS, TEXTS, row_length=16, max_tokens=10**6)
    tokens = sum(map(len, WORDS.encode_batch(TEXTS)))
    found = bits_per_byte(model, text, 4, small.ALONE, never)
    assert found["bits_per_byte"] == pytest.approx(tokens * math.log2(WORDS.vocab_size) / text.num_bytes, rel=1e-5)
    assert found["loss"] == pytest.approx(math.log(WORDS.vocab_size), rel=1e-5)


def test_bits_per_byte_do_not_depend_on_the_batch():
    model, text = small.model(WORDS), ValidationText.encode(WORDS, TEXTS, row_length=16, max_tokens=10**6)
    one, many = (bits_per_byte(model, text, rows, small.ALONE, never) for rows in (1, 7))
    assert one == pytest.approx(many, rel=1e-6)


def test_an_evaluation_ends_when_the_run_is_to_end():
    text = ValidationText.encode(WORDS, TEXTS, row_length=16, max_tokens=10**6)
    asked = iter([False, True])
    assert bits_per_byte(small.model(WORDS), text, 1, small.ALONE, lambda: next(asked)) == {}


# -- a step ------------------------------------------------------------------------------------------------------------


def test_the_loss_is_the_mean_over_all_targets_of_all_micro_batches():
    model = small.model(WORDS)
    optimizer = build_optimizer(model, OptimizerOptions())
    torch.manual_seed(1)
    tokens = torch.randint(0, WORDS.num_text_tokens, (3, 16))
    targets = tokens.roll(-1, 1)
    targets[0, 4:] = -1
    logits = model(tokens).detach().flatten(0, 1)
    wanted = torch.nn.functional.cross_entropy(logits, targets.flatten(), ignore_index=-1)
    batches = [TokenBatch(tokens[:1], targets[:1]), TokenBatch(tokens[1:], targets[1:])]
    found = token_step(model, optimizer, batches, 1.0, 1.0, small.ALONE)
    assert found["loss"] == pytest.approx(float(wanted), rel=1e-5) and found["targets"] == 36


def test_a_loss_that_is_not_a_number_leaves_the_weights_alone():
    model = small.model(WORDS)
    optimizer = build_optimizer(model, OptimizerOptions())
    with torch.no_grad():
        model.head.weight[3] = math.nan
    before = {name: value.clone() for name, value in model.state_dict().items()}
    tokens = torch.zeros(1, 8, dtype=torch.int64)
    with pytest.raises(NonFiniteLoss, match="the loss is nan; the weights were left"):
        token_step(model, optimizer, [TokenBatch(tokens, tokens)], 1.0, 1.0, small.ALONE)
    assert all(torch.equal(value, before[name]) or value.isnan().any() for name, value in model.state_dict().items())


# -- samples and counts ------------------------------------------------------------------------------------------------


def test_samples_are_the_most_likely_tokens_one_by_one():
    model = small.model(WORDS)
    torch.nn.init.normal_(model.head.weight, std=0.3, generator=torch.Generator().manual_seed(1))
    prompt = TEXTS[3]
    tokens = [WORDS.bos, *WORDS.encode(prompt)]
    start = len(tokens)
    for _ in range(NEW_TOKENS):
        tokens.append(int(model(torch.tensor([tokens]))[0, -1, : WORDS.eos + 1].argmax()))
        if tokens[-1] == WORDS.eos:
            break
    written = greedy_texts(model, WORDS, ("p", prompt, prompt * 40))
    assert written[1] == WORDS.decode(tokens[start:]) and len(written) == 3


def test_models_with_few_positions_write_samples_too():
    config = GPTConfig(vocab_size=WORDS.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=16)
    assert len(greedy_texts(GPT.create(config), WORDS)) == len(PROMPTS)


def test_tokens_of_a_small_text_are_counted_exactly():
    documents = split_last("text", [MemoryFile(Path("text"), ["", *TEXTS])]).train
    read = TEXTS[: documents.count - 1]
    assert count_tokens(documents, WORDS) == sum(len(tokens) + 1 for tokens in WORDS.encode_batch(read))


def test_tokens_of_a_large_text_are_estimated_from_a_sample(monkeypatch):
    monkeypatch.setattr("nanoproof.training.pretraining.SAMPLE_BYTES", 2000)
    files = [MemoryFile(Path(f"{number}"), TEXTS * 5) for number in range(40)]
    documents = split_last("text", files).train
    exact = documents.count / 20 * sum(len(tokens) + 1 for tokens in WORDS.encode_batch(TEXTS))
    assert count_tokens(documents, WORDS) == pytest.approx(exact, rel=0.1)
