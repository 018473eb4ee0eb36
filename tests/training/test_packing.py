import pytest
import torch

from nanoproof.data.packing import Continuation, Example, ExampleLimits, encode_transition, pack
from nanoproof.data.transitions import Transition
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
