"""What the search gets from the model: merged, clean suggestions that do not depend on the batch."""

import math
import threading
import time

import pytest
import torch

from nanoproof.data.transitions.packing import ExampleLimits, encode_transition
from nanoproof.inference.engine import Engine
from nanoproof.lean.types import Transition
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.baselines import SolverOnlyPolicy, UniformPolicy
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.tactic_policy import PolicyCounts, TacticPolicy
from nanoproof.prover.prover import InstrumentedPolicy
from nanoproof.search.policy import BadState, PolicyClosed, PolicyTimeout, Suggestion
from tests.fakes.engine import ScriptedEngine, Text

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def tokenizer(words: Tokenizer) -> Tokenizer:
    return words


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> GPT:
    torch.manual_seed(0)
    config = GPTConfig(vocab_size=tokenizer.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=64)
    return GPT.create(config)


def ask(tokenizer: Tokenizer, texts: list[Text]) -> tuple[Suggestion, PolicyCounts]:
    with TacticPolicy(ScriptedEngine(tokenizer, texts)) as policy:
        return policy.suggest("⊢ True"), policy.counts


def test_equal_samples_are_merged_and_counted(tokenizer: Tokenizer) -> None:
    suggestion, _ = ask(tokenizer, ["simp", "exact h", "simp", " simp\n"])
    assert suggestion.tactics == ("simp", "exact h")
    assert suggestion.counts == (3, 1)
    assert suggestion.value == 2.0
    assert suggestion.value_distribution[1] == 1.0


def test_different_spellings_add_their_probabilities_and_equal_ones_do_not(tokenizer: Tokenizer) -> None:
    whole = tokenizer.encode("simp")
    letters = [token for letter in "simp" for token in tokenizer.encode(letter)]
    assert whole != letters
    suggestion, _ = ask(tokenizer, [whole, whole, letters])
    assert suggestion.logprobs == pytest.approx((math.log(2 * math.exp(-1)),))
    assert suggestion.counts == (3,)


def test_empty_banned_and_undecodable_samples_are_left_out(tokenizer: Tokenizer) -> None:
    half_a_symbol = tokenizer.encode("😀")[:1]
    suggestion, counts = ask(tokenizer, ["", "  ", "sorry", "exact?", half_a_symbol])
    assert suggestion.tactics == ()
    assert counts == PolicyCounts(sampled=6, unfinished=1, malformed=3, banned=2)


def test_an_attempt_that_asks_again_draws_other_samples_and_can_be_repeated(tokenizer: Tokenizer) -> None:
    def seeds(attempt_seed: int) -> list[int]:
        engine = ScriptedEngine(tokenizer, ["simp"])
        with TacticPolicy(engine) as policy:
            attempt = InstrumentedPolicy(policy, attempt_seed)
            for state in ("a", "a", "b"):
                attempt.suggest(state)
        return engine.seeds

    assert len(set(seeds(0))) == 3
    assert seeds(0) == seeds(0)
    assert not set(seeds(0)) & set(seeds(1))


@pytest.mark.parametrize("state", ["p : Prop\n⊢ p", "𝕜 : Type\n⊢ ∀ x, x = x  ", ""])
def test_prompts_are_the_prefixes_of_training_examples(tokenizer: Tokenizer, state: str) -> None:
    engine = ScriptedEngine(tokenizer, ["simp"])
    with TacticPolicy(engine, SamplingConfig(max_gen_tokens=8)) as policy:
        policy.suggest(state)
    example = encode_transition(tokenizer, Transition(state, "simp", 1), ExampleLimits())
    assert example is not None
    assert engine.prompts == [example.prefix]
    assert tokenizer.decode(engine.prompts[0]) == state + "\n"


def test_long_states_are_answered(model: GPT, tokenizer: Tokenizer) -> None:
    with TacticPolicy(Engine(model, tokenizer), SamplingConfig(max_gen_tokens=10)) as policy:
        assert policy.suggest("x : ℕ\n" * 200 + "⊢ goal").value >= 1


def test_threads_get_the_answer_of_their_own_state(model: GPT, tokenizer: Tokenizer) -> None:
    states = [f"⊢ {'x' * n} = y" for n in range(1, 13)]
    sampling = SamplingConfig(max_gen_tokens=8)

    def answers(together: bool) -> list[Suggestion]:
        results: dict[str, Suggestion] = {}
        with TacticPolicy(Engine(model, tokenizer), sampling) as policy:

            def run(state: str) -> None:
                results[state] = policy.suggest(state, seed=5)

            threads = [threading.Thread(target=run, args=(state,)) for state in states]
            for thread in threads:
                thread.start()
                if not together:
                    thread.join()
            for thread in threads:
                thread.join()
        return [results[state] for state in states]

    for alone, batched in zip(answers(together=False), answers(together=True)):
        assert alone.tactics == batched.tactics
        assert alone.logprobs == pytest.approx(batched.logprobs, abs=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_after_a_pause_the_new_weights_answer(tokenizer: Tokenizer, dtype: torch.dtype) -> None:
    config = GPTConfig(vocab_size=tokenizer.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=64)
    model = GPT.create(config, compute_dtype=dtype)
    with TacticPolicy(Engine(model, tokenizer)) as policy:
        before = policy.suggest("⊢ True")
        policy.pause()
        with torch.no_grad():
            model.head.weight[list(tokenizer.bins)] *= 2000
        policy.resume()
        assert policy.suggest("⊢ True").value != pytest.approx(before.value, abs=0.5)


@pytest.mark.parametrize(
    ("state", "seed", "message"),
    [("⊢ \ud800", 0, "lone surrogate at character 2"), ("⊢ p", 2**64, "seeds are integers of 64 bits")],
)
def test_nonsense_is_refused_by_itself(tokenizer: Tokenizer, state: str, seed: int, message: str) -> None:
    with TacticPolicy(ScriptedEngine(tokenizer)) as policy:
        with pytest.raises(BadState, match=message):
            policy.suggest(state, seed)
        assert policy.suggest("⊢ p").tactics == ("simp",)


@pytest.mark.parametrize("state", ["", "\0", " " * 1_000_000, "x : ℕ\n" * 170_000])
def test_odd_states_are_answered(tokenizer: Tokenizer, state: str) -> None:
    with TacticPolicy(ScriptedEngine(tokenizer)) as policy:
        assert policy.suggest(state).tactics == ("simp",)


def test_several_states_are_answered_together_in_their_order(model: GPT, tokenizer: Tokenizer) -> None:
    states = ["⊢ a", "⊢ b = c", "⊢ a"]
    with TacticPolicy(Engine(model, tokenizer), SamplingConfig(max_gen_tokens=8)) as policy:
        together = policy.suggest_all(states, [1, 2, 1])
        for state, seed, answer in zip(states, [1, 2, 1], together):
            alone = policy.suggest(state, seed)
            assert alone.tactics == answer.tactics
            assert alone.logprobs == pytest.approx(answer.logprobs, abs=1e-4)


def test_if_one_of_several_states_is_late_nothing_of_them_stays_in_the_engine(tokenizer: Tokenizer) -> None:
    engine = ScriptedEngine(tokenizer, steps=10**9)
    with TacticPolicy(engine) as policy:
        with pytest.raises(PolicyTimeout):
            policy.suggest_all(["⊢ a", "⊢ b"], [0, 0], deadline=time.monotonic() + 0.05)
        while policy.num_open:
            time.sleep(0.005)
    assert engine.idle


def test_who_asks_may_sample_in_another_way(tokenizer: Tokenizer) -> None:
    with TacticPolicy(ScriptedEngine(tokenizer)) as policy:
        assert policy.suggest("⊢ p", sampling=SamplingConfig(num_sampled_tactics=3)).num_samples == 3
        assert policy.suggest("⊢ p").num_samples == 6
        with pytest.raises(BadState, match="max_gen_tokens must be <= 62 for this model, got 64"):
            policy.suggest("⊢ p", sampling=SamplingConfig(max_gen_tokens=64))


def test_the_load_counts_steps_and_what_is_in_work(model: GPT, tokenizer: Tokenizer) -> None:
    with TacticPolicy(Engine(model, tokenizer)) as policy:
        policy.suggest("⊢ True")
        done = policy.load()
        assert done.steps > 0 and done.busy_seconds > 0
        assert (done.rows, done.states, done.waiting) == (0, 0, 0)
        policy.pause()
        asker = threading.Thread(target=policy.suggest, args=("⊢ True",))
        asker.start()
        while not policy.num_open:
            time.sleep(0.001)
        assert policy.load().waiting == 1
        policy.resume()
        asker.join()


def test_a_pause_can_give_back_the_memory_until_somebody_asks_again(model: GPT, tokenizer: Tokenizer) -> None:
    engine = Engine(model, tokenizer)
    with TacticPolicy(engine) as policy:
        first = policy.suggest("⊢ True")
        policy.pause()
        assert engine.stats.cache_bytes > 0
        policy.pause(release=True)
        assert engine.stats.cache_bytes == 0
        policy.resume()
        assert policy.suggest("⊢ True") == first


def test_a_closed_policy_says_so(model: GPT, tokenizer: Tokenizer) -> None:
    policy = TacticPolicy(Engine(model, tokenizer))
    policy.close()
    with pytest.raises(PolicyClosed):
        policy.suggest("⊢ True")


def test_no_room_for_a_prompt_is_refused_at_once(model: GPT, tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match="max_gen_tokens must be <= 62 for this model, got 64"):
        TacticPolicy(Engine(model, tokenizer), SamplingConfig(max_gen_tokens=64))


def test_uniform_policy_weighs_its_tactics_alike() -> None:
    suggestion = UniformPolicy(["rfl", "simp", "rfl"], value=3.0).suggest("⊢ True")
    assert suggestion.tactics == ("rfl", "simp")
    assert suggestion.logprobs == pytest.approx((-math.log(2), -math.log(2)))
    assert suggestion.value == 3.0


def test_solver_only_policy_suggests_finishers_alone() -> None:
    assert SolverOnlyPolicy(["grind"]).suggest("anything").tactics == ("grind",)
    with pytest.raises(ValueError):
        SolverOnlyPolicy([])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"num_sampled_tactics": 0}, "sampling.num_sampled_tactics must be >= 1, got 0"),
        ({"first_token_occurrences_cap": 0}, "sampling.first_token_occurrences_cap must be >= 1, got 0"),
        ({"temperature": 0.0}, "sampling.temperature must be >= 1e-06, got 0.0"),
    ],
)
def test_nonsense_options_are_named(option: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SamplingConfig(**option)
