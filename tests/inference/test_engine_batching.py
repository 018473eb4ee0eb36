"""Continuous batching: whatever comes and goes, a request is answered as if it were alone, and leaves nothing."""

import math
import random
from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nanoproof.data.transitions.packing import Continuation, Example, pack
from nanoproof.inference.batch_decoder import BatchDecoder
from nanoproof.inference.decode import MAX_GROUP_SIZE
from nanoproof.inference.engine import MOST_FAILED_RESETS, Engine
from nanoproof.inference.kv_cache import SlotPool, SlotSize
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.prefill import PrefillAttention, PrefillJob, PrefillMasks, _slot_rows
from nanoproof.inference.sampling import Completion, EngineRequest, SamplingOptions
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer
from tests.model.attention_layouts import slow_kernel
from tests.model.conftest import make_model

OPTIONS = SamplingOptions(num_samples=4, max_new_tokens=8, first_token_cap=2)


def lively(tokenizer: Tokenizer, seed: int = 0, **shape: object) -> GPT:
    """A model whose samples end sooner or later: one constant feature makes EOS likely."""
    model = make_model(tokenizer, seed, **shape)
    with torch.no_grad():
        model.embedding.weight[:, 0] = 4.0
        model.head.weight[tokenizer.eos, 0] = 2.5
    return model


def some_prompts(tokenizer: Tokenizer, rng: random.Random, count: int, longest: int = 60) -> list[list[int]]:
    """Random prompts; some begin like others, and some are others."""
    prompts: list[list[int]] = []
    for _ in range(count):
        begin = rng.choice(prompts)[: rng.randrange(longest)] if prompts and rng.random() < 0.5 else [tokenizer.bos]
        more = rng.choice([0, 1, rng.randrange(longest)])
        prompts.append((begin + [rng.randrange(tokenizer.num_text_tokens) for _ in range(more)])[:longest])
        prompts[-1] = prompts[-1] or [tokenizer.bos]
    return prompts


def drive(engine: Engine, most: int = 10_000) -> list[EngineRequest]:
    """Step until nothing is left."""
    ended = []
    for _ in range(most):
        ended += engine.step()
        if engine.idle:
            return ended
    raise AssertionError(f"not idle after {most} steps")


def texts(answer: Completion | None) -> list[list[int]]:
    assert answer is not None
    return [sample.tokens for sample in answer.samples]


@torch.no_grad()
def training_view(net: GPT, tokenizer: Tokenizer, prompt: list[int], answer: Completion) -> tuple[list[float], list]:
    """Log-probabilities of the samples and the value's bins, by the forward pass of training."""
    tactics = [Continuation([tokenizer.tactic, *s.tokens, tokenizer.eos], "tactic") for s in answer.samples]
    value = Continuation([tokenizer.value, tokenizer.bins[0]], "value")
    example = Example(prompt, [*tactics, value])
    batch = pack([example], len(example), 0)
    logits = net(batch.tokens, batch.layout(net.config.prefix_lm))[0]
    logprobs, row = [], len(prompt)
    for tactic in tactics:
        mine = logits[row : row + len(tactic.tokens) - 1, : tokenizer.eos + 1].log_softmax(dim=-1)
        logprobs.append(float(mine.gather(1, torch.tensor(tactic.tokens[1:]).unsqueeze(1)).sum()))
        row += len(tactic.tokens)
    return logprobs, logits[row, list(tokenizer.bins)].softmax(dim=-1).tolist()


networks = st.fixed_dictionaries(
    {
        "depth": st.integers(1, 3),
        "window_pattern": st.sampled_from(["L", "SL", "SSL"]),
        "sequence_len": st.sampled_from([80, 96, 200]),
        "aspect_ratio": st.just(32),
        "head_dim": st.sampled_from([8, 16]),
        "num_kv_heads": st.sampled_from([None, 1]),
        "prefix_lm": st.booleans(),
        "value_embedding": st.booleans(),
    }
)


@settings(max_examples=10, deadline=None, database=None)
@given(
    networks,
    st.integers(0, 10**6),
    st.sampled_from([None, None, False, True]),
    st.integers(1, 20),
    st.sampled_from([0.0, 0.25]),
)
def test_any_schedule_gives_the_log_probabilities_of_a_full_forward(
    tokenizer: Tokenizer, shape: dict, seed: int, read_late: bool | None, max_rows: int, reuse_share: float
) -> None:
    rng = random.Random(seed)
    if shape["head_dim"] == 8 and shape["depth"] == 2:
        shape = {**shape, "num_kv_heads": 4}
    net = lively(tokenizer, seed, **shape)
    limits = EngineLimits(cache_mbytes=6.0, max_rows=max_rows, reuse_share=reuse_share)
    engine = Engine(net, tokenizer, limits, read_late=read_late)
    requests = []
    for prompt in some_prompts(tokenizer, rng, 6):
        samples = rng.choice([1, 2, 3, 5, 18])
        options = SamplingOptions(samples, rng.choice([1, 2, 9]), rng.choice([None, 1, 2]), rng.choice([1.0, 0.7]))
        requests.append(engine.submit(prompt, options, rng.randrange(100)))
        for _ in range(rng.choice([0, 0, 1, 4])):
            engine.step()
        if rng.random() < 0.3:
            engine.cancel(rng.choice(requests))
    drive(engine)
    for request in requests:
        if request.cancelled:
            assert request.completion is None
            continue
        assert request.completion is not None
        logprobs, bins = training_view(net, tokenizer, list(request.prompt), request.completion)
        assert [sample.logprob for sample in request.completion.samples] == pytest.approx(logprobs, abs=1e-4)
        assert request.completion.value_distribution == pytest.approx(bins, abs=1e-5)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("read_late", [None, True])
def test_an_answer_depends_on_prompt_options_and_seed_only(tokenizer: Tokenizer, read_late: bool | None) -> None:
    net, rng = lively(tokenizer), random.Random(5)
    engine = Engine(net, tokenizer, EngineLimits(max_rows=14), read_late=read_late)
    prompts = some_prompts(tokenizer, rng, 18)
    choices = [OPTIONS, replace(OPTIONS, temperature=0.5), SamplingOptions(20, 5)]
    requests = []
    for index, prompt in enumerate(prompts):
        requests.append(engine.submit(prompt, choices[index % 3], index))
        for _ in range(rng.randrange(4)):
            engine.step()
        if index % 5 == 4:
            engine.cancel(requests[rng.randrange(index)])
    drive(engine)
    lengths = Counter[int]()
    lonely = Engine(net, tokenizer, EngineLimits(reuse_share=0.0))
    for request in requests:
        if request.cancelled:
            continue
        alone = lonely.generate([request.prompt], request.options, [request.seed])[0]
        assert texts(request.completion) == texts(alone)
        lengths.update(map(len, texts(alone)))
    assert len(lengths) > 4, "the test must see samples that end at different times"


@pytest.mark.usefixtures("backend")
def test_a_request_joins_while_another_is_decoded(tokenizer: Tokenizer) -> None:
    engine = Engine(lively(tokenizer), tokenizer)
    first = engine.submit([tokenizer.bos, 5], replace(OPTIONS, max_new_tokens=30), 1)
    engine.step()
    second = engine.submit([tokenizer.bos, 6], replace(OPTIONS, max_new_tokens=1), 2)
    ended = []
    while not second.ended:
        ended += engine.step()
    assert ended == [second]
    assert not first.ended
    assert drive(engine) == [first]


@pytest.mark.usefixtures("backend")
def test_equal_prompts_are_read_once_and_sampled_apart(tokenizer: Tokenizer) -> None:
    engine = Engine(lively(tokenizer), tokenizer, EngineLimits(reuse_share=0.0))
    prompt = [tokenizer.bos, *range(5, 40)]
    answers = engine.generate([prompt] * 3, OPTIONS, [1, 2, 1])
    assert engine.stats.prefills == 1
    assert engine.stats.reused_tokens == 2 * len(prompt)
    assert texts(answers[0]) == texts(answers[2]) != texts(answers[1])


@pytest.mark.usefixtures("backend")
def test_a_prompt_that_was_read_is_known_until_the_weights_change(tokenizer: Tokenizer) -> None:
    engine = Engine(lively(tokenizer), tokenizer)
    prompt = [tokenizer.bos, *range(5, 60)]
    first = engine.generate([prompt], OPTIONS, [1])
    assert engine.generate([prompt], OPTIONS, [1]) == first
    assert engine.stats.prefills == 1
    engine.refresh()
    assert engine.generate([prompt], OPTIONS, [1]) == first
    assert engine.stats.prefills == 2


@pytest.mark.parametrize(("read_late", "recorded"), [(None, False), (False, False), (True, True)])
def test_every_request_is_answered_by_one_set_of_weights_whenever_these_change(
    tokenizer: Tokenizer, read_late: bool | None, recorded: bool
) -> None:
    nets = [lively(tokenizer, seed) for seed in range(3)]
    net = lively(tokenizer, 0)
    recorder = Replayed() if recorded else None
    limits = EngineLimits(max_rows=16)
    engine = Engine(net, tokenizer, limits, recorder=recorder, read_late=read_late, own_weights=True)
    prompts = some_prompts(tokenizer, random.Random(6), 16)
    requests = [engine.submit(prompt, OPTIONS, index) for index, prompt in enumerate(prompts)]
    ended: list[list[EngineRequest]] = [[], [], []]
    restarted = 0
    for which in (0, 1):
        for _ in range(8):
            ended[which] += engine.step()
        net.load_state_dict(nets[which + 1].state_dict())  # as an optimizer does: the engine sees nothing of it
        for _ in range(2):
            ended[which] += engine.step()
        waiting = engine.num_active + len(engine._waiting)
        restarted += engine.num_active
        assert engine.num_active > 1 and ended[which]
        engine.refresh()
        assert (engine.num_active, len(engine._waiting), engine.stats.restarted) == (0, waiting, restarted)
        order = [requests.index(request) for request in engine._waiting]
        assert order == sorted(order), "those that were begun again come before those that had to wait"
    ended[2] += drive(engine)
    assert (engine.stats.replayed_steps > 5) == recorded
    assert sum(map(len, ended)) == 16 and all(request.ended for request in requests)
    for one, mine in zip(nets, ended, strict=True):
        plain = Engine(one, tokenizer, EngineLimits(reuse_share=0.0))
        for request in mine:
            expected = plain.generate([request.prompt], OPTIONS, [request.seed])[0]
            assert request.completion is not None and texts(request.completion) == texts(expected)
            assert request.completion.value_distribution == pytest.approx(expected.value_distribution, abs=1e-6)
            logprobs = [sample.logprob for sample in request.completion.samples]
            assert logprobs == pytest.approx([sample.logprob for sample in expected.samples], abs=1e-5)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("prefix_lm", [False, True])
def test_of_a_prompt_that_begins_like_one_that_was_read_the_rest_is_read(tokenizer: Tokenizer, prefix_lm: bool) -> None:
    net = lively(tokenizer, prefix_lm=prefix_lm)
    prompt = [tokenizer.bos, *range(5, 60)]
    other = [*prompt[:40], 7, 8, 9]
    engine = Engine(net, tokenizer)
    engine.generate([prompt], OPTIONS, [1])
    answer = engine.generate([other], OPTIONS, [2])[0]
    assert engine.stats.reused_tokens == (0 if prefix_lm else 40)
    alone = Engine(net, tokenizer).generate([other], OPTIONS, [2])[0]
    assert texts(answer) == texts(alone)
    assert answer.value_distribution == pytest.approx(alone.value_distribution, abs=1e-5)


@pytest.mark.parametrize("prefix_lm", [False, True])
@pytest.mark.parametrize("window_pattern", ["L", "SL"])
def test_prompts_read_by_a_flash_kernel_are_answered_alike(
    tokenizer: Tokenizer, prefix_lm: bool, window_pattern: str
) -> None:
    net = lively(tokenizer, window_pattern=window_pattern, prefix_lm=prefix_lm, num_kv_heads=1)
    prompts = some_prompts(tokenizer, random.Random(4), 12, longest=100)
    engines = Engine(net, tokenizer), Engine(net, tokenizer, EngineLimits(max_rows=12), kernel=slow_kernel)
    expected, answers = (engine.generate(prompts, OPTIONS, list(range(12))) for engine in engines)
    assert prefix_lm or engines[1].stats.reused_tokens > 0
    for answer, other in zip(answers, expected, strict=True):
        assert texts(answer) == texts(other)
        assert answer.value_distribution == pytest.approx(other.value_distribution, abs=1e-5)


def test_slots_written_at_once_hold_what_slots_written_one_by_one_do(tokenizer: Tokenizer) -> None:
    net = lively(tokenizer, num_kv_heads=1)
    device, shapes = torch.device("cpu"), ((SlotSize(32, 2), 5), (SlotSize(48, 2), 3))
    filled = []
    for at_once in (False, True):
        pools = [SlotPool(net.config, size, slots, torch.float32, device) for size, slots in shapes]
        wide, narrow = pools[1], pools[0]
        jobs = [PrefillJob((1,) * 20, narrow, 3, 4), PrefillJob((2,) * 9, wide, 0, 0), PrefillJob((3,), narrow, 1, 0)]
        attention = PrefillAttention(net.config, PrefillMasks(net.config, device), jobs, None)
        attention._writes = _slot_rows(jobs, whole=False) if at_once else []
        shape = (1, 16 + 9 + 1, net.config.kv_heads, net.config.head_dim)
        for layer in range(net.config.depth):
            k, v = torch.randn(2, *shape, generator=torch.Generator().manual_seed(layer))
            attention._write(layer, k[0], v[0])
        whole = [attention._whole(2, job, k[0, begin:end], v[0, begin:end]) for job, begin, end in attention._ranges]
        attention._reads = _slot_rows(jobs, whole=True)
        for read, expected in zip(attention._read(2), map(torch.cat, zip(*whole)), strict=True):
            assert torch.equal(read, expected)
        filled.append([x for pool in pools for x in (pool.keys_LSJDC, pool.values_LSJCD)])
    assert all(torch.equal(one, other) for one, other in zip(*filled, strict=True))
    assert [int((pool.abs().sum((0, 2)) > 0).any(-2).sum()) for pool in filled[0][::2]] == [16 + 1, 9]


@pytest.mark.usefixtures("backend")
def test_requests_wait_while_the_memory_is_full_and_are_all_answered(tokenizer: Tokenizer) -> None:
    net, rng = lively(tokenizer), random.Random(1)
    prompts = some_prompts(tokenizer, rng, 30, longest=100)
    free = Engine(net, tokenizer).generate(prompts, OPTIONS, list(range(30)))
    engine = Engine(net, tokenizer, EngineLimits(cache_mbytes=1.0))
    requests = [engine.submit(prompt, OPTIONS, seed) for seed, prompt in enumerate(prompts)]
    engine.step()
    assert 0 < engine.num_active < 30
    assert engine.num_active + len(engine._waiting) == 30
    while not engine.idle:
        engine.step()
        assert engine.stats.cache_bytes <= 1e6
    assert [texts(request.completion) for request in requests] == [texts(answer) for answer in free]


@pytest.mark.usefixtures("by_torch")
def test_a_request_of_many_parts_that_just_fits_is_answered(tokenizer: Tokenizer) -> None:
    net, prompt = lively(tokenizer), [tokenizer.bos, 5]
    options = SamplingOptions(num_samples=5 * MAX_GROUP_SIZE, max_new_tokens=8)
    slot = Engine(net, tokenizer)._backend._size(len(prompt), options).num_bytes(net.config, torch.float32)
    engine = Engine(net, tokenizer, EngineLimits(cache_mbytes=6.5 * slot / 1e6, reuse_share=0.0))
    answer = engine.generate([prompt], options, [0])[0]
    assert len(answer.samples) + answer.num_unfinished == options.num_samples


@pytest.mark.usefixtures("backend")
def test_a_request_that_could_never_fit_is_refused_at_once(tokenizer: Tokenizer) -> None:
    engine = Engine(lively(tokenizer), tokenizer, EngineLimits(cache_mbytes=0.1))
    with pytest.raises(ValueError, match=r"do not fit into 0\.1 MB"):
        engine.submit([tokenizer.bos] * 60, OPTIONS, 0)
    assert engine.idle


@pytest.mark.parametrize(
    ("prompt", "options", "told"),
    [
        ([], OPTIONS, "1 to 120 tokens, got 0"),
        ([-1], OPTIONS, "tokens must be 0 to"),
        ([10**6], OPTIONS, "tokens must be 0 to"),
        ([1], replace(OPTIONS, num_samples=0), "must be positive"),
        ([1], replace(OPTIONS, temperature=math.nan), "temperature must be 1e-06 to 1e\\+06, got nan"),
        ([1], replace(OPTIONS, temperature=1e39), "got 1e\\+39"),
        ([1], replace(OPTIONS, temperature=1e-39), "got 1e-39"),
    ],
)
def test_impossible_requests_are_refused(
    tokenizer: Tokenizer, prompt: list, options: SamplingOptions, told: str
) -> None:
    engine = Engine(lively(tokenizer), tokenizer)
    with pytest.raises(ValueError, match=told):
        engine.submit(prompt, options, 0)
    assert engine.idle


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("read_late", [None, True])
def test_output_that_is_not_finite_fails_that_request_alone(tokenizer: Tokenizer, read_late: bool | None) -> None:
    net = lively(tokenizer)
    prompts = [[tokenizer.bos, *range(4 + index, 40)] for index in range(12)]
    before = Engine(net, tokenizer).generate(prompts, OPTIONS, list(range(12)))
    poison = tokenizer.bins[3]
    with torch.no_grad():
        net.embedding.weight[poison] = math.nan
    engine = Engine(net, tokenizer, EngineLimits(max_rows=12), read_late=read_late)
    poisoned = [engine.submit([*prompts[0], poison], OPTIONS, 0)]
    good = [engine.submit(prompt, OPTIONS, seed) for seed, prompt in enumerate(prompts)]
    poisoned.append(engine.submit([tokenizer.bos, poison, *prompts[1]], OPTIONS, 0))
    ended = drive(engine)
    assert len(ended) == 14
    assert all(isinstance(request.error, FloatingPointError) for request in poisoned)
    assert [texts(request.completion) for request in good] == [texts(answer) for answer in before]
    assert engine.stats.failed == 2
    assert engine.stats.completed == 12


@pytest.mark.usefixtures("by_torch")
def test_when_a_computation_fails_those_in_work_have_its_error_and_the_next_are_answered(tokenizer: Tokenizer) -> None:
    net = lively(tokenizer)
    engine = Engine(net, tokenizer)
    prompt = [tokenizer.bos, 5, 6]
    before = engine.generate([prompt], OPTIONS, [3])
    request = engine.submit(prompt, OPTIONS, 3)
    weight, net.head.weight.data = net.head.weight.data, torch.zeros(1, 1)
    assert engine.step() == [request]
    assert isinstance(request.error, RuntimeError)
    net.head.weight.data = weight
    assert engine.idle
    assert engine.generate([prompt], OPTIONS, [3]) == before


@pytest.mark.usefixtures("by_torch")
def test_when_forgetting_fails_too_the_next_step_does_it(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    engine, prompt = Engine(lively(tokenizer), tokenizer), [tokenizer.bos, 5]
    wanted = engine.generate([prompt], OPTIONS, [0])

    def fail(*_: object) -> None:
        raise torch.OutOfMemoryError("no memory at all")

    for asked in range(1, MOST_FAILED_RESETS + 1):
        with monkeypatch.context() as patch:
            patch.setattr(BatchDecoder, "launch", fail)
            patch.setattr(BatchDecoder, "__init__", fail)
            request = engine.submit(prompt, OPTIONS, 0)
            with pytest.raises(torch.OutOfMemoryError):
                engine.step()
            engine.cancel(request)
        assert engine.idle and engine.broken == (asked >= 2)
    assert engine.generate([prompt], OPTIONS, [0]) == wanted and not engine.broken


@pytest.mark.usefixtures("backend")
def test_cancelled_requests_leave_at_once(tokenizer: Tokenizer) -> None:
    engine = Engine(lively(tokenizer), tokenizer, EngineLimits(max_rows=4))
    requests = [engine.submit([tokenizer.bos, token], OPTIONS, 0) for token in (5, 6)]
    engine.step()
    assert (engine.num_active, len(engine._waiting)) == (1, 1)
    for request in requests:
        engine.cancel(request)
        engine.cancel(request)  # a second time is no matter
    assert engine.idle
    assert engine.step() == []
    assert all(request.ended and request.completion is None for request in requests)
    assert engine.stats.cancelled == 2


@pytest.mark.usefixtures("by_torch")
def test_slots_and_parts_are_given_back(tokenizer: Tokenizer) -> None:
    engine, rng = Engine(lively(tokenizer), tokenizer), random.Random(2)
    for seed in range(4):
        prompts = some_prompts(tokenizer, rng, 20)
        engine.generate(prompts, OPTIONS, [seed] * 20)
        assert engine.idle
    decoder = engine._backend._decoder
    assert all(pool.num_in_use == 0 for pool in decoder.cache)
    assert all(info is None for info in decoder.groups.infos)
    assert decoder.num_samples == 0
    assert not decoder.active


@pytest.mark.usefixtures("backend")
def test_first_tokens_and_what_follows_have_the_frequencies_of_the_softmax(tokenizer: Tokenizer) -> None:
    """Chi-square over pairs of tokens, of which the rare ones count together."""
    net = lively(tokenizer, depth=1)
    prompt, trials = [tokenizer.bos, 5, 6], 10_000
    engine = Engine(net, tokenizer, EngineLimits(max_rows=trials))
    options = SamplingOptions(num_samples=400, max_new_tokens=2)
    answers = engine.generate([prompt] * 25, options, list(range(25)))
    with torch.no_grad():
        net_logits = net(torch.tensor([[*prompt, tokenizer.tactic]]))[0, -1, : tokenizer.eos + 1]
        first = net_logits.softmax(dim=-1)
        likely = first.topk(6).indices.tolist()
    ended = sum(not sample.tokens for answer in answers for sample in answer.samples)
    expected = {tokenizer.eos: float(first[tokenizer.eos])}
    counts = Counter({tokenizer.eos: ended})
    second = Counter[int]()
    for token in likely:
        if token == tokenizer.eos:
            continue
        with torch.no_grad():
            logits = net(torch.tensor([[*prompt, tokenizer.tactic, token]]))[0, -1, : tokenizer.eos + 1]
        expected[token] = float(first[token] * logits.softmax(dim=-1)[tokenizer.eos])
        second[token] = sum(sample.tokens == [token] for answer in answers for sample in answer.samples)
    counts += second
    rest = trials * (1 - sum(expected.values()))
    chi_square = (trials - counts.total() - rest) ** 2 / rest
    chi_square += sum((counts[token] - trials * p) ** 2 / (trials * p) for token, p in expected.items())
    assert len(expected) >= 6
    assert chi_square < 27.9, "a share of 1e-4 of fair draws is beyond, at 7 degrees of freedom"


class Replayed:
    """Records as CUDA graphs do: what is done is fixed, results are written over the same tensors."""

    def record(self, compute):
        output = compute()

        def replay() -> None:
            again = compute()
            for name in ("tokens_N", "logprobs_N", "logits_NV", "hidden_NC"):
                getattr(output, name).copy_(getattr(again, name))

        return replay, output

    def forget(self):
        pass


class Unrecordable(Replayed):
    """Fails in the middle of what it records."""

    def __init__(self):
        self.tries = 0

    def record(self, compute):
        self.tries += 1
        compute()
        raise RuntimeError("operation not permitted when stream is capturing")


def test_a_step_that_cannot_be_recorded_is_computed(tokenizer: Tokenizer, caplog: pytest.LogCaptureFixture) -> None:
    net, rng = lively(tokenizer), random.Random(3)
    prompts, recorder = some_prompts(tokenizer, rng, 20, longest=100), Unrecordable()
    engine = Engine(net, tokenizer, EngineLimits(max_rows=24), recorder=recorder, read_late=True)
    answers = engine.generate(prompts, OPTIONS, list(range(20)))
    plain = Engine(net, tokenizer).generate(prompts, OPTIONS, list(range(20)))
    assert [texts(answer) for answer in answers] == [texts(expected) for expected in plain]
    assert (recorder.tries, engine.stats.replayed_steps) == (1, 0)
    assert "a step could not be recorded" in caplog.text


@pytest.mark.parametrize("window_pattern", ["L", "SL"])
def test_recorded_steps_answer_as_computed_ones(tokenizer: Tokenizer, window_pattern: str) -> None:
    net, rng = lively(tokenizer, window_pattern=window_pattern), random.Random(3)
    prompts = some_prompts(tokenizer, rng, 40, longest=100)
    engine = Engine(net, tokenizer, EngineLimits(max_rows=24), recorder=Replayed(), read_late=True)
    answers = engine.generate(prompts, OPTIONS, list(range(40)))
    assert engine.stats.replayed_steps > 0
    plain = Engine(net, tokenizer).generate(prompts, OPTIONS, list(range(40)))
    for answer, expected in zip(answers, plain, strict=True):
        assert texts(answer) == texts(expected)
        assert [s.logprob for s in answer.samples] == pytest.approx([s.logprob for s in expected.samples], abs=1e-4)
        assert answer.value_distribution == pytest.approx(expected.value_distribution, abs=1e-5)


@pytest.mark.usefixtures("by_torch")
def test_cuda_graphs_are_refused_elsewhere_and_every_choice_has_a_reason(tokenizer: Tokenizer) -> None:
    net = lively(tokenizer)
    with pytest.raises(ValueError, match="cuda_graphs: they need a CUDA device, this is cpu"):
        Engine(net, tokenizer, EngineLimits(cuda_graphs="on"))
    decisions = Engine(net, tokenizer).decisions()
    assert set(decisions) == {
        *("engine", "engine_cache", "engine_rows", "engine_prompts", "engine_graphs", "engine_kernels")
    }
    assert "that were free" in decisions["engine_cache"]
    assert decisions["engine_graphs"] == "off (they need a CUDA device, this is cpu)"
    assert decisions["engine_kernels"] == "off (they need a CUDA device, this is cpu)"


@pytest.mark.usefixtures("backend")
def test_many_samples_of_long_tactics_need_memory_in_proportion(tokenizer: Tokenizer) -> None:
    config = GPTConfig(vocab_size=tokenizer.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=128)
    engine = Engine(GPT.create(config), tokenizer)
    answer = engine.generate([[tokenizer.bos, 5]], SamplingOptions(400, 20), [0])[0]
    assert len(answer.samples) + answer.num_unfinished == 400
    assert engine.stats.cache_bytes < 30e6
