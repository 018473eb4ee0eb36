"""Agents by the names that LeanDojo's users know: what they prove is checked, kept, and not tried again."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from nanoproof.compat.agent import NO_REPOSITORY, BaseAgent, ExternalAgent, HFAgent, LeanAgent
from nanoproof.compat.configs import ProverConfig, TrainingConfig
from nanoproof.compat.database import DynamicDatabase
from nanoproof.compat.prover import BaseProver, RetrievalProver
from nanoproof.lean.embedded import EmbeddedServers, start_embedded
from nanoproof.lean.transport import TOKEN_VARIABLE
from nanoproof.repos.store import Store
from tests.data.repositories import make_repository
from tests.fakes.openai_server import openai_server
from tests.retrieval.library import write_export

BASE = """namespace My
variable (n : Nat)

theorem one : n = n := by rfl

theorem two : True := by trivial

theorem zero_add' : 0 + n = n := by
  sorry

theorem both : True ∧ n = n := ⟨sorry, by sorry⟩

theorem hard (f : Nat → Nat) : f 0 = f 1 := by
  sorry

end My
"""
DEEP = "import Base\n\ntheorem deep (a : Nat) : 0 + a = a := by\n  have h := My.zero_add' a\n  sorry\n"
TACTICS = ("trivial", "rfl", "exact Nat.zero_add n", "exact My.zero_add' a")


class Named(BaseProver):
    """Names the same tactics for every state."""

    asked = 0

    def next_tactic(self, state: str, goal_id: int = 0) -> str | None:
        self.asked += 1
        return TACTICS[self.asked % len(TACTICS)]

    def generate_whole_proof(self, theorem: Any) -> str:
        return "exact Nat.zero_add n"


class Agent(BaseAgent):
    """An agent of a user, with a prover that needs no model."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.prover = Named()

    def _get_build_deps(self) -> bool:
        return False

    def _setup_prover(self) -> BaseProver:
        return self.prover


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServers]:
    with start_embedded(1) as servers:
        yield servers


@pytest.fixture
def lean(server: EmbeddedServers, monkeypatch: pytest.MonkeyPatch, empty_home: Path, tmp_path: Path) -> tuple[str, ...]:
    """The server's address, with an empty home and an empty working folder."""
    monkeypatch.setenv(TOKEN_VARIABLE, server.token)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tuple(server.addresses)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "mine", {"Base.lean": BASE, "Sub/Deep.lean": DEEP})


def test_what_is_proved_is_stored_and_nothing_is_tried_twice(
    lean: tuple[str, ...], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = Agent(prover_config=ProverConfig(max_expansions=8), lean_servers=lean)
    with pytest.raises(ValueError, match=r"has no trainer"):
        agent.train()
    assert agent.prove() == [] and "No sorry theorems found to prove." in capsys.readouterr().out
    commit = subprocess.run(["git", "-C", project, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    agent.setup_github_repository(f"file://{project}", commit[:10])
    (repo,) = agent.database.repositories
    assert repo.commit == commit
    names = [theorem.full_name for theorem in repo.sorry_theorems_unproved]
    assert names == ["My.zero_add'", "My.both", "My.hard", "deep"]

    assert agent.prove() == [True, True, False, True]
    said = capsys.readouterr().out
    assert "Found 4 sorry theorems to prove" in said and "Proving My.hard" in said
    assert "My.zero_add': Proved after" in said and "  exact Nat.zero_add n" in said
    assert "No proof found for My.hard" in said and "4 of 5 proved" in said
    saved = json.loads(Path("dynamic_database.json").read_text())["repositories"][0]
    assert [each["full_name"] for each in saved["sorry_theorems_proved"]] == ["My.zero_add'", "My.both", "deep"]
    assert saved["num_sorry_theorems_unproved"] == 1
    log = Path("proof_log.txt").read_text().splitlines()
    assert [line.split(" - ")[1].split(" for ")[0] for line in log] == [
        "Theorem proved: My.zero_add' in Base.lean",
        "Theorem proved: My.both in Base.lean",
        "Theorem proved: deep in Sub/Deep.lean",
    ]
    with Store() as store:
        assert {each.theorem.full_name for each in store.theorems("mine", "sorry_proved")} == {
            "My.zero_add'",
            "My.both",
            "deep",
        }
        patch = store.path.parent / "mine" / "proofs.patch"
    subprocess.run(["git", "-C", project, "apply", str(patch)], check=True)
    assert [(project / path).read_text().count("sorry") for path in ("Base.lean", "Sub/Deep.lean")] == [1, 0]

    asked = agent.prover.asked
    assert agent.prove() == [] and agent.prover.asked == asked
    again = Agent(prover_config=ProverConfig(max_expansions=8), lean_servers=lean)  # another program, later
    again.setup_github_repository(f"file://{project}", commit[:10])
    assert again.database.repositories[0].num_sorry_theorems_proved == 3
    assert again.prove() == [False] and again.prover.asked == 0
    assert "No proof found for My.hard: tried before" in capsys.readouterr().out
    assert len(Path("proof_log.txt").read_text().splitlines()) == 3


def test_a_database_keeps_its_proofs_when_a_repository_is_set_up_again(lean: tuple[str, ...], project: Path) -> None:
    agent = Agent(lean_servers=lean)
    agent.setup_local_repository(project)
    repo = agent.repos[0]
    repo.change_sorry_to_proven(repo.sorry_theorems_unproved[0], "log.txt")  # a proof that the store knows nothing of
    agent.database.to_json()
    other = Agent(lean_servers=lean)
    other.setup_local_repository(project)
    other.setup_local_repository(project)
    kept = DynamicDatabase().repositories
    assert [each.num_sorry_theorems_proved for each in kept] == [1] and len(other.repos) == 1
    (project / "Base.lean").write_text("theorem t : True := by trivial\n")
    shutil.rmtree(project / "Sub")
    with pytest.raises(ValueError, match=r"Failed to setup local repository .*fewer than three"):
        Agent("few.json", lean_servers=lean).setup_local_repository(project)


def test_whole_proofs_are_printed_and_checked(
    lean: tuple[str, ...], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with openai_server() as endpoint:
        endpoint.writer = lambda body: [
            {"index": n, "text": "```lean4\nexact Nat.zero_add n\n```", "logprobs": [-0.5], "reason": "stop"}
            for n in range(body.get("n", 1))
        ]
        agent = ExternalAgent("tiny", base_url=endpoint.base, lean_servers=lean)
        agent.setup_local_repository(project)
        assert agent.prove(whole_proof=True) == [True, False, False, False]
        assert {request["model"] for request in endpoint.requests} == {"tiny"}
    said = capsys.readouterr().out
    assert said.count("\nexact Nat.zero_add n\n") == 2 and "My.hard: Open after one text" in said
    assert "No proof found for deep: it stands within a proof" in said
    with pytest.raises(ValueError, match="ExternalAgent has no trainer"):
        agent.train()


def test_a_model_is_finetuned_on_a_repository_and_proves(
    lean: tuple[str, ...], project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    from nanoproof.compat.trainers import SFTTrainer
    from nanoproof.training import options
    from tests.fakes.hf_models import save_decoder

    monkeypatch.setattr(options, "HUB_SFT_DEFAULTS", {**options.HUB_SFT_DEFAULTS, "device_type": "cpu"})
    base = str(save_decoder(Path("base"), positions=512))
    config = ProverConfig(max_expansions=1, num_sampled_tactics=2)
    agent = HFAgent(SFTTrainer(base, batch_size=4), prover_config=config, lean_servers=lean)
    with pytest.raises(ValueError, match="No repository loaded"):
        agent.train()
    with pytest.raises(ValueError, match=r"call train\(\) first"):
        agent.evaluate()
    agent.setup_local_repository(project)
    assert agent.prove() == [False] * 4 and "nothing is trained in outputs yet" in capsys.readouterr().out
    agent.train()
    assert (agent.data_path / "corpus.jsonl").is_file() and Path("outputs/config.json").is_file()
    assert agent.metrics["step"] >= 1 and set(agent.evaluate()) <= set(agent.metrics)
    assert agent.prove() == [False] * 4  # another model, so that they are tried again
    assert "nothing is trained" not in capsys.readouterr().out
    assert "No repository loaded" in NO_REPOSITORY


def test_a_generator_gets_the_premises_that_a_place_may_use(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from tests.fakes.hf_models import save_decoder, save_encoder_decoder

    folder = str(save_encoder_decoder(tmp_path / "t5"))
    corpus = write_export(tmp_path / "data") / "corpus.jsonl"
    with RetrievalProver(folder, folder, corpus, num_premises=4, device="cpu") as prover:
        assert (prover.format.name, prover.sampling.num_sampled_tactics) == ("reprover", 10)
        prompts: list[str] = []
        generate = prover.model.generate

        def spy(asked: Any, *rest: Any) -> Any:
            prompts.extend(asked)
            return generate(asked, *rest)

        prover.model.generate = spy  # type: ignore[method-assign]
        prover.theorem = "theorem A2 : a + b = b + a"
        tactic = prover.next_tactic("⊢ a + b = b + a")
        assert tactic is None or tactic.strip()
        (best, *_) = prover.retriever.premises("⊢ a + b = b + a")
        state = prompts[0].rstrip().splitlines()[-1]
        assert state == "⊢ a + b = b + a" and f"<a>{best.full_name}</a>" in prompts[0].split("\n\n")[-2]
        with pytest.raises(NotImplementedError):
            prover.generate_whole_proof("theorem t : True")
    with pytest.raises(UserError, match="no place for premises"):
        RetrievalProver(folder, str(save_decoder(tmp_path / "d")), corpus, prompt_format="bfs-prover", device="cpu")


def test_the_retrieving_agent_uses_what_its_trainer_has_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    from tests.fakes.hf_models import save_encoder_decoder

    monkeypatch.chdir(tmp_path)
    folder = str(save_encoder_decoder(tmp_path / "t5"))
    config = TrainingConfig(model_name=folder, batch_size=4, max_seq_len=64, warmup_steps=1, accumulate_grad_batches=1)
    agent = LeanAgent(training_config=config, generator=folder)
    write_export(agent.data_path)
    agent.trainer.train([], None, agent.data_path)
    prover = agent._setup_prover()
    assert isinstance(prover, RetrievalProver)
    trained = prover.retriever.index.encoder
    prover.close()
    shutil.rmtree(agent.trainer.output_dir)
    untrained = agent._setup_prover()
    assert isinstance(untrained, RetrievalProver) and untrained.retriever.index.encoder != trained
    untrained.close()
