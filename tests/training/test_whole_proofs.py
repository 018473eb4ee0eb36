"""Finetuning on whole proofs: what is learned from, its marker, models with and without a place for it, sampling."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from nanoproof import sft
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.data.transitions.leantree import split_proofs, whole_proofs
from nanoproof.data.transitions.packing import ExampleLimits, encode_transitions
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.inference.own_model import OwnModel
from nanoproof.lean.types import Theorem, Transition
from nanoproof.model.checkpoint import load_model
from nanoproof.model.gpt import GPT, GPTConfig, with_reserved_markers
from nanoproof.model.tokenizer import RESERVED, Tokenizer
from nanoproof.policy.models import open_language_model
from nanoproof.policy.prompt import PROOF_MARKER, proof_prompt
from tests.training import small
from tests.training.small import ALONE

ONE = GenerationOptions(max_new_tokens=24, temperature=0)


# -- proofs of records ---------------------------------------------------------------------------------------------


def node(number: int, tactic: str, children: list[int] | None, depth: int = 1, goal: str = "q") -> dict[str, Any]:
    goals = [{"type": goal, "hypotheses": [{"user_name": name, "type": "Prop"} for name in "pq"]}]
    edge = {"tactic_string": tactic, "children": children}
    return {"id": number, "state": {"goals": goals}, "tactic": edge, "proof_depth": depth}


def record(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {"path": "A.lean", "theorems": [{"name": "t", "by_blocks": [{"tree": {"root_id": 0, "nodes": nodes}}]}]}


def test_a_proof_is_written_as_it_is_played() -> None:
    steps = [node(0, "constructor", [1, 2], 3), node(1, "intro h", [3], 2), node(3, "exact h", []), node(2, "rfl", [])]
    (proof,) = whole_proofs(record(*steps))
    assert proof == Transition("theorem (p q : Prop) : q := by", "constructor\n· intro h\n  exact h\n· rfl", 3)


@pytest.mark.parametrize(
    "steps",
    [
        [node(0, "sorry", [])],
        [node(0, "constructor", [1], 2), node(1, "admit", [])],
        [node(0, "constructor", None)],
        [node(0, "constructor", [7])],
        [node(0, "rfl", [], goal="x✝ = 1")],
    ],
)
def test_proofs_that_are_not_to_be_learned_are_left_out(steps: list[dict[str, Any]]) -> None:
    assert list(whole_proofs(record(*steps))) == []


def test_what_is_no_record_has_no_proofs() -> None:
    assert list(whole_proofs([])) == list(whole_proofs({"theorems": [{"by_blocks": []}, 3]})) == []


# -- the marker ----------------------------------------------------------------------------------------------------


def test_a_whole_proof_has_a_marker_behind_the_vocabulary() -> None:
    words = small.tokenizer()
    item = Transition("theorem (p : Prop) : p := by", "exact h0", 2)
    limits = ExampleLimits(sequence=128)
    (as_proof,) = encode_transitions(words, [item], limits, whole_proofs=True)
    (as_tactic,) = encode_transitions(words, [item], limits)
    assert as_proof is not None and as_tactic is not None
    first, other = as_proof.continuations[0].tokens, as_tactic.continuations[0].tokens
    assert first[1:] == other[1:] and (first[0], other[0]) == (words.proof, words.tactic)
    assert words.proof == words.vocab_size + 1 and words.conjecture == words.vocab_size
    assert [words.describe(token) for token in (words.conjecture, words.proof)] == list(RESERVED)
    assert words.encode(PROOF_MARKER) and max(words.encode(PROOF_MARKER)) < words.num_text_tokens


def test_reserved_markers_change_no_vocabulary() -> None:
    words = small.tokenizer()
    assert words.vocab_size == words.num_text_tokens + 68 and len(words.token_bytes()) == words.vocab_size


@pytest.mark.parametrize(("size", "rows"), [(640, 704), (639, 704), (638, 640), (600, 640)])
def test_models_get_places_for_the_markers_and_answer_as_before(size: int, rows: int) -> None:
    torch.manual_seed(0)
    model = GPT.create(GPTConfig(vocab_size=size, depth=2, aspect_ratio=16, head_dim=16, sequence_len=32)).eval()
    torch.nn.init.normal_(model.head.weight)
    tokens = torch.arange(20).unsqueeze(0)
    with torch.no_grad():
        before = model(tokens)
        grown = with_reserved_markers(model).eval()
        after = grown(tokens)
    assert torch.equal(before, after) and after.shape[-1] == size
    assert grown.embedding.weight.shape[0] == rows and grown.config.whole_proofs
    assert with_reserved_markers(grown) is grown
    with torch.no_grad():
        assert torch.isfinite(grown(torch.tensor([[1, size + 1, 2]]))).all()


def test_checkpoints_from_before_load(tmp_path: Path) -> None:
    small.save_model(tmp_path)
    manifest = json.loads((tmp_path / "model_0.json").read_text())
    del manifest["config"]["whole_proofs"]
    (tmp_path / "model_0.json").write_text(json.dumps(manifest))
    model, _, _ = load_model(tmp_path)
    assert model.config.whole_proofs is False


# -- training ------------------------------------------------------------------------------------------------------

THEOREMS = [(x, y) for x in "pqrs" for y in "ab"]


def write_proofs(path: Path) -> None:
    """A file whose theorems have proofs of two steps that depend on their names."""
    lines = []
    for x, y in THEOREMS * 2:
        steps = [node(0, f"apply {x}{y}", [1], 2), node(1, f"exact {y}", [])]
        for step in steps:
            step["state"]["goals"][0] = {"type": x, "hypotheses": [{"user_name": y, "type": "Prop"}]}
        lines.append(json.dumps(record(*steps)))
    path.write_text("\n".join(lines) + "\n")


def words_of(folder: Path, run: str, *more: object) -> list[str]:
    small.tokenizer().save(folder / "tokenizer.json")
    write_proofs(folder / "data.jsonl")
    line = ["--data", folder / "data.jsonl", "--tokenizer", folder / "tokenizer.json", "--run-dir", folder / run]
    line += ["--device-type", "cpu", "--depth", 2, "--aspect-ratio", 32, "--head-dim", 32, "--sequence-len", 128]
    line += ["--row-length", 128, "--target-examples-per-step", 8, "--log-level", "warning", *more]
    return [str(word) for word in line]


@pytest.mark.nightly
def test_a_network_learns_whole_proofs_and_writes_them(tmp_path: Path) -> None:
    proofs = ["--continuations", "proof"]
    assert sft.main(words_of(tmp_path, "tactics", "--epochs", 0)) == 0
    line = ["--data", tmp_path / "data.jsonl", "--model-path", tmp_path / "tactics", "--run-dir", tmp_path / "proofs"]
    line += ["--eval-every", "never", "--no-save-epochs", "--target-examples-per-step", 8, "--row-length", 128]
    line += ["--device-type", "cpu", "--log-level", "warning", "--epochs", 50, *proofs]
    assert sft.main([str(word) for word in line]) == 0
    assert read_json(tmp_path / "proofs" / "args.json")["continuations"] == "proof"
    train, _ = split_proofs(tmp_path / "data.jsonl")
    with open_language_model(str(tmp_path / "proofs"), ALONE) as model:
        prompts = [proof_prompt(Theorem(f"theorem t ({y} : Prop) : {x} := by sorry")) for x, y in THEOREMS]
        found = model.generate(prompts, ONE, range(len(prompts)))
    assert [samples[0].text for samples in found] == [f"apply {x}{y}\nexact {y}" for x, y in THEOREMS]
    assert all(samples[0].finished for samples in found)
    assert {proof.state for proof in train} == {prompt.removesuffix(f"\n{PROOF_MARKER}") for prompt in prompts}


def test_a_run_on_whole_proofs_is_resumed(tmp_path: Path) -> None:
    line = words_of(tmp_path, "run", "--continuations", "proof", "--epochs", 1)
    assert sft.main(line) == 0
    assert sft.main(["--resume-from", str(tmp_path / "run"), "--epochs", "2"]) == 0
    model, _, manifest = load_model(tmp_path / "run")
    assert model.config.whole_proofs and manifest["extra"]["loop"]["data"]["epoch"] == 2


def test_a_run_on_tactics_is_not_resumed_on_proofs(tmp_path: Path) -> None:
    assert sft.main(words_of(tmp_path, "run", "--epochs", 1)) == 0
    with pytest.raises(UserError, match="that run was not on whole proofs"):
        sft.main(["--resume-from", str(tmp_path / "run"), "--epochs", "2", "--continuations", "proof"])


def test_data_without_whole_proofs_is_refused(tmp_path: Path) -> None:
    line = words_of(tmp_path, "run", "--continuations", "proof")
    (tmp_path / "data.jsonl").write_text(json.dumps(record(node(0, "sorry", []))) + "\n")
    with pytest.raises(UserError, match="holds no whole proofs to train on"):
        sft.main(line)


# -- sampling ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def text_model() -> tuple[OwnModel, GPT, Tokenizer]:
    words = small.tokenizer()
    model = with_reserved_markers(small.model(words))
    torch.nn.init.normal_(model.head.weight, std=0.2)
    return OwnModel("small", model, words), model, words


def test_samples_have_the_log_probability_of_a_direct_forward(
    text_model: tuple[OwnModel, GPT, Tokenizer],
) -> None:
    sampler, model, words = text_model
    options = GenerationOptions(num_samples=4, max_new_tokens=12)
    prompts = [f"theorem ({name} : Prop) : {name} := by\n{PROOF_MARKER}" for name in "pqr"]
    for prompt, samples in zip(prompts, sampler.generate(prompts, options, [1, 2, 3]), strict=True):
        start = [words.bos, *words.encode(prompt.removesuffix(PROOF_MARKER)), words.proof]
        for sample in samples:
            tokens = words.encode(sample.text)
            if words.decode(tokens) != sample.text or len(tokens) + sample.finished != sample.num_tokens:
                continue  # other tokens spell the same text
            row = torch.tensor([[*start, *tokens, words.eos]])
            with torch.no_grad():
                logits = model(row)[0, :, : words.eos + 1].double().log_softmax(-1)
            wanted = tokens + [words.eos] * sample.finished
            direct = sum(float(logits[len(start) - 1 + at, token]) for at, token in enumerate(wanted))
            assert sample.logprob == pytest.approx(direct, abs=1e-4)


def test_samples_depend_on_their_seed_and_number_alone(text_model: tuple[OwnModel, GPT, Tokenizer]) -> None:
    sampler, _, _ = text_model
    options = GenerationOptions(num_samples=3, max_new_tokens=10)
    together = sampler.generate(["a", "b", "a"], options, [1, 2, 3])
    alone = sampler.generate(["a"], options, [1])
    texts = [[sample.text for sample in samples] for samples in (*together, *alone)]
    assert texts[0] == texts[3] != texts[2] and len(set(texts[0])) > 1


def test_a_small_top_p_is_greedy_and_stop_texts_end_a_sample(text_model: tuple[OwnModel, GPT, Tokenizer]) -> None:
    sampler, _, _ = text_model
    greedy = sampler.generate(["a b"], ONE, [0])[0][0]
    narrow = GenerationOptions(max_new_tokens=24, top_p=1e-9)
    assert sampler.generate(["a b"], narrow, [5])[0][0].text == greedy.text
    middle = greedy.text[3:5]
    stopped = GenerationOptions(max_new_tokens=24, temperature=0, stop=(middle,))
    assert sampler.generate(["a b"], stopped, [0])[0][0].text == greedy.text[: greedy.text.index(middle)]
