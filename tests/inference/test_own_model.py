"""Our own checkpoints as a language model: what the engine draws is what the network says, after a marker or a text."""

import math
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.inference.engine import Engine
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.inference.model_options import LanguageModelOptions
from nanoproof.inference.open_model import CachedModel, as_text, open_model
from nanoproof.inference.own_model import OwnModel
from nanoproof.inference.sampling import OUTSIDE, SamplingOptions, shaped_logits
from nanoproof.model.attention import RowLayout
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.search.policy import BadState, PolicyClosed, PolicyServerError

PROMPTS = ["h : p\n⊢ p\n<|tactic|>", "x : ℕ\n⊢ x = x\n", "rw [h", "exact h\n<|value|>"]


def make(words: Tokenizer, prefix_lm: bool = False) -> GPT:
    torch.manual_seed(3)
    config = GPTConfig(
        vocab_size=words.vocab_size, depth=2, aspect_ratio=16, head_dim=16, sequence_len=96, prefix_lm=prefix_lm
    )
    model = GPT.create(config, compute_dtype=torch.float64)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@pytest.fixture(scope="module", params=[False, True], ids=["causal", "prefix-lm"])
def network(request: pytest.FixtureRequest, words: Tokenizer) -> GPT:
    return make(words, request.param)


@pytest.fixture
def model(network: GPT, words: Tokenizer) -> Iterator[OwnModel]:
    own = OwnModel("tiny", network, words)
    yield own
    own.close()


def logprob(network: GPT, words: Tokenizer, prompt: list[int], start: int, written: list[int]) -> float:
    """The log-probability of tokens among text tokens and EOS, by a forward pass."""
    tokens = torch.tensor([[*prompt, start, *written]])
    positions = torch.arange(tokens.shape[1])[None]
    layout = RowLayout(positions, torch.ones_like(tokens), (positions >= len(prompt)).long(), True)
    with torch.no_grad():
        logits = network(tokens, layout if network.config.prefix_lm else None)[0, len(prompt) : -1, : words.eos + 1]
    return float(logits.log_softmax(-1)[range(len(written)), written].sum())


def encode(words: Tokenizer, prompt: str) -> tuple[list[int], int]:
    for marker, token in (("<|tactic|>", words.tactic), ("<|value|>", words.value)):
        if prompt.endswith(marker):
            return [words.bos, *words.encode(prompt.removesuffix(marker))], token
    text = words.encode(prompt)
    return [words.bos, *text[:-1]], text[-1]


def test_samples_have_the_log_probability_of_a_forward_pass(model: OwnModel, network: GPT, words: Tokenizer) -> None:
    options = GenerationOptions(num_samples=5, max_new_tokens=6, temperature=0.8, top_p=0.9)
    drawn: list[list[int]] = []
    read = model._text

    def note(sample, stop, finished):  # type: ignore[no-untyped-def]
        drawn.append(sample.tokens + [words.eos] * finished)
        return read(sample, stop, finished)

    model._text = note  # type: ignore[method-assign]
    answers = model.generate(PROMPTS, options, [1, 2, 3, 4])
    assert [len(samples) for samples in answers] == [5] * 4
    for number, sample in enumerate(sample for samples in answers for sample in samples):
        prompt, start = encode(words, PROMPTS[number // 5])
        assert sample.logprob == pytest.approx(logprob(network, words, prompt, start, drawn[number]), abs=1e-4)
        assert sample.num_tokens == len(drawn[number])
        assert sample.finished == (drawn[number][-1] == words.eos)


def test_a_score_is_that_of_a_forward_pass(model: OwnModel, network: GPT, words: Tokenizer) -> None:
    for text in PROMPTS:
        prompt, start = encode(words, text)
        wanted = logprob(network, words, prompt, start, words.encode("exact h"))
        assert model.score(text, "exact h") == pytest.approx(wanted, abs=1e-4)
    assert model.score(PROMPTS[0], "") == 0.0
    with pytest.raises(BadState, match="tokens, and the model 96 positions"):
        model.score("x", "h " * 200)


def test_greedy_text_is_the_likeliest_token_each_time(model: OwnModel, network: GPT, words: Tokenizer) -> None:
    for text in PROMPTS:
        prompt, start = encode(words, text)
        written: list[int] = []
        while len(written) < 8 and words.eos not in written:
            tokens = torch.tensor([[*prompt, start, *written]])
            positions = torch.arange(tokens.shape[1])[None]
            layout = RowLayout(positions, torch.ones_like(tokens), (positions >= len(prompt)).long(), True)
            with torch.no_grad():
                logits = network(tokens, layout if network.config.prefix_lm else None)[0, -1, : words.eos + 1]
            written.append(int(logits.argmax()))
        (samples,) = model.generate([text], GenerationOptions(2, max_new_tokens=8, temperature=0), [9])
        assert [sample.text for sample in samples] == [words.decode(written)] * 2


def test_the_tactic_marker_gives_what_the_policy_of_tactics_gives(network: GPT, words: Tokenizer) -> None:
    state = "h : p\n⊢ p"
    own = OwnModel("tiny", network, words)
    sampling = SamplingConfig(num_sampled_tactics=6, max_gen_tokens=5, first_token_occurrences_cap=None)
    with TacticPolicy(Engine(network, words), sampling) as policy:
        suggestion = policy.suggest(state, 7)
    options = GenerationOptions(num_samples=6, max_new_tokens=5)
    samples = own.generate([f"{state}\n<|tactic|>"], options, [7])[0]
    kept = Counter(sample.text.strip() for sample in samples if sample.finished)
    assert {tactic: kept[tactic] for tactic in suggestion.tactics} == dict(zip(suggestion.tactics, suggestion.counts))
    own.close()


def test_a_continuation_that_has_begun_goes_on(model: OwnModel, network: GPT, words: Tokenizer) -> None:
    prompt = f"{PROMPTS[0]}exact h"
    if network.config.prefix_lm:
        with pytest.raises(BadState, match="goes on with nothing that has begun"):
            model.generate([prompt], GenerationOptions(max_new_tokens=4), [0])
        return
    before = [words.bos, *words.encode("h : p\n⊢ p\n"), words.tactic, *words.encode("exact h")]
    wanted = logprob(network, words, before[:-1], before[-1], words.encode("simp"))
    assert model.score(prompt, "simp") == pytest.approx(wanted, abs=1e-4)
    pieces = model.token_logprobs(f"{prompt}simp")
    assert "".join(text for text, _ in pieces) == f"{prompt}simp" and pieces[1] == ("<|tactic|>", None)
    values = [value for _, value in pieces if value is not None]
    whole = logprob(
        network, words, before[: -len(words.encode("exact h")) - 1], words.tactic, words.encode("exact hsimp")
    )
    assert sum(values) == pytest.approx(whole, abs=1e-4)
    greedy = GenerationOptions(max_new_tokens=6, temperature=0)
    cut = [model.generate([f"{'x ' * size}⊢ p<|tactic|>exact h"], greedy, [0])[0][0].text for size in (300, 500)]
    assert cut[0] == cut[1]
    with pytest.raises(BadState, match="longer than the model's 90 positions"):
        model.generate([f"x<|tactic|>{'h ' * 200}"], greedy, [0])


def test_markers_are_text_where_they_are_not_special(model: OwnModel, network: GPT, words: Tokenizer) -> None:
    plain, marker = as_text(model), "⊢ p\n<|tactic|>"
    tokens = words.encode(marker)
    wanted = logprob(network, words, [words.bos, *tokens[:-1]], tokens[-1], words.encode("simp"))
    assert plain.score(marker, "simp") == pytest.approx(wanted, abs=1e-4)
    assert abs(model.score(marker, "simp") - wanted) > 1e-3 and as_text(plain) is plain


def test_values_are_those_of_the_policy_of_tactics(model: OwnModel, network: GPT, words: Tokenizer) -> None:
    states = ["h : p\n⊢ p", "x : ℕ\n⊢ x = x"]
    with TacticPolicy(Engine(network, words), SamplingConfig(max_gen_tokens=5)) as policy:
        wanted = [policy.suggest(state).value for state in states]
        shared = OwnModel("shared", network, words, worker=policy.worker)
        assert shared.values([f"{state}\n" for state in states]) == pytest.approx(wanted, rel=1e-6)
        shared.close()
        assert policy.suggest(states[0]).value == pytest.approx(wanted[0], rel=1e-6)  # its worker is still there
    assert model.values([f"{state}\n" for state in states]) == pytest.approx(wanted, rel=1e-6)
    assert len(model.values(["x " * 400])) == 1


def test_samples_end_before_a_stop_text(model: OwnModel) -> None:
    whole = model.generate(PROMPTS, GenerationOptions(max_new_tokens=12, temperature=0), [0] * 4)
    stop = next(each[0].text[2:4] for each in whole if len(each[0].text) > 5)
    cut = model.generate(PROMPTS, GenerationOptions(max_new_tokens=12, temperature=0, stop=(stop, "⊢⊢⊢")), [0] * 4)
    assert [each[0].text for each in cut] == [each[0].text.split(stop)[0] for each in whole]
    stopped = [pair for pair in zip(cut, whole, strict=True) if stop in pair[1][0].text]
    assert stopped
    for (short,), (long,) in stopped:
        assert short.finished and short.num_tokens <= long.num_tokens and short.logprob >= long.logprob


@pytest.mark.nightly
def test_first_tokens_come_from_the_nucleus_in_the_models_shares(network: GPT, words: Tokenizer) -> None:
    prompt, start = encode(words, PROMPTS[0])
    options = SamplingOptions(num_samples=600, max_new_tokens=1, top_p=0.5)
    engine = Engine(network, words)
    answer = engine.generate([prompt], options, [0])[0]
    counts = Counter([*(s.tokens[0] for s in answer.unfinished), *(words.eos for _ in answer.samples)])
    wanted = torch.tensor([logprob(network, words, prompt, start, [v]) for v in range(words.eos + 1)]).exp()
    order = wanted.argsort(descending=True)
    nucleus = order[: int((wanted[order].cumsum(0) < 0.5).sum()) + 1]
    assert set(counts) <= set(nucleus.tolist())
    for token in nucleus.tolist():
        share = float(wanted[token] / wanted[nucleus].sum())
        assert counts[token] / 600 == pytest.approx(share, abs=5 * math.sqrt(share / 600) + 1e-3)


def test_a_cap_on_first_tokens_reaches_beyond_the_nucleus_where_it_must(network: GPT, words: Tokenizer) -> None:
    options = SamplingOptions(num_samples=4, max_new_tokens=1, first_token_cap=1, top_p=1e-6)
    answer = Engine(network, words).generate([encode(words, PROMPTS[0])[0]], options, [0])[0]
    firsts = [tuple(sample.tokens) for sample in (*answer.samples, *answer.unfinished)]
    assert len(set(firsts)) == 4


def test_the_nucleus_is_the_fewest_likeliest_tokens_that_reach_top_p() -> None:
    probabilities = torch.tensor([[0.5, 0.3, 0.15, 0.05], [0.25, 0.25, 0.25, 0.25]])
    for top_p, kept in ((0.4, 1), (0.5, 1), (0.6, 2), (0.95, 3), (0.96, 4)):
        shaped = shaped_logits(probabilities[:1].log(), (1.0, top_p), True)
        assert int((shaped > OUTSIDE / 2).sum()) == kept, top_p
    rows = shaped_logits(probabilities.log(), torch.tensor([[[1.0], [1.0]], [[0.7], [0.7]]]), True)
    assert (rows > OUTSIDE / 2).sum(1).tolist() == [2, 3]
    assert torch.equal(shaped_logits(probabilities, (2.0, 1.0), False), probabilities / 2)


def test_requests_with_different_shaping_share_batches(network: GPT, words: Tokenizer) -> None:
    engine = Engine(network, words)
    prompts = [encode(words, text)[0] for text in PROMPTS]
    plain = SamplingOptions(num_samples=3, max_new_tokens=6)
    kinds = [plain, replace(plain, top_p=0.5), replace(plain, temperature=0.5), replace(plain, top_p=0.8, stop=(" ",))]
    alone = [engine.generate([prompt], kind, [5])[0] for prompt, kind in zip(prompts, kinds)]
    requests = [engine.submit(prompt, kind, 5) for prompt, kind in zip(prompts, kinds)]
    while not all(request.ended for request in requests):
        engine.step()
    for request, wanted in zip(requests, alone):
        assert request.completion is not None
        assert [s.tokens for s in request.completion.samples] == [s.tokens for s in wanted.samples]


def test_threads_share_the_engine_and_get_their_own_answers(model: OwnModel) -> None:
    options = GenerationOptions(num_samples=2, max_new_tokens=4)
    wanted = [model.generate([f"{n} = x"], options, [n])[0] for n in range(16)]
    found: dict[int, list[str]] = {}

    def ask(number: int) -> None:
        found[number] = [sample.text for sample in model.generate([f"{number} = x"], options, [number])[0]]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[n] for n in range(16)] == [[s.text for s in samples] for samples in wanted]


def test_what_cannot_be_continued_is_refused_and_long_prompts_keep_their_end(model: OwnModel) -> None:
    with pytest.raises(BadState, match="writes at most 94 tokens, asked for 95"):
        model.generate(["x"], GenerationOptions(max_new_tokens=95), [0])
    with pytest.raises(BadState, match="the prompt is empty"):
        model.generate([""], GenerationOptions(max_new_tokens=4), [0])
    with pytest.raises(BadState, match="lone surrogate"):
        model.generate(["\ud800"], GenerationOptions(max_new_tokens=4), [0])
    greedy = GenerationOptions(max_new_tokens=6, temperature=0)
    for end in ("", "<|tactic|>"):
        texts = [model.generate(["x " * size + "⊢ p" + end], greedy, [0])[0][0].text for size in (300, 500)]
        assert texts[0] == texts[1]


def test_a_failure_of_the_engine_is_the_models(network: GPT, words: Tokenizer) -> None:
    own = OwnModel("tiny", network, words)
    own.engine.step = lambda: 1 / 0  # type: ignore[assignment, return-value]
    with pytest.raises(PolicyServerError, match="tiny: the model failed: ZeroDivisionError"):
        own.generate(["x"], GenerationOptions(max_new_tokens=4), [0])
    own.close()
    with pytest.raises(PolicyClosed):
        own.generate(["x"], GenerationOptions(max_new_tokens=4), [0])


def test_embeddings_have_length_one_and_tell_texts_apart(model: OwnModel) -> None:
    vectors = model.embed(["x = x", "rw [h]", "x = x", "x " * 400])
    assert vectors.shape == (4, 32) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(vectors[0], vectors[2]) and not np.allclose(vectors[0], vectors[1])
    assert model.embed([]).shape == (0, 32)


# -- opening, and the cache ----------------------------------------------------------------------------------------


@pytest.fixture
def checkpoint(words: Tokenizer, tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "run", 1, make(words), words)
    return tmp_path / "run"


def test_a_spec_opens_a_checkpoint(checkpoint: Path) -> None:
    with open_model(str(checkpoint)) as model:
        assert model.name == str(checkpoint) and len(model.identity) == 64
        assert len(model.generate(["x"], GenerationOptions(max_new_tokens=3), [0])) == 1
    with pytest.raises(UserError, match="are no chat models"), open_model(str(checkpoint), chat=True):
        pass
    for spec in ("hf:", "openai:"):
        with pytest.raises(UserError, match="expected hf:PATH_OR_ID or openai:"), open_model(spec):
            pass


def test_what_is_kept_is_not_asked_for_again(checkpoint: Path, tmp_path: Path) -> None:
    options, kept = GenerationOptions(num_samples=2, max_new_tokens=4), LanguageModelOptions(cache=str(tmp_path / "c"))
    with open_model(str(checkpoint), kept) as model:
        assert isinstance(model, CachedModel)
        first = model.generate(PROMPTS, options, [1, 2, 3, 4])
        assert (model.hits, model.misses) == (0, 4)
        again = model.generate([*PROMPTS[::-1], PROMPTS[0]], options, [4, 3, 2, 1, 99])
        assert again[:4] == first[::-1] and (model.hits, model.misses) == (4, 5)
        assert model.score(PROMPTS[0], "simp") < 0 and model.embed(["x"]).shape == (1, 32)
    with open_model(str(checkpoint), kept) as model:
        assert isinstance(model, CachedModel)
        assert model.generate(PROMPTS, options, [1, 2, 3, 4]) == first and model.misses == 0
        model.generate(PROMPTS, replace(options, temperature=0.5), [1, 2, 3, 4])
        assert model.misses == 4
    assert not list((tmp_path / "c").rglob("*.tmp"))


def test_a_cache_keeps_apart_what_is_read_with_and_without_markers(checkpoint: Path, tmp_path: Path) -> None:
    options, kept = GenerationOptions(max_new_tokens=4), LanguageModelOptions(cache=str(tmp_path / "c"))
    with open_model(str(checkpoint), kept) as model, open_model(str(checkpoint), special=False) as unkept:
        assert isinstance(model, CachedModel)
        model.generate(PROMPTS[:1], options, [5])
        plain = as_text(model)
        assert plain.generate(PROMPTS[:1], options, [5]) == unkept.generate(PROMPTS[:1], options, [5])
        assert model.misses == 1 and model.generate(PROMPTS[:1], options, [5]) and model.hits == 1


def test_prompts_of_one_call_begin_in_one_step(network: GPT, words: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batch mates change the last bits of a log-probability, so that they must not depend on when a thread looks."""
    own, begun = OwnModel("tiny", network, words), []
    step = own.engine.step

    def counted() -> object:
        begun.append(own._worker.num_open)
        return step()

    monkeypatch.setattr(own.engine, "step", counted)
    own.generate(PROMPTS, GenerationOptions(max_new_tokens=1), [0] * len(PROMPTS))
    own.close()
    assert begun[0] == len(PROMPTS)


def test_a_damaged_file_of_the_cache_is_written_anew(checkpoint: Path, tmp_path: Path) -> None:
    options, kept = GenerationOptions(max_new_tokens=4), LanguageModelOptions(cache=str(tmp_path / "c"))
    with open_model(str(checkpoint), kept, dtype=torch.float64) as model:
        first = model.generate(PROMPTS, options, [0] * 4)
        for damage, file in zip((b"", b"[{", b'[{"text": 1}]', b"[]"), sorted((tmp_path / "c").rglob("*.json"))):
            file.write_bytes(damage)
        assert model.generate(PROMPTS, options, [0] * 4) == first
        assert model.generate(PROMPTS, options, [0] * 4) == first
        assert isinstance(model, CachedModel) and (model.hits, model.misses) == (4, 8)


def test_a_run_that_is_killed_keeps_what_came_before(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nanoproof.inference.open_model.CHUNK", 2)
    options, kept = GenerationOptions(max_new_tokens=4), LanguageModelOptions(cache=str(tmp_path / "c"))
    with open_model(str(checkpoint), kept) as model:
        whole, asked = OwnModel.generate, []

        def generate(self, prompts, options, seeds):  # type: ignore[no-untyped-def]
            asked.append(len(prompts))
            if len(asked) == 2:
                raise KeyboardInterrupt
            return whole(self, prompts, options, seeds)

        monkeypatch.setattr(OwnModel, "generate", generate)
        with pytest.raises(KeyboardInterrupt):
            model.generate(PROMPTS, options, [0] * 4)
        model.generate(PROMPTS, options, [0] * 4)
        assert asked == [2, 2, 2] and isinstance(model, CachedModel) and model.hits == 2


def test_a_folder_that_cannot_hold_a_cache_is_said(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = LanguageModelOptions(cache=str(tmp_path / "file" / "c"))
    with pytest.raises(UserError, match=r"--model-cache .*: Not a directory"), open_model(str(checkpoint), kept):
        pass
