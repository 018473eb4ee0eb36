"""A language model as a policy: texts become merged tactics, and what is no tactic is left out."""

import math
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from nanoproof.common.errors import UserError
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.lean.types import Theorem
from nanoproof.policy.factory import whole_proof_prompts
from nanoproof.policy.policy_options import TextModelOptions
from nanoproof.policy.prompt_formats import FORMATS
from nanoproof.policy.protocol import SamplingConfig, ServiceOptions
from nanoproof.policy.server import PolicyService, create_app, status_of
from nanoproof.policy.text_policy import PolicyValue, TextPolicy, ValuedPolicy, merge_texts
from nanoproof.search.policy import BadState, PolicyCancelled, PolicyServerError, PolicyTimeout, Suggestion


class ScriptedModel:
    """A language model that writes given texts, and can be held or made to fail."""

    name = "scripted"

    def __init__(self, *samples: TextSample) -> None:
        self.samples = list(samples)
        self.asked: list[tuple[list[str], GenerationOptions, list[int]]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.failure: Exception | None = None

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        self.asked.append((list(prompts), options, list(seeds)))
        self.gate.wait(20)
        if self.failure is not None:
            raise self.failure
        return [self.samples for _ in prompts]

    def score(self, prompt: str, continuation: str) -> float:
        return -1.0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.zeros((len(texts), 1), dtype=np.float32)

    def num_tokens(self, text: str) -> int:
        return len(text.split())

    def close(self) -> None:
        pass


def sample(text: str, logprob: float | None = -1.0, finished: bool = True) -> TextSample:
    return TextSample(text, logprob, 3, finished)


def ask(*samples: TextSample, how: str = "bfs-prover") -> Suggestion:
    with TextPolicy(ScriptedModel(*samples), FORMATS[how]) as policy:
        return policy.suggest("⊢ p")


def test_equal_tactics_are_merged_and_counted() -> None:
    suggestion = ask(sample("simp"), sample("exact h", -2.0), sample("simp"), sample("simp"))
    assert suggestion == Suggestion(("simp", "exact h"), (-1.0, -2.0), (3, 1), 1.0, (), 0)


def test_different_texts_and_tokenizations_of_a_tactic_add_their_probabilities() -> None:
    assert ask(sample("simp"), sample(" simp\n", -1.5)).logprobs == pytest.approx(
        (math.log(math.exp(-1) + math.exp(-1.5)),)
    )
    assert ask(sample("simp"), sample("simp", -1.0 + 1e-6)).logprobs == pytest.approx((-1.0,))
    assert ask(sample("simp"), sample("simp", -3.0)).logprobs == pytest.approx((math.log(math.exp(-1) + math.exp(-3)),))
    assert ask(sample("simp", -0.1), sample(" simp", -0.1)).logprobs == (0.0,)  # rounding never makes it likely twice


def test_shares_of_samples_stand_for_probabilities_where_there_are_none() -> None:
    suggestion = ask(sample("simp", None), sample("simp", -2.0), sample("rfl", None), sample("sorry", None))
    assert suggestion.logprobs == pytest.approx((math.log(2 / 4), math.log(1 / 4)))


def test_what_is_no_tactic_is_left_out_and_counted() -> None:
    model = ScriptedModel(
        *(sample(text) for text in ("", "  ", "sorry", "exact?", "exact \ufffd")), sample("simp", finished=False)
    )
    with TextPolicy(model, FORMATS["llmstep"]) as policy:
        suggestion = policy.suggest("⊢ p")
        assert (suggestion.tactics, suggestion.num_dropped, suggestion.num_samples) == ((), 6, 6)
        counts = policy.counts
        assert (counts.sampled, counts.unfinished, counts.malformed, counts.banned) == (6, 1, 3, 2)


def test_nothing_at_all_is_an_empty_suggestion() -> None:
    assert merge_texts([], str)[0].tactics == ()


def test_the_format_writes_the_prompt_and_reads_the_answer() -> None:
    model = ScriptedModel(sample("rw [<a>Nat.add_comm</a>]"))
    sampling = SamplingConfig(num_sampled_tactics=3, max_gen_tokens=17, temperature=0.7, top_p=0.9)
    with TextPolicy(model, FORMATS["reprover"], sampling) as policy:
        assert policy.suggest("⊢ p", 42).tactics == ("rw [Nat.add_comm]",)
    assert model.asked == [(["⊢ p"], GenerationOptions(3, 17, 0.7, 0.9), [42])]


def test_values_come_from_another_policy() -> None:
    class Valued:
        def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
            return Suggestion(("rfl",), (-1.0,), (1,), 4.5, (0.5, 0.5))

    with TextPolicy(ScriptedModel(sample("simp")), FORMATS["chat"], values=PolicyValue(Valued())) as policy:
        suggestion = policy.suggest("⊢ p")
        assert (suggestion.tactics, suggestion.value, suggestion.value_distribution) == (("simp",), 4.5, (0.5, 0.5))
        plain = TextPolicy(ScriptedModel(sample("simp")), FORMATS["chat"])
        assert ValuedPolicy(plain, PolicyValue(policy)).suggest("⊢ p") == suggestion
        plain.close()


def test_a_lone_surrogate_is_refused_and_a_failure_of_the_model_is_passed_on() -> None:
    model = ScriptedModel(sample("simp"))
    with TextPolicy(model, FORMATS["chat"]) as policy:
        with pytest.raises(BadState, match="lone surrogate at character 2"):
            policy.suggest("⊢ \ud800")
        model.failure = PolicyServerError("out of order")
        with pytest.raises(PolicyServerError):
            policy.suggest("⊢ p")
        assert (policy.stats.asked, policy.stats.answered, policy.stats.failed, policy.num_open) == (2, 0, 2, 0)


def test_calls_end_at_their_deadline_or_when_they_are_cancelled() -> None:
    model = ScriptedModel(sample("simp"))
    with TextPolicy(model, FORMATS["chat"]) as policy:
        assert policy.suggest_all(["a", "b"], [0, 1], deadline=time.monotonic() + 9)[1].tactics == ("simp",)
        model.gate.clear()
        with pytest.raises(PolicyTimeout):
            policy.suggest_all(["a"], [0], deadline=time.monotonic() + 0.1)
        gone = iter([False, True])
        with pytest.raises(PolicyCancelled):
            policy.suggest_all(["a"], [0], cancelled=lambda: next(gone))
        model.gate.set()


def test_a_time_out_of_the_model_itself_is_no_deadline() -> None:
    model = ScriptedModel(sample("simp"))
    model.failure = PolicyTimeout("the endpoint is slow")
    with TextPolicy(model, FORMATS["chat"]) as policy, pytest.raises(PolicyTimeout, match="the endpoint is slow"):
        policy.suggest_all(["a"], [0], cancelled=lambda: False)


def test_a_policy_server_serves_it() -> None:
    model = ScriptedModel(sample("simp"), sample("rfl"))
    with TextPolicy(model, FORMATS["bfs-prover"], SamplingConfig(num_sampled_tactics=2)) as policy:
        service = PolicyService(policy, ServiceOptions(), {"path": "scripted"})
        client = create_app(service).test_client()
        answer: Any = client.post("/generate", json={"states": ["⊢ p"], "top_p": 0.5}).get_json()
        assert answer["suggestions"][0]["tactics"] == ["simp", "rfl"]
        assert model.asked[0][1].top_p == 0.5
        status = status_of(service, [])
        assert status["decisions"].pop("values").startswith("none: every state counts as one tactic")
        assert status["decisions"] == {"prompt_format": "bfs-prover", "model": "scripted"}
        assert (status["questions"]["answered"], status["engine"]) == (1, {})
        assert b"nanoproof_policy_states_total" in client.get("/metrics").data


def test_prompts_for_whole_proofs_by_models_of_others_hold_the_statement_and_what_was_refused() -> None:
    theorem = Theorem("open Nat\ntheorem t (p : Prop) (h : p) : p := by sorry")
    texts = TextModelOptions(prompt_format="deepseek-v1.5")
    prompt, repair = whole_proof_prompts("hf:some/model", texts)
    assert prompt(theorem).endswith("open Nat\ntheorem t (p : Prop) (h : p) : p := by\n")
    assert "```lean4\n" in prompt(theorem)
    again = repair(theorem, "  exact q", ["unknown identifier q -/"])
    assert "exact q" in again and "unknown identifier q - /" in again and again.endswith(": p := by\n")
    with pytest.raises(UserError, match="say how this model is asked for a proof, by --prompt-format"):
        whole_proof_prompts("hf:some/model")
    assert whole_proof_prompts("hf:deepseek-ai/DeepSeek-Prover-V1.5-RL")[0](theorem) == prompt(theorem)
