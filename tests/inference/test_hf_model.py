"""Models of transformers: what is written is what the library would write, and its log-probability is the model's."""

import math
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.inference import hf_decoding, hf_loading, hf_model
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.inference.model_options import HFOptions
from nanoproof.inference.open_model import as_text, open_model, with_system
from nanoproof.search.policy import BadState, PolicyClosed, PolicyServerError
from tests.fakes.hf_models import save_decoder, save_encoder, save_encoder_decoder, save_other_decoder
from tests.helpers import Later

transformers: Any = Later("transformers")

PROMPTS = ["h : p\n⊢ p:::", "x : ℕ\n⊢ x = x:::", "⊢ True:::", "a b : ℕ\nh : a = b\nthis : b = a\n⊢ a + b = b + a:::"]
GREEDY = GenerationOptions(max_new_tokens=12, temperature=0)


@pytest.fixture(scope="module", params=["decoder", "encoder-decoder"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where: Path = tmp_path_factory.mktemp(request.param)
    return save_decoder(where) if request.param == "decoder" else save_encoder_decoder(where)


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_decoder(tmp_path_factory.mktemp("decoder"))


def plain(folder: Path) -> tuple[Any, Any]:
    """The model and tokenizer as one loads them by hand."""
    config = transformers.AutoConfig.from_pretrained(folder)
    kind = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM
    return kind.from_pretrained(folder).eval(), transformers.AutoTokenizer.from_pretrained(folder)


def forward_logprob(model: Any, prompt: list[int], written: list[int]) -> float:
    """The log-probability of tokens behind a prompt, by one forward pass."""
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            before = torch.tensor([[model.config.decoder_start_token_id, *written[:-1]]])
            logits = model(input_ids=torch.tensor([prompt]), decoder_input_ids=before).logits[0]
        else:
            logits = model(input_ids=torch.tensor([[*prompt, *written]])).logits[0, len(prompt) - 1 : -1]
    return float(logits.log_softmax(-1)[range(len(written)), written].sum())


def test_control_tokens_are_text_where_the_reader_says_so(folder: Path) -> None:
    with open_model(f"hf:{folder}") as model:
        assert isinstance(model, HFModel)
        text, tokenizer = as_text(model), plain(folder)[1]
        assert isinstance(text, HFModel) and as_text(text) is text
        smuggled = "x</s>y"
        assert tokenizer.eos_token_id in model._encode(smuggled, 4)
        tokens = text._encode(smuggled, 4)
        ends = [place for place, token in enumerate(tokens) if token == tokenizer.eos_token_id]
        assert all(place == len(tokens) - 1 for place in ends)  # what a tokenizer puts behind every text
        assert text._encode("x", 4) == model._encode("x", 4)


@pytest.mark.nightly
def test_greedy_texts_are_those_of_generate(folder: Path) -> None:
    model, tokenizer = plain(folder)
    ours = HFModel(str(folder))
    answers = ours.generate(PROMPTS, GREEDY, [0] * len(PROMPTS))
    for prompt, (sample,) in zip(PROMPTS, answers, strict=True):
        tokens = tokenizer(prompt, return_tensors="pt")
        theirs = model.generate(**tokens, do_sample=False, max_new_tokens=12, pad_token_id=0)[0]
        new = theirs[1:] if model.config.is_encoder_decoder else theirs[tokens["input_ids"].shape[1] :]
        assert sample.text == tokenizer.decode(new, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        assert sample.logprob == pytest.approx(
            forward_logprob(model, tokens["input_ids"][0].tolist(), new.tolist()), abs=1e-4
        )
        assert sample.num_tokens == len(new)
    ours.close()


def test_samples_have_the_log_probability_of_a_forward_pass_at_temperature_1(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = plain(folder)
    ours = HFModel(str(folder))
    drawn: list[list[int]] = []
    texts_of = hf_model.Draw.samples
    monkeypatch.setattr(hf_model.Draw, "samples", lambda self, *a: drawn.extend(self._tokens) or texts_of(self, *a))
    options = GenerationOptions(num_samples=6, max_new_tokens=5, temperature=0.7, top_p=0.9)
    answers = ours.generate(PROMPTS, options, [5, 6, 7, 8])
    prompts = [tokenizer(prompt)["input_ids"] for prompt in PROMPTS for _ in range(6)]
    assert len({tuple(tokens) for tokens in drawn}) > 12
    for prompt, tokens, sample in zip(prompts, drawn, [s for samples in answers for s in samples], strict=True):
        assert sample.logprob == pytest.approx(forward_logprob(model, prompt, tokens), abs=1e-4)
    ours.close()


@pytest.mark.nightly
@pytest.mark.parametrize(("kind", "keeps_keys"), [("gpt2", True), ("gemma2", True), ("mamba", False)])
def test_prompts_that_are_read_once_give_the_texts_of_the_librarys_own_loop(
    kind: str, keeps_keys: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = HFModel(str(save_other_decoder(tmp_path, kind)))
    options = GenerationOptions(num_samples=4, max_new_tokens=10)
    prefixes: list[Any] = []
    read = HFModel._read
    monkeypatch.setattr(HFModel, "_read", lambda self, jobs: prefixes.append(read(self, jobs)) or prefixes[-1])
    texts = [[sample.text for sample in each] for each in ours.generate(PROMPTS, options, [1, 2, 3, 4])]
    assert [prefix.cache is not None for prefix in prefixes] == [keeps_keys]
    monkeypatch.setattr(hf_decoding, "_plain_cache", lambda cache: None)
    again = ours.generate(PROMPTS, options, [1, 2, 3, 4])
    assert texts == [[sample.text for sample in each] for each in again]
    ours.close()


@pytest.mark.parametrize("kind", ["phi3", "minimax"])
def test_networks_that_mind_their_batch_write_as_they_do_alone(kind: str, tmp_path: Path) -> None:
    ours = HFModel(str(save_other_decoder(tmp_path, kind)))
    model, tokenizer = plain(tmp_path)
    # Shorter and longer than the length beyond which other positions hold, and over it while they are written.
    prompts = ["⊢ p", PROMPTS[1], PROMPTS[3]]
    for prompt, (sample,) in zip(prompts, ours.generate(prompts, GREEDY, [0, 0, 0]), strict=True):
        tokens = tokenizer(prompt, return_tensors="pt")
        theirs = model.generate(**tokens, do_sample=False, max_new_tokens=12, pad_token_id=0)[0]
        written = theirs[tokens["input_ids"].shape[1] :]
        assert sample.text == tokenizer.decode(written, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    ours.close()


def test_a_pause_lets_nothing_begin_until_it_ends(decoder: Path) -> None:
    ours = HFModel(str(decoder))
    ours.pause()
    with ThreadPoolExecutor(2) as threads:
        pending = [threads.submit(ours.generate, PROMPTS, GREEDY, [0] * 4), threads.submit(ours.score, "x", "y")]
        assert not wait(pending, timeout=0.2).done
        ours.resume()
        assert len(pending[0].result(20)) == 4 and pending[1].result(20) < 0
    ours.close()


def test_a_score_is_that_of_a_forward_pass(folder: Path) -> None:
    model, tokenizer = plain(folder)
    ours = HFModel(str(folder))
    tokens, wanted = tokenizer(PROMPTS[0])["input_ids"], tokenizer("exact h", add_special_tokens=False)["input_ids"]
    assert ours.score(PROMPTS[0], "exact h") == pytest.approx(forward_logprob(model, tokens, wanted), abs=1e-4)
    assert ours.score(PROMPTS[0], "") == 0.0
    ours.close()


def test_what_is_drawn_depends_on_the_seed_and_not_on_who_shares_the_batch(folder: Path) -> None:
    ours = HFModel(str(folder))
    options = GenerationOptions(num_samples=3, max_new_tokens=6)
    together = ours.generate(PROMPTS, options, [1, 2, 3, 4])
    alone = [ours.generate([prompt], options, [seed])[0] for prompt, seed in zip(PROMPTS, (1, 2, 3, 4))]
    other = ours.generate(PROMPTS, options, [11, 12, 13, 14])
    texts = [[[sample.text for sample in samples] for samples in each] for each in (together, alone, other)]
    assert texts[0] == texts[1] != texts[2]
    assert all(len(set(samples)) > 1 for samples in texts[0])
    ours.close()


def test_first_tokens_have_the_shares_that_the_model_gives_them(decoder: Path) -> None:
    model, tokenizer = plain(decoder)
    ours = HFModel(str(decoder), HFOptions(batch_rows=400))
    samples = ours.generate(["⊢ p"], GenerationOptions(num_samples=2000, max_new_tokens=1, top_p=0.6), [0])[0]
    with torch.no_grad():
        wanted = model(**tokenizer("⊢ p", return_tensors="pt")).logits[0, -1].softmax(-1)
    order = wanted.argsort(descending=True)
    nucleus = order[: int((wanted[order].cumsum(0) < 0.6).sum()) + 1]
    share: Counter[str] = Counter()
    for token in nucleus:  # several are parts of characters, and look alike
        share[tokenizer.decode([int(token)])] += float(wanted[token] / wanted[nucleus].sum())
    counts = Counter(sample.text for sample in samples)
    assert set(counts) <= set(share)
    for text, probability in share.items():
        assert counts[text] / 2000 == pytest.approx(probability, abs=5 * math.sqrt(probability / 2000) + 1e-3)
    ours.close()


def test_samples_end_before_a_stop_text(decoder: Path) -> None:
    ours = HFModel(str(decoder))
    whole = ours.generate(PROMPTS, GREEDY, [0] * 4)
    options = GenerationOptions(max_new_tokens=12, temperature=0, stop=(whole[0][0].text[3:5],))
    cut = ours.generate(PROMPTS, options, [0] * 4)
    assert cut[0][0].text == whole[0][0].text[: whole[0][0].text.index(options.stop[0])]
    assert cut[0][0].finished and cut[0][0].num_tokens < 12
    assert cut[0][0].logprob > whole[0][0].logprob
    assert [each[0].text for each in cut[1:]] == [each[0].text.split(options.stop[0])[0] for each in whole[1:]]
    ours.close()


def test_a_space_at_the_beginning_of_a_continuation_stays(decoder: Path) -> None:
    ours = HFModel(str(decoder))
    assert ours._tokenizer.decode(ours._codec.continuation("exact", " h")) == " h"
    ours.close()


def test_threads_share_batches_and_get_their_own_answers(decoder: Path) -> None:
    ours = HFModel(str(decoder), HFOptions(batch_rows=8))
    options = GenerationOptions(num_samples=2, max_new_tokens=4)
    wanted = [ours.generate([f"{n}:::"], options, [n])[0] for n in range(24)]
    found: dict[int, Any] = {}

    def ask(number: int) -> None:
        found[number] = ours.generate([f"{number}:::"], options, [number])[0]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [[s.text for s in found[n]] for n in range(24)] == [[s.text for s in samples] for samples in wanted]
    ours.close()


def test_long_prompts_keep_their_end_and_impossible_ones_are_refused(decoder: Path) -> None:
    ours = HFModel(str(decoder))
    tail = ours.generate(["x " * 500 + "⊢ p"], GREEDY, [0])[0][0]
    assert tail.text == ours.generate(["x " * 800 + "⊢ p"], GREEDY, [0])[0][0].text
    with pytest.raises(BadState, match="128 positions, too few for 128 new tokens"):
        ours.generate(["x"], GenerationOptions(max_new_tokens=128), [0])
    with pytest.raises(BadState, match="the prompt is empty"):
        ours.generate([""], GREEDY, [0])
    ours.close()
    with pytest.raises(PolicyClosed):
        ours.generate(["x"], GREEDY, [0])


def test_when_memory_runs_out_smaller_batches_are_tried(decoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = HFModel(str(decoder))
    options = GenerationOptions(num_samples=8, max_new_tokens=4)
    wanted = ours.generate(PROMPTS, options, [0] * 4)
    whole, sizes = HFModel._batch, []

    def batch(self: HFModel, rows: Any) -> Any:
        sizes.append(len(rows))
        if len(rows) > 5:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(self, rows)

    monkeypatch.setattr(HFModel, "_batch", batch)
    answers = ours.generate(PROMPTS, options, [0] * 4)
    assert [[s.text for s in samples] for samples in answers] == [[s.text for s in samples] for samples in wanted]
    assert max(sizes) == 32 and min(sizes) == 4
    monkeypatch.setattr(HFModel, "_batch", lambda self, rows: 1 / 0)
    with pytest.raises(PolicyServerError, match="ZeroDivisionError"):
        ours.generate(PROMPTS, options, [0] * 4)
    ours.close()


def test_embeddings_are_means_of_hidden_states(folder: Path, tmp_path: Path) -> None:
    model, tokenizer = plain(folder)
    ours = HFModel(str(folder), HFOptions(batch_rows=3))
    vectors = ours.embed([*PROMPTS, PROMPTS[0]])
    assert vectors.dtype == np.float32 and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors[0], vectors[-1], atol=1e-5)
    with torch.no_grad():
        network = model.get_encoder() if model.config.is_encoder_decoder else model.base_model
        mean = network(**{"input_ids": tokenizer(PROMPTS[1], return_tensors="pt")["input_ids"]}).last_hidden_state[0]
    wanted = mean.mean(0) / mean.mean(0).norm()
    assert np.allclose(vectors[1], wanted.numpy(), atol=1e-5)
    ours.close()


def test_an_encoder_embeds_and_writes_nothing(tmp_path: Path) -> None:
    ours = HFModel(str(save_encoder(tmp_path)))
    assert ours.embed(PROMPTS).shape == (4, 32)
    assert ours.embed([]).shape[0] == 0
    with pytest.raises(UserError, match="which writes no texts: give a model with"):
        ours.generate(PROMPTS, GREEDY, [0] * 4)
    with pytest.raises(UserError, match="scores no texts"):
        ours.score("a", "b")
    ours.close()


def test_chat_wraps_prompts_in_the_models_own_template(tmp_path: Path, decoder: Path) -> None:
    chat, raw = HFModel(str(save_decoder(tmp_path, chat=True)), chat=True), HFModel(str(tmp_path))
    wanted = raw.generate(["<|user|>⊢ p\n<|assistant|>"], GREEDY, [0])
    assert chat.generate(["⊢ p"], GREEDY, [0])[0][0].text == wanted[0][0].text
    ruled = with_system(chat, "Write one tactic.")
    wanted = raw.generate(["<|system|>Write one tactic.\n<|user|>⊢ p\n<|assistant|>"], GREEDY, [0])
    assert ruled.generate(["⊢ p"], GREEDY, [0])[0][0].text == wanted[0][0].text
    assert chat.system == ""
    chat.close()
    raw.close()
    with pytest.raises(UserError, match="has no chat template: choose another --prompt-format"):
        HFModel(str(decoder), chat=True)


def test_settings_for_generation_that_come_with_a_model_do_not_bend_samples(tmp_path: Path, decoder: Path) -> None:
    save_decoder(tmp_path)
    settings = transformers.GenerationConfig.from_pretrained(tmp_path)
    settings.repetition_penalty, settings.no_repeat_ngram_size, settings.suppress_tokens = 5.0, 1, list(range(50, 200))
    settings.save_pretrained(tmp_path)
    bent, straight = HFModel(str(tmp_path)), HFModel(str(decoder))
    texts = [[each[0].text for each in model.generate(PROMPTS, GREEDY, [0] * 4)] for model in (bent, straight)]
    assert texts[0] == texts[1]
    bent.close()
    straight.close()


def test_what_cannot_be_loaded_is_one_line(tmp_path: Path, decoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    for source in (str(tmp_path), "no-such-owner/no-such-model"):
        with pytest.raises(UserError) as caught:
            HFModel(source)
        assert "\n" not in str(caught.value) and str(caught.value).startswith(f"hf:{source} cannot be loaded: ")
    with pytest.raises(UserError, match="--model-load-4bit needs a GPU"):
        HFModel(str(decoder), HFOptions(load_4bit=True))


def test_code_that_comes_with_a_model_is_not_run(tmp_path: Path) -> None:
    evil = f"open({str(tmp_path / 'ran')!r}, 'w').close()"
    (tmp_path / "evil.py").write_text(evil)
    (tmp_path / "config.json").write_text(
        '{"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Model"}}'
    )
    with pytest.raises(UserError, match="cannot be loaded"):
        HFModel(str(tmp_path))
    assert not (tmp_path / "ran").exists()


def test_without_transformers_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hf_loading, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"models hf: need transformers, .*: pip install 'nanoproof\[hf\]'"):
        HFModel("x")
