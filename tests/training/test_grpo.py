"""GRPO: advantages and losses by hand, constant rewards that change nothing, Lean's verdicts as rewards, trl."""

import math
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from nanoproof import grpo
from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.types import LeanError, TacticFailed
from nanoproof.policy.prompt_formats import FORMATS
from nanoproof.training.grpo import GRPO, Group, clipped_surrogate, group_advantages, tactics_of, whole_groups
from nanoproof.training.hub_examples import load_data
from nanoproof.training.options import RewardOptions
from nanoproof.training.rewards import Judgement, LeanJudge, LeanReward, load_function, opened, rewards_of, shares
from tests.training import small

torch.set_num_threads(1)
AND = "p q : Prop\nh : p ∧ q\n⊢ q ∧ p"


# -- advantages and loss -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rewards", [[0.0, 1.0, 1.0, 0.5], [3.0, -2.0], [0.1, 0.1, 0.1, 0.7, 0.2]])
def test_advantages_are_by_the_deviation_of_a_sample(rewards: list[float]) -> None:
    mean, std = statistics.mean(rewards), statistics.stdev(rewards)
    expected = [(reward - mean) / (std + 1e-4) for reward in rewards]
    assert group_advantages(rewards) == pytest.approx(expected, rel=1e-12)


def test_advantages_of_a_golden_group() -> None:
    # mean 0.5, std (n - 1) 0.5773503: with divisor n it would be 0.5, and without epsilon 0.8660254
    assert group_advantages([0.0, 1.0, 1.0, 0.0]) == pytest.approx(
        [-0.8658754, 0.8658754, 0.8658754, -0.8658754], abs=1e-7
    )


def test_equal_rewards_have_no_advantage_whatever_their_mean_rounds_to() -> None:
    for size in range(2, 12):
        assert group_advantages([0.1] * size) == [0.0] * size


def test_completions_without_a_reward_do_not_count() -> None:
    assert group_advantages([1.0, None, 0.0]) == pytest.approx([0.7070068, 0.0, -0.7070068], abs=1e-6)
    assert group_advantages([None, 1.0]) == [0.0, 0.0]


def test_the_surrogate_is_clipped_on_the_side_that_gains() -> None:
    ratios = torch.tensor([1.0, 1.5, 0.5, 1.5, 0.5])
    weights = torch.tensor([2.0, 1.0, 1.0, -1.0, -1.0])
    found = clipped_surrogate(ratios.log(), torch.zeros(5), weights, 0.2)
    assert found.tolist() == pytest.approx([-2.0, -1.2, -0.5, 1.5, 0.8])
    probability = torch.tensor([0.3], requires_grad=True)
    clipped_surrogate(probability.log(), probability.log().detach(), torch.tensor([2.0]), 0.2).sum().backward()
    assert probability.grad is not None and probability.grad.item() == pytest.approx(-2.0 / 0.3)


def test_batches_are_rounded_up_to_whole_groups_and_say_so(caplog: pytest.LogCaptureFixture) -> None:
    assert [whole_groups(1, 8), whole_groups(8, 8), whole_groups(9, 8), whole_groups(9, 8, 2)] == [8, 8, 16, 16]
    assert "batch size 9 is rounded up to 16: whole groups of 8 on 2 ranks" in caplog.text
    assert len(caplog.records) == 3


def test_equal_completions_are_computed_once_with_their_sum() -> None:
    group = Group("s", [1, 2], [(5, 9), (6, 9), (5, 9)], ["a", "b", "a"], [True] * 3, advantages=[0.5, -1.0, 0.5])
    (example,) = group.examples(7, 100)
    assert [(each.tokens, each.weight) for each in example.continuations] == [([7, 5, 9], 1.0), ([7, 6, 9], -1.0)]
    assert len(group.examples(7, 6)) == 2  # one for each, as both do not fit beside the state
    group.demonstrations = {(6, 9): 0.25, (8, 9): 0.25}
    (example,) = group.examples(7, 100)
    found = {tuple(each.tokens): each.weight for each in example.continuations}
    assert found == {(7, 5, 9): 1.0, (7, 6, 9): -0.75, (7, 8, 9): 0.25}


# -- the loop ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grpo")
    small.save_model(folder)
    (folder / "rewards.py").write_text(
        "calls = []\n"
        "def constant(completions, **context):\n"
        "    calls.append((completions, context))\n"
        "    return [0.1] * len(completions)\n"
        "def letters(completions, prompts, states, **_):\n"
        "    return [sum('a' <= c <= 'z' for c in text) / max(1, len(text)) for text in completions]\n"
        "def wrong(completions, **_):\n    return [1.0]\n"
    )
    return folder


def words_of(start: Path, run: Path, function: str, *more: str) -> list[str]:
    words = ["--model-path", str(start), "--data", str(start / "data.jsonl"), "--run-dir", str(run)]
    words += ["--reward", f"{start / 'rewards.py'}:{function}", "--device-type", "cpu", "--row-length", "128"]
    return [*words, "--max-completion-length", "8", "--num-generations", "4", "--batch-size", "16", *more]


def loop_of(start: Path, tmp_path: Path, function: str, *more: str) -> GRPO:
    parser = Parser()
    for group in grpo.GROUPS:
        add_flags(parser, group)
    parser.set_defaults(**grpo.DEFAULTS)
    args = parser.parse_args(words_of(start, tmp_path / "run", function, *more))
    return GRPO(*(from_args(group, args) for group in grpo.GROUPS), small.ALONE)


@pytest.mark.parametrize("lora", [(), ("--lora", "4", "--lora-dropout", "0.1")])
def test_a_constant_reward_changes_no_parameter(start: Path, tmp_path: Path, lora: tuple[str, ...]) -> None:
    loop = loop_of(start, tmp_path, "constant", "--weight-decay", "0.1", *lora)
    before = {name: value.clone() for name, value in loop.model.named_parameters()}
    metrics = loop.train_one()
    assert metrics["reward"] == pytest.approx(0.1) and metrics["mixed_groups"] == 0
    assert all(torch.equal(before[name], value) for name, value in loop.model.named_parameters())
    loop.close()


def test_demonstrations_are_learned_where_rewards_teach_nothing(start: Path, tmp_path: Path) -> None:
    more = ("--demonstration-weight", "1", "--init-lr-frac", "1", "--max-completion-length", "12")
    loop = loop_of(start, tmp_path, "constant", *more)
    known = {state: loop.demonstrations(state) for state in loop.states}
    assert all(known.values()) and all(sum(each.values()) == pytest.approx(1) for each in known.values())
    texts = [loop.tokenizer.decode(tokens[:-1]) for tokens in known[loop.states[0]]]
    assert texts == list(tactics_of(load_data(str(start / "data.jsonl"))[0])[loop.states[0]])

    def likelihood() -> float:
        total = 0.0
        for group in loop.sample(loop.states[:4], [1, 2, 3, 4]):
            for tokens in known[group.state]:
                text = torch.tensor([[*group.prompt, loop.tokenizer.tactic, *tokens]])
                logprobs = loop.model(text)[0, len(group.prompt) : -1].float().log_softmax(-1)
                total += float(logprobs.gather(1, torch.tensor(tokens)[:, None]).sum().detach())
        return total

    before = likelihood()
    for _ in range(3):
        loop.train_one()
        loop.state.step += 1
    assert likelihood() > before
    loop.close()


def test_the_gradient_is_that_of_the_surrogate_over_all_tokens(start: Path, tmp_path: Path) -> None:
    loop = loop_of(start, tmp_path, "letters")
    groups = loop.sample(loop.states[:4], [1, 2, 3, 4])
    sums = loop.judge(groups)
    assert sums["tokens"] == sum(len(tokens) for group in groups for tokens in group.tokens)
    examples = [each for group in groups for each in group.examples(loop.tokenizer.tactic, 128)]
    loop.optimizer.step = lambda most: 0.0  # type: ignore[assignment, misc]
    loss, _ = loop._update(examples, sums["tokens"])
    found = {name: value.grad.clone() for name, value in loop.model.named_parameters() if value.grad is not None}
    loop.model.zero_grad()
    total = torch.zeros(())
    for group in groups:
        for tokens, advantage in zip(group.tokens, group.advantages, strict=True):
            text = torch.tensor([[*group.prompt, loop.tokenizer.tactic, *tokens]])
            logits = loop.model(text)[0, len(group.prompt) : -1].float()
            logprobs = logits.log_softmax(-1).gather(1, torch.tensor(tokens)[:, None])
            total = total - advantage * (logprobs - logprobs.detach()).exp().sum()
    (total / sums["tokens"]).backward()
    assert loss == pytest.approx(float(total.detach()) / sums["tokens"], abs=1e-5)
    for name, value in loop.model.named_parameters():
        if value.grad is not None and name in found:
            torch.testing.assert_close(found[name], value.grad, atol=2e-5, rtol=1e-3)
    assert found
    loop.close()


def test_what_is_rewarded_becomes_likelier_and_a_run_resumes(start: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    more = ("--max-steps", "12", "--init-lr-frac", "1", "--eval-states", "0", "--iterations", "2")
    more += ("--num-generations", "8", "--batch-size", "64", "--epochs", "3", "--unembedding-lr", "0.05")
    assert grpo.main(words_of(start, run, "letters", *more)) == 0
    rewards = [record["reward"] for record in read_jsonl(run / "metrics.jsonl")]
    assert len(rewards) == 12 and statistics.mean(rewards[-3:]) > statistics.mean(rewards[:3]) + 0.1
    (run / "finished").unlink()
    assert grpo.main(["--resume-from", str(run), "--max-steps", "14"]) == 0
    assert len(list(read_jsonl(run / "metrics.jsonl"))) == 14


def test_reward_functions_get_plain_texts_and_are_checked(start: Path, tmp_path: Path) -> None:
    loop = loop_of(start, tmp_path, "constant")
    loop.train_one()
    completions, context = loop.reward.__globals__["calls"][-1]  # type: ignore[attr-defined]
    assert len(completions) == len(context["states"]) == len(context["prompts"]) == 16
    assert all(isinstance(text, str) for text in [*completions, *context["states"], *context["prompts"]])
    loop.close()
    with pytest.raises(UserError, match="returned 1 numbers for 2 completions"):
        rewards_of(load_function(f"{start / 'rewards.py'}:wrong"), ["a", "b"])
    with pytest.raises(UserError, match="has no function nothing"):
        load_function(f"{start / 'rewards.py'}:nothing")
    with pytest.raises(UserError, match="expected lean, or FILE"):
        load_function("leen")
    assert rewards_of(lambda completions, **_: [None, math.nan, 2], ["a", "b", "c"]) == [None, None, 2.0]
    for reward in (math.inf, -1e300):
        with pytest.raises(UserError, match=r"returned -?(inf|1e\+300), beyond 1e\+15"):
            rewards_of(lambda completions, reward=reward, **_: [reward], ["a"])
    with pytest.raises(UserError, match="give --model-path"):
        grpo.main(["--data", str(start / "data.jsonl")])


# -- Lean's reward -----------------------------------------------------------------------------------------------------


class Values:
    """A value that is the number of conjunctions."""

    def value(self, state_text: str) -> Any:
        from nanoproof.policy.text_policy import Value

        return Value(float(state_text.count("∧")))


@pytest.fixture(scope="module")
def judge() -> Iterator[LeanJudge]:
    with start_embedded(2) as servers:
        judge = LeanJudge(LeanServerClient(servers.addresses[0], servers.token).lease, 2)
        yield judge
        judge.close()


def test_lean_says_what_tactics_do_in_states_that_are_opened_again(judge: LeanJudge) -> None:
    states = [AND, AND, AND, AND, "n : Nat\n⊢ n + 0 = n", "x✝ : Nat\n⊢ x✝ = x✝", AND]
    tactics = ["exact ⟨h.2, h.1⟩", "constructor", "exact h", "skip", "rfl", "rfl", "sorry"]
    said = judge.judge(states, tactics)
    kinds = ["closed", "changed", "rejected", "unchanged", "closed", "misread", "banned"]
    assert [each.kind for each in said] == kinds
    assert len(said[1].after) == 2
    reward = LeanReward(judge, RewardOptions(), Values())
    assert reward(tactics, states=states) == [1.0, 0.75, 0.0, 0.0, 1.0, None, 0.0]  # constructor leaves one ∧ each
    assert reward([" constructor "], states=[AND], finished=[False]) == [0.0]
    assert LeanReward(judge, RewardOptions())(["intro x"], states=["⊢ ∀ (x : Nat), x = x"]) == [0.5]
    counted = shares(reward.counts)
    assert (counted["changed"], counted["closed"], counted["no_verdict"]) == (3 / 7, 2 / 7, 1 / 8)
    assert counted["successors"] == 1 / 7  # constructor's, in the second call

    states, tactics = (
        [AND] * 6,
        ["constructor", "constructor", "have hp : p := h.1", "exact ⟨h.2, h.1⟩", "skip", "apply And.intro"],
    )
    shared = LeanReward(judge, RewardOptions(reward_shared=True, reward_changed=0.6))
    assert shared(tactics, states=states) == pytest.approx(
        [0.2, 0.2, 0.6, 1.0, 0.0, 0.2]
    )  # three lead to the same goals
    assert shares(shared.counts)["successors"] == 2 / 6
    other = "q r : Prop\nh : q ∧ r\n⊢ r ∧ q"
    assert shared(["constructor", "constructor"], states=[AND, other]) == [0.6, 0.6]  # of different groups
    assert shared(["exact ⟨h.2, h.1⟩"] * 2, states=[AND] * 2) == [1.0, 1.0]  # all that close a goal are worth the same


def test_a_lost_server_and_a_timeout_are_no_reward() -> None:
    class Session:
        def __enter__(self) -> "Session":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def start(self, theorem: Any) -> Any:
            if "lost" in theorem.source:
                raise LeanError("the server is gone")
            from nanoproof.lean.types import Branch

            return Branch(opened("p : Prop\n⊢ p")[1])  # type: ignore[index]

        def apply(self, branch: Any, tactics: list[str]) -> list[Any]:
            return [TacticFailed("timeout", "too slow") for _ in tactics]

    judge = LeanJudge(Session, 1)  # type: ignore[arg-type]
    said = judge.judge(["p : Prop\n⊢ p", "lost : Prop\n⊢ lost"], ["simp", "simp"])
    assert said == [Judgement("timeout"), Judgement("lost")]
    assert LeanReward(judge, RewardOptions())(["simp"], states=["p : Prop\n⊢ p"]) == [None]
    with pytest.raises(LeanError, match="the server is gone"):
        judge.judge(["lost : Prop\n⊢ lost"], ["simp"])
    judge.close()


# -- models of transformers --------------------------------------------------------------------------------------------


def test_trl_trains_a_model_of_transformers_and_a_constant_reward_does_not(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    from nanoproof.compat.trainers import GRPOTrainer
    from tests.fakes.hf_models import save_decoder, transformers
    from tests.training.test_hub_finetuning import STEPS, write_export

    decoder = save_decoder(tmp_path / "decoder", chat=True, positions=512)
    data = write_export(tmp_path / "data", STEPS)
    seen: list[tuple[list[str], dict[str, Any]]] = []

    def constant(completions: list[str], **context: Any) -> list[float]:
        seen.append((completions, context))
        return [0.1] * len(completions)

    def letters(completions: list[str], **_: Any) -> list[float]:
        return [float(text.count("e")) - len(text) for text in completions]

    before = transformers.AutoModelForCausalLM.from_pretrained(decoder).state_dict()
    for reward, changes in ((constant, False), (letters, True)):
        output = tmp_path / reward.__name__
        trainer = GRPOTrainer(
            str(decoder), reward, str(output), batch_size=1, num_generations=5, max_completion_length=6
        )
        trainer.train([], None, data)
        after = transformers.AutoModelForCausalLM.from_pretrained(output).state_dict()
        assert any(not torch.equal(before[name], value) for name, value in after.items()) == changes
    completions, context = seen[0]
    assert len(completions) == 5 and all(isinstance(text, str) for text in completions)
    assert set(context["states"]) <= {step.state for step in STEPS}
    assert context["prompts"][0] == FORMATS["leandojo"].system + context["states"][0]


def test_prompts_go_on_behind_tokenizers_that_end_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    trl = pytest.importorskip("trl")
    from nanoproof.training.hub_grpo import _trainer_class

    rows = [[5, 0], [0], [6, 7]]
    monkeypatch.setattr(trl.GRPOTrainer, "_tokenize_prompts", lambda self, prompts: (rows, None, {}))
    kind = _trainer_class(trl)
    trainer = kind.__new__(kind)
    assert trainer._tokenize_prompts([])[0] == rows
    trainer.ends = [0]
    assert trainer._tokenize_prompts([]) == ([[5], [0], [6, 7]], None, {})
