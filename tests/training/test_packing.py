from types import SimpleNamespace

import numpy as np
import pytest
import torch

from nanoproof.data.transitions.packing import (
    KIND_CODES,
    NO_TARGET,
    Continuation,
    Example,
    ExampleLimits,
    encode_transition,
    encode_transitions,
    pack,
)
from nanoproof.lean.types import Transition
from nanoproof.training.batches import pack_for, split_for
from nanoproof.training.options import BatchOptions
from tests.training import small

WORDS = small.tokenizer()


def test_an_example_is_the_state_once_and_two_continuations():
    example = encode_transition(WORDS, Transition("⊢ p", "exact h", 3), ExampleLimits())
    assert example.prefix == [WORDS.bos, *WORDS.encode("⊢ p\n")]
    tactic, value = example.continuations
    assert tactic.tokens == [WORDS.tactic, *WORDS.encode("exact h"), WORDS.bos]
    assert value.tokens == [WORDS.value, WORDS.bins[2]]


def test_a_proof_deeper_than_the_last_bin_falls_into_it():
    example = encode_transition(WORDS, Transition("⊢ p", "exact h", 1000), ExampleLimits())
    assert example.continuations[1].tokens[1] == WORDS.bins[-1]


def test_a_failed_tactic_has_no_value():
    example = encode_transition(WORDS, Transition("⊢ p", "exact h", 1), ExampleLimits(), negative=True)
    assert [item.kind for item in example.continuations] == ["negative"]


def test_examples_over_a_limit_are_left_out():
    long = Transition("⊢ " + "p ∧ " * 400 + "p", "exact h", 1)
    assert encode_transition(WORDS, long, ExampleLimits(state=64)) is None


def test_every_example_is_packed_once_and_whole():
    examples = small.examples(WORDS)
    batch = pack(examples, 96, WORDS.pad)
    found = []
    for tokens, segments in zip(batch.tokens, batch.segments):
        for segment in range(1, int(segments.max()) + 1):
            found.append(tokens[segments == segment].tolist())
    expected = [example.prefix + [t for item in example.continuations for t in item.tokens] for example in examples]
    assert sorted(found) == sorted(expected)


def test_an_example_longer_than_a_row_is_an_error():
    with pytest.raises(ValueError, match="does not fit"):
        pack(small.examples(WORDS), 8, WORDS.pad)


def test_continuations_see_the_prefix_and_themselves_only():
    example = Example([1, 2], [Continuation([3, 4], "tactic"), Continuation([5, 6], "value")])
    batch = pack([example, Example([7], [])], 8, pad=0)
    mask = batch.layout().mask()[0].int().tolist()
    assert mask[3] == [1, 1, 1, 1, 0, 0, 0, 0]
    assert mask[5] == [1, 1, 0, 0, 1, 1, 0, 0]
    assert mask[6] == [0, 0, 0, 0, 0, 0, 1, 0]
    assert batch.positions[0].tolist() == [0, 1, 2, 3, 2, 3, 0, 0]


def test_a_packed_row_gives_the_logits_of_separate_rows():
    model = small.model(WORDS)
    examples = small.examples(WORDS, 5)
    packed = pack(examples, 128, WORDS.pad)
    logits = model(packed.tokens, packed.layout())
    for example in examples:
        for number, continuation in enumerate(example.continuations, start=1):
            alone = torch.tensor([example.prefix + continuation.tokens])
            expected = model(alone)[0, len(example.prefix) :]
            rows = [
                logits[row][(packed.segments[row] == segment) & (packed.branches[row] == number)]
                for row in range(packed.tokens.shape[0])
                for segment in range(1, int(packed.segments[row].max()) + 1)
                if packed.tokens[row][(packed.segments[row] == segment) & (packed.branches[row] == number)].tolist()
                == continuation.tokens
                and packed.tokens[row][(packed.segments[row] == segment) & (packed.branches[row] == 0)].tolist()
                == example.prefix
            ]
            assert torch.allclose(rows[0], expected, atol=1e-5)


def test_the_goals_left_follow_the_tactic_in_its_branch():
    example = encode_transitions(
        WORDS, [Transition("⊢ p", "exact h", 1, "⊢ q")], ExampleLimits(sequence=64), state_after=True
    )[0]
    tactic, after, value = example.continuations
    assert after.tokens == [*WORDS.encode("⊢ q"), WORDS.eos] and after.follows_previous
    batch = pack([example], 64, WORDS.pad)
    start, stop = len(example.prefix), len(example.prefix) + len(tactic.tokens) + len(after.tokens)
    assert batch.branches[0, start:stop].tolist() == [1] * (stop - start)
    assert batch.positions[0, start:stop].tolist() == list(range(start, stop))
    # The tactic's EOS predicts the first token of the goals; all tokens of both but the marker are targets.
    assert batch.targets[0, start:stop].tolist() == [*tactic.tokens[1:], *after.tokens, NO_TARGET]
    kinds = [KIND_CODES["tactic"]] * (len(tactic.tokens) - 1) + [KIND_CODES["state_after"]] * len(after.tokens)
    assert batch.kinds[0, start : stop - 1].tolist() == kinds
    assert batch.branches[0, stop : stop + len(value.tokens)].tolist() == [2, 2]


def test_goals_left_without_room_or_unknown_are_left_out_and_the_transition_stays():
    long, unknown = Transition("⊢ p", "exact h", 1, "⊢ q " * 200), Transition("⊢ p", "exact h", 1)
    plain = encode_transitions(WORDS, [unknown], ExampleLimits(sequence=64))
    assert encode_transitions(WORDS, [long, unknown], ExampleLimits(sequence=64), state_after=True) == plain * 2


def test_values_are_weighted_by_their_depths():
    weights = [1.0, 2.5, *[0.0] * 62]
    items = [Transition("⊢ p", "exact h", depth) for depth in (1, 2)]
    batch = pack(encode_transitions(WORDS, items, ExampleLimits(sequence=64), depth_weights=weights), 128, WORDS.pad)
    assert sorted(batch.weights[batch.kinds == KIND_CODES["value"]].tolist()) == [1.0, 2.5]
    assert set(batch.weights[batch.kinds == KIND_CODES["tactic"]].tolist()) == {1.0}


def test_rows_of_padding_fill_up_to_a_multiple():
    examples = small.examples(WORDS)
    plain, filled = pack(examples, 128, WORDS.pad), pack(examples, 128, WORDS.pad, rows_multiple=64)
    assert filled.tokens.shape[0] == 64 > plain.tokens.shape[0]
    assert torch.equal(filled.tokens[: len(plain.tokens)], plain.tokens)
    assert not filled.kinds[len(plain.tokens) :].any() and not filled.segments[len(plain.tokens) :].any()


def test_best_fit_wastes_little_and_never_depends_on_chance():
    lengths = np.random.default_rng(0).integers(10, 200, 500)
    examples = [Example(list(range(length))) for length in lengths]
    batch = pack(examples, 768, 0)
    assert (batch.segments > 0).float().mean() > 0.97
    assert torch.equal(batch.tokens, pack(list(examples), 768, 0).tokens)


@pytest.mark.parametrize(
    ("size", "at_once", "compiled", "expected"),
    [(8, 8, True, [8, 2, 2, 2]), (8, 4, True, [4, 4, 4, 2]), (6, 6, True, [6, 6, 6]), (8, 8, False, [8, 5])],
)
def test_micro_batches_of_a_compiled_model_have_two_numbers_of_rows(
    size: int, at_once: int, compiled: bool, expected: list[int]
) -> None:
    model = SimpleNamespace(compiled_block=object() if compiled else None)
    options = BatchOptions(device_batch_size=size, row_length=16)
    packed = pack_for(model, [Example([5] * 10)] * 13, options, 0)  # type: ignore[arg-type]
    pieces = split_for(model, packed, options, at_once)  # type: ignore[arg-type]
    assert [len(piece.tokens) for piece in pieces] == expected
    assert torch.cat([piece.tokens for piece in pieces]).equal(packed.tokens)
    assert int((packed.segments > 0).sum()) == 130
