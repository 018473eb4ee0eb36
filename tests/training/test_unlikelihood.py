import math

import pytest
import torch

from nanoproof.data.transitions.packing import ExampleLimits, encode_transition, pack
from nanoproof.lean.types import Transition
from nanoproof.training.loss import LossWeights, Normalizers, token_unlikelihood, transition_loss
from tests.training import small

WORDS = small.tokenizer()
FAILED = [Transition("p : Prop\n⊢ p", tactic, 1) for tactic in ("exact h", "apply pq exact h1 exact h2", "x")]


def test_each_failed_tactic_counts_alike_whatever_its_length():
    model = small.model(WORDS)
    made = [encode_transition(WORDS, item, ExampleLimits(sequence=128), negative=True) for item in FAILED]
    means = []
    for example in made:
        tactic = example.continuations[0].tokens
        tokens = torch.tensor([example.prefix + tactic])
        probabilities = model(tokens).detach().float().softmax(-1)[0]
        start = len(example.prefix)
        chosen = [float(probabilities[start + place, tactic[place + 1]]) for place in range(len(tactic) - 1)]
        means.append(sum(-math.log(1 - p) for p in chosen) / len(chosen))
    batch = pack(made, 128, WORDS.pad)
    loss, parts = transition_loss(model, batch, LossWeights(0.1, 0.5), Normalizers.of(batch))
    assert float(parts["unlikelihood_loss"]) == pytest.approx(sum(means) / 3, rel=1e-4)
    assert float(loss) == pytest.approx(0.5 * sum(means) / 3, rel=1e-4)


def test_the_loss_of_a_certain_failed_token_is_finite_and_so_is_its_gradient():
    nll = torch.zeros(1, requires_grad=True)
    loss = token_unlikelihood(nll).sum()
    loss.backward()
    assert float(loss) == pytest.approx(-math.log(1e-4), rel=1e-3)
    assert torch.isfinite(nll.grad).all()
