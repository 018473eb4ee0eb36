"""Provers and configs by the names that LeanDojo's users know: searches that end in checked proofs, or say why not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from nanoproof.compat.configs import NOT_READ, ProverConfig, TrainingConfig, save_configs_to_file
from nanoproof.compat.prover import (
    BaseProver,
    ExternalProver,
    HFProver,
    SearchResult,
    Status,
    opened_session,
    theorem_of,
)
from nanoproof.compat.trainers import RetrievalTrainer
from nanoproof.lean.types import LeanSession, ServerUnavailable, Theorem
from tests.fakes.openai_server import OpenAIServer, openai_server

AND = "∀ p q : Prop, p ∧ q → q ∧ p"


class Named(BaseProver):
    """Names tactics in turn, whatever the state."""

    def __init__(self, *tactics: str | None) -> None:
        self.tactics, self.asked = tactics, 0

    def next_tactic(self, state: str, goal_id: int = 0) -> str | None:
        self.asked += 1
        return self.tactics[self.asked % len(self.tactics)]

    def generate_whole_proof(self, theorem: Any) -> str:
        return ""


def test_a_bare_goal_is_proved_and_checked_as_a_whole(session: LeanSession) -> None:
    result, tactics = Named("intro p q h", "exact ⟨h.2, h.1⟩", "sorry", "nonsense").search(session, goal=AND)
    assert tactics == ["intro p q h", "exact ⟨h.2, h.1⟩"] == result.proof
    assert (result.status, result.success, result.n_goals_root) == (Status.PROVED, True, 1)
    assert result.steps == result.num_searched_nodes >= 2 and result.duration == result.total_time > 0
    assert session.check(result.source).accepted and "sorry" not in result.source


def test_sorry_proves_nothing_and_limits_leave_it_open(session: LeanSession) -> None:
    prover = Named("sorry", "skip")
    prover.config = ProverConfig(max_expansions=3)
    result, tactics = prover.search(session, theorem=Theorem("theorem t : 1 = 2 := by sorry"), verbose=True)
    assert (tactics, result.success, result.source) == (None, False, "")
    assert result.status in (Status.OPEN, Status.FAILED) and result.steps <= 3
    prover.config = ProverConfig(timeout=0)
    assert prover.search(session, goal="1 = 2")[0].status is Status.OPEN


def test_what_is_no_goal_or_refused_or_lost_is_told(session: LeanSession) -> None:
    with pytest.raises(ValueError, match="needs a goal or a theorem"):
        Named(None).search(session)
    with pytest.raises(UserError, match="Lean refuses the statement"):
        Named(None).search(session, goal="Nobody.knows = 1")

    class Record:
        theorem_statement = "theorem t (n : Nat) : n = n :="
        full_name = "t"

    assert theorem_of(None, Record()).source == "theorem t (n : Nat) : n = n := by sorry"
    Record.theorem_statement = ""
    with pytest.raises(UserError, match="t has no statement"):
        theorem_of(None, Record())

    class Gone:
        def start(self, theorem: Theorem) -> None:
            raise ServerUnavailable("nobody is there")

        apply = start

    with pytest.raises(RuntimeError, match="nobody is there"):
        Named(None).search(Gone(), goal="True")


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


def test_an_endpoint_names_each_tactic_once_for_a_state(server: OpenAIServer, session: LeanSession) -> None:
    texts = ["intro p q h", "by_contra h", "exact ⟨h.2, h.1⟩"]

    def write(body: Any) -> list[dict[str, Any]]:
        return [
            {"index": n, "text": f"```lean4\n{texts[n % 3]}\n```", "logprobs": [-0.5], "reason": "stop"}
            for n in range(body.get("n", 1))
        ]

    server.writer = write
    with ExternalProver("tiny", base_url=server.base) as prover:
        assert [prover.next_tactic("⊢ p") for _ in range(4)] == [*texts, None]
        assert {request["n"] for request in server.requests} == {4}
        assert server.requests[0]["model"] == "tiny" and server.requests[0]["temperature"] == 0.6
        result, tactics = prover.search(session, goal=AND)
        assert isinstance(result, SearchResult) and tactics == ["intro p q h", "exact ⟨h.2, h.1⟩"]


def test_a_model_of_transformers_names_tactics_without_a_theorem(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from tests.fakes.hf_models import save_decoder

    with HFProver(str(save_decoder(tmp_path / "chat", chat=True)), device="cpu") as chat:
        assert chat.format.name == "leandojo"
    with HFProver(str(save_decoder(tmp_path / "plain")), device="cpu") as prover:
        assert prover.format.name == "leandojo-text"
        assert (prover.sampling.num_sampled_tactics, prover.sampling.temperature, prover.sampling.top_p) == (
            5,
            0.7,
            0.9,
        )
        found = [prover.next_tactic("h : p\n⊢ p") for _ in range(3)]
        assert all(each is None or "sorry" not in each for each in found)
        prover.proof_tokens = 16  # this model has 128 positions
        assert isinstance(prover.generate_whole_proof("theorem t : True"), str)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"can(not)? be loaded|has no tokenizer"):
        HFProver(str(tmp_path / "empty"))


# -- configs -----------------------------------------------------------------------------------------------------------


def test_configs_have_the_known_fields_and_go_through_yaml_and_json(tmp_path: Path) -> None:
    config = TrainingConfig(lr=5e-4, num_negatives=2)
    config.to_yaml(tmp_path / "t.yaml")
    config.to_json(tmp_path / "t.json")
    assert TrainingConfig.from_yaml(tmp_path / "t.yaml") == config == TrainingConfig.from_json(tmp_path / "t.json")
    defaults = TrainingConfig()
    assert (defaults.lr, defaults.warmup_steps, defaults.data_max_seq_len, defaults.seed) == (1e-3, 1000, 1024, 3407)
    assert (defaults.early_stopping_patience, defaults.timeout_seconds) == (5, 52 * 7 * 24 * 3600)
    (tmp_path / "n.yaml").write_text("early_stopping: {patience: 2, mode: max}\ncheckpoint: {save_top_k: -1}\n")
    assert TrainingConfig.from_yaml(tmp_path / "n.yaml") == TrainingConfig(early_stopping_patience=2)
    save_configs_to_file(config, ProverConfig(timeout=9), tmp_path / "both.yaml")
    assert TrainingConfig.from_yaml(tmp_path / "both.yaml") == config
    assert ProverConfig.from_yaml(tmp_path / "both.yaml").timeout == 9
    (tmp_path / "p.yaml").write_text("timeout: 60\nmax_expansions: 8\n")
    assert ProverConfig.from_yaml(tmp_path / "p.yaml") == ProverConfig(timeout=60, max_expansions=8)
    assert ProverConfig().num_sampled_tactics == 64 and ProverConfig().batch_size == 12


@pytest.mark.parametrize("name", NOT_READ)
def test_fields_that_nothing_reads_are_refused_by_name(name: str, tmp_path: Path) -> None:
    plain = getattr(TrainingConfig(), name)
    other = {"bool": False, "str": "other"}.get(type(plain).__name__, 7)
    for config in (TrainingConfig(**{name: other}), {name: other}):
        with pytest.raises(UserError, match=rf"TrainingConfig\.{name} = {other!r} cannot be heeded"):
            RetrievalTrainer(config, tmp_path)
    RetrievalTrainer(TrainingConfig(**{name: plain}), tmp_path)


def test_what_is_done_anyway_is_not_refused(tmp_path: Path) -> None:
    config = TrainingConfig(run_progressive_training=False, lambda_value=0.0, precision="32-true", model_name="mine")
    config.tokenizer_model_name, config.data_max_seq_len = "mine", config.max_seq_len
    assert RetrievalTrainer(config, tmp_path).config is config
    trainer = RetrievalTrainer({"early_stopping": {"patience": 2}, "timeout_seconds": 365 * 24 * 3600}, tmp_path)
    assert trainer._options().patience == 2 and RetrievalTrainer(None, tmp_path).config == TrainingConfig()


def test_a_pantograph_server_over_core_lean_means_the_embedded_one(caplog: pytest.LogCaptureFixture) -> None:
    server = type("Server", (), {"__module__": "pantograph.server", "imports": ["Init"], "project_path": None})
    with opened_session(server()) as session:
        assert hasattr(session, "apply")
    assert "the embedded NanoLean takes its place" in caplog.text
    server.imports = ["Mathlib"]  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="over Mathlib is not driven here"), opened_session(server()):
        pass


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"lrr": 1}, "TrainingConfig has no field lrr"),
        ({"lr": "fast"}, "lr must be like 0.001"),
        ({"num_gpus": True}, "num_gpus must be like 1"),
        ([1], "expected fields and values"),
    ],
)
def test_other_fields_and_types_are_refused(tmp_path: Path, data: Any, message: str) -> None:
    (tmp_path / "c.json").write_text(json.dumps(data))
    with pytest.raises(UserError, match=message):
        TrainingConfig.from_json(tmp_path / "c.json")
    (tmp_path / "c.yaml").write_text("{")
    with pytest.raises(UserError, match="is not YAML"):
        TrainingConfig.from_yaml(tmp_path / "c.yaml")
