"""Losses of models of transformers against the same sums written out in plain torch, and the value head's file."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.inference.model_options import LanguageModelOptions
from nanoproof.inference.open_model import open_model
from nanoproof.inference.value_head import (
    STEP_SIZE,
    VALUE_FILE,
    OutputTap,
    ValueHead,
    channels_of,
    expected_tactics,
)
from nanoproof.training.hub_examples import TokenizedExample
from nanoproof.training.hub_loss import by_length, example_loss, normalizers
from nanoproof.training.loss import LossWeights
from tests.fakes.hf_models import save_decoder
from tests.helpers import Later

transformers: Any = Later("transformers")
peft: Any = Later("peft")

torch.set_num_threads(1)
WEIGHTS = LossWeights(value=0.3, unlikelihood=0.7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_decoder(tmp_path_factory.mktemp("decoder"))


def network_of(folder: Path, adapters: bool) -> Any:
    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    if adapters:
        config = peft.LoraConfig(r=3, target_modules=["q_proj", "down_proj"], task_type="CAUSAL_LM")
        network = peft.get_peft_model(network, config)
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if "lora_B" in name:
                    parameter.normal_(std=0.2)
    return network


def random_head(channels: int) -> ValueHead:
    head = ValueHead(channels)
    with torch.no_grad():
        head.weight.normal_()
        head.bias.normal_()
    return head


def random_examples(rng: np.random.Generator) -> list[TokenizedExample]:
    """Tactics with weights and depths, failed ones, and states alone."""
    examples = []
    for _ in range(int(rng.integers(1, 7))):
        kind = rng.choice(["tactic", "negative", "value"])
        prompt, answer = (rng.integers(1, 200, size=rng.integers(1, 12)).astype(np.int32) for _ in range(2))
        if kind == "value":
            answer = answer[:0]
        depth = 0 if kind == "negative" else int(rng.integers(1, 65))
        factors = [float(rng.uniform(0.2, 2)) for _ in range(2)]
        examples.append(TokenizedExample(prompt, answer, factors[0], kind == "negative", depth, factors[1]))
    return examples


def by_hand(network: Any, head: ValueHead, examples: list[TokenizedExample]) -> torch.Tensor:
    """The loss, one example and one token at a time."""
    tactic, tokens, value, values, negative, failed = torch.zeros(()), 0.0, torch.zeros(()), 0, torch.zeros(()), 0
    for example in examples:
        text = torch.tensor([[*example.prompt, *example.answer]])
        output = network(input_ids=text, output_hidden_states=True)
        logprobs = output.logits[0].log_softmax(-1)
        first = len(example.prompt) - 1
        of_answer = [logprobs[first + place, token] for place, token in enumerate(example.answer.tolist())]
        if example.negative:
            negative = negative - sum(torch.log(1 - of.exp().clamp(max=1 - 1e-4)) for of in of_answer) / len(of_answer)
            failed += 1
        elif of_answer:
            tactic = tactic - example.weight * sum(of_answer)
            tokens += example.weight * len(of_answer)
        if example.depth:
            hidden = output.hidden_states[-1][0, first]
            unit = hidden / (hidden.pow(2).mean() + 1e-6).sqrt()
            bins = (STEP_SIZE / len(hidden) * head.weight @ unit + head.bias).log_softmax(-1)
            value = value - example.value_weight * bins[example.depth - 1]
            values += 1
    return tactic / (tokens or 1) + 0.3 * value / (values or 1) + 0.7 * negative / (failed or 1)


@pytest.mark.parametrize("adapters", [False, True])
def test_loss_and_gradients_are_those_of_plain_torch(folder: Path, adapters: bool) -> None:
    network = network_of(folder, adapters).double()
    head = random_head(channels_of(network)).double()
    parameters = [each for each in [*network.parameters(), *head.parameters()] if each.requires_grad]
    rng = np.random.default_rng(7)
    for _ in range(30):
        examples = random_examples(rng)
        norms = normalizers(examples)
        ours = torch.zeros(())
        for batch in by_length(examples, int(rng.integers(1, 4))):
            ours = ours + example_loss(network, head, batch, WEIGHTS, norms, 0, 0)[0]
        theirs = by_hand(network, head, examples)
        assert ours.item() == pytest.approx(theirs.item(), abs=1e-5)
        gradients = [torch.autograd.grad(loss, parameters, materialize_grads=True) for loss in (ours, theirs)]
        for gradient, wanted in zip(*gradients, strict=True):
            assert torch.allclose(gradient, wanted, rtol=1e-5, atol=1e-5)


def test_values_are_read_with_the_samples_and_are_those_of_a_forward_pass(folder: Path, tmp_path: Path) -> None:
    network = network_of(folder, False)
    network.save_pretrained(tmp_path / "model")
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "model")
    assert not HFModel(str(tmp_path / "model")).has_values
    head = random_head(32)
    head.save(tmp_path / "model")
    ours = HFModel(str(tmp_path / "model"))
    prompts = ["⊢ p:::", "h : p\n⊢ p ∧ p:::"]
    passes: list[int] = []
    ours._model.model.register_forward_hook(lambda module, inputs, output: passes.append(1))
    written = ours.generate_valued(prompts, GenerationOptions(num_samples=3, max_new_tokens=4), [0, 1])
    assert len(passes) <= 4  # the prompts once, and each further token
    for prompt, answer in zip(prompts, written, strict=True):
        tokens = ours._tokenizer(prompt, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            hidden = network(input_ids=tokens, output_hidden_states=True).hidden_states[-1][:, -1]
            assert answer.value == pytest.approx(head.distributions(hidden)[0], abs=1e-5)
        assert sum(answer.value) == pytest.approx(1, abs=1e-5) and 1 <= expected_tactics(answer.value) <= 64
    assert ours.values(prompts) == [pytest.approx(answer.value, abs=1e-5) for answer in written]
    ours.close()
    options = LanguageModelOptions(cache=str(tmp_path / "cache"))
    for _ in range(2):  # the second time from the cache
        with open_model(f"hf:{tmp_path / 'model'}", options) as cached:
            again = cached.generate_valued(prompts, GenerationOptions(num_samples=3, max_new_tokens=4), [0, 1])
            assert [each.value for each in again] == [pytest.approx(each.value, abs=1e-6) for each in written]


def test_a_head_of_another_network_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    ValueHead(16).save(tmp_path)
    assert ValueHead.load(tmp_path / "elsewhere", 32) is None
    with pytest.raises(UserError, match=r"value head of another network: .*\(64, 16\).* expected .*\(64, 32\)"):
        ValueHead.load(tmp_path, 32)
    (tmp_path / VALUE_FILE).write_bytes(b"torn")
    with pytest.raises(UserError, match=r"value_head\.st is damaged"):
        ValueHead.load(tmp_path, 16)


def test_threads_that_ask_one_network_see_their_own_places_alone(folder: Path) -> None:
    network = network_of(folder, adapters=False)
    tokens = torch.tensor([[5, 6, 7, 8]])
    with torch.no_grad(), ThreadPoolExecutor(1) as other:
        expected = network(input_ids=tokens).logits
        with OutputTap().watching(network, torch.tensor([[False, True, False, False]])) as tap:
            seen = other.submit(lambda: network(input_ids=tokens + 1).logits).result()
            assert seen.shape == expected.shape and tap.hidden is None
            torch.testing.assert_close(network(input_ids=tokens).logits[0], expected[0, 1])
