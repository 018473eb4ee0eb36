"""Reinforcement learning with conjectures, over a scripted Lean and a scripted network that states them."""

import itertools
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

from nanoproof.actors.fleet import Fleet
from nanoproof.cluster import driver, host
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.conjectures import learning
from nanoproof.conjectures.experience import DATASET, ConjectureExperience, Shown, lesson
from nanoproof.conjectures.filters import Proposed, Statements, read_proposed
from nanoproof.conjectures.learning import counted, tried
from nanoproof.conjectures.source import NO_ATTEMPT, ConjectureSource, Examination, Examiner, Proposal, Ready
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.data.theorems.overlap import unordered_form
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.lean.types import Theorem, TheoremRejected
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.model.gpt import with_reserved_markers
from nanoproof.prover.attempt import Attempt, Outcome, fault_of
from nanoproof.rl import __main__ as rl
from nanoproof.rl import collection
from nanoproof.rl.attempt_log import logged_attempts
from nanoproof.rl.collection import relearn
from nanoproof.rl.options import RLConfig, parse_args
from tests.cluster import scripted_host
from tests.conjectures.test_statements import RECORDS
from tests.fakes.lean import branch
from tests.helpers import wait_for
from tests.rl import scripted_rl
from tests.training import small
from tests.training.small import ALONE

GIVEN = [Theorem(f"theorem t{n} (a : Nat) : a ≤ a + {n} := by sorry", "scripted", f"t{n}") for n in range(4)]
LEMMAS = {"Nat.p": "(n : Nat) : n + 0 = n", "Nat.q": "(n : Nat) : n = n"}


def experience_of(*flags: str) -> ConjectureExperience:
    config = RLConfig.from_args(parse_args(["--model-path", "x", "--conjectures", "0.5", *flags]))
    return ConjectureExperience.with_conjectures(config, GIVEN, LEMMAS)


def tried_given(number: int, proof: str = "", simulations: int = 8) -> Attempt:
    outcome: Outcome = "proven" if proof else "unproven"
    return Attempt(GIVEN[number], outcome, proof=proof, num_tactics=2, counts={"simulations": simulations})


ORIGIN = {"dataset": "scripted", "seed": "t0", "statement": "(a : Nat) : a ≤ a + 0", "lemma": "Nat.p", "prompt": "x"}


def tried_conjecture(number: int, proof: str = "", simulations: int = 8, lemma: str = "Nat.p") -> Attempt:
    theorem = Theorem(f"theorem conjecture (b : Nat) : b ≤ b + {number} := by sorry", DATASET, f"c{number}")
    outcome: Outcome = "proven" if proof else "unproven"
    origin = {**ORIGIN, "lemma": lemma}
    counts = {"simulations": simulations}
    return Attempt(theorem, outcome, proof=proof, num_tactics=2, counts=counts, origin=origin)


# -- What the log amounts to -----------------------------------------------------------------------------------------


def test_conjectures_are_theorems_that_the_matchmaker_knows_and_does_not_draw() -> None:
    experience = experience_of()
    experience.learn(0, [tried_conjecture(1), tried_given(0, "exact Nat.p a")])
    experience.learn(1, [tried_conjecture(2, "exact Nat.q b"), tried_conjecture(1)])
    assert [each.theorem.id for each in experience.conjectures] == ["c1", "c2"]
    assert len(experience.theorems) == 4 and experience.theorem(5).id == "c2"
    assert experience.ever_proven == {("scripted", "t0")} and experience.proofs == 2
    assert [experience.matchmaker.weight(index) for index in (4, 5)] == [0.0, 0.0]
    assert {experience.matchmaker.assign(Random(n)).index for n in range(40)} <= {0, 1, 2, 3}  # type: ignore[union-attr]
    assert experience.open_conjectures() == [4]
    first = experience_of().assignment(0).num_simulations
    assert experience.assignment(4).num_simulations == round(first * 1.5**2)  # two failures


def test_a_conjecture_is_left_after_its_tries_or_with_its_window() -> None:
    experience = experience_of("--conjecture-tries", "2", "--conjecture-window", "3")
    experience.learn(0, [tried_conjecture(1)])
    experience.learn(3, [tried_conjecture(2)])
    assert experience.open_conjectures() == [4, 5]
    experience.learn(4, [tried_conjecture(2)])  # its second try; the first is three steps old by now
    assert experience.open_conjectures() == []
    errors = experience_of()
    errors.learn(0, [Attempt(GIVEN[0], "error"), tried_conjecture(1)])
    assert errors.conjectures[0].tries == 1


def test_seeds_are_proved_theorems_that_are_not_hard_with_lemmas_of_their_proofs() -> None:
    experience = experience_of()
    experience.learn(0, [tried_given(0, "rw [Nat.p]\nexact Nat.q a"), tried_given(1), tried_given(1)])
    experience.learn(1, [tried_given(1, "exact Nat.q a"), tried_given(2, "simp"), tried_conjecture(1, "exact Nat.q b")])
    found = [shown for seed in range(20) for shown in experience.seeds(Random(seed))]
    assert {(shown.origin["seed"], shown.origin["lemma"]) for shown in found} == {
        *(("t0", "Nat.p"), ("t0", "Nat.q"), ("t0", ""), ("t2", "")),
    }  # t1 has 1 proof in 3 tries, and conjectures are no seeds
    shown = next(shown for shown in found if shown.origin["lemma"] == "Nat.p")
    assert shown.prompt == "theorem (a : Nat) : a ≤ a + 0\nusing Nat.p (n : Nat) : n + 0 = n"
    assert experience.unproved() == [GIVEN[3]]


def test_what_is_barely_proved_teaches_with_its_lemma_where_the_proof_uses_that() -> None:
    experience = experience_of("--conjecture-simulations", "4")
    experience.learn(0, [tried_conjecture(1, "exact Nat.p b and more", 16)])  # 1 of 4 samples: not less than a quarter
    experience.learn(0, [tried_conjecture(2, "exact Nat.p b and more", 17)])  # 1 of 5
    experience.learn(0, [tried_conjecture(3, "exact Nat.q b and more", 40), tried_conjecture(4, "", 100)])
    experience.learn(0, [tried_conjecture(5, "", 16)])
    experience.learn(1, [tried_conjecture(5, "exact Nat.p b and more", 4)])  # 1 of 5, in two attempts
    assert [each.rate for each in experience.conjectures] == [1 / 4, 1 / 5, 1 / 10, 0.0, 1 / 5]
    chosen = {each.problem.statement[-1]: each for each in experience.teaching()}
    assert set(chosen) == {"2", "3", "5"}
    assert lesson(chosen["2"]).state == "theorem (a : Nat) : a ≤ a + 0\nusing Nat.p (n : Nat) : n + 0 = n"
    assert lesson(chosen["3"]).state == "theorem (a : Nat) : a ≤ a + 0"  # its proof leaves the lemma aside
    assert lesson(chosen["5"]).tactic == "(b : Nat) : b ≤ b + 5"
    experience.learn(21, [tried_given(0)])
    assert {each.problem.statement[-1] for each in experience.teaching()} == {"5"}


def test_an_origin_of_another_shape_is_a_fault() -> None:
    good = tried_conjecture(1)
    again = Attempt.from_json(json.loads(json.dumps(good.to_json())))
    assert again == good and fault_of(good) == ""
    for origin in ({"seed": 3}, ["seed"], {3: "seed"}):
        assert fault_of(Attempt(good.theorem, "unproven", origin=origin)) != ""  # type: ignore[arg-type]


# -- The source of tasks ---------------------------------------------------------------------------------------------


def source_of(tmp_path: Path, *flags: str) -> ConjectureSource:
    config = RLConfig.from_args(parse_args(["--model-path", "x", "--conjectures", "0.3", *flags]))
    experience = ConjectureExperience.with_conjectures(config, GIVEN * 20, LEMMAS)

    def propose(seeds: Sequence[Shown], seed: int) -> Proposal:
        return Proposal(seeds, mock.Mock(), mock.Mock(), (), config.conjectures, seed)

    return ConjectureSource(experience, config.conjectures, propose, tmp_path, ALONE, 0, 0)


def ready(number: int, score: float | None = None) -> Ready:
    return Ready(tried_conjecture(number).theorem, ORIGIN, score)


def test_conjectures_get_their_part_of_the_attempts_and_no_more(tmp_path: Path) -> None:
    source = source_of(tmp_path)
    source.ready = [ready(number) for number in range(100)]
    of_conjectures = 0
    for _ in range(100):
        task = source.next()
        assert task is not None
        source.finish(task, Attempt(task.theorem, "unproven"))
        of_conjectures += task.theorem.dataset == DATASET
    assert of_conjectures == 30
    source.close()
    logged = [attempt for _, attempt in logged_attempts(tmp_path)]
    assert all((attempt.origin == ORIGIN) == (attempt.theorem.dataset == DATASET) for attempt in logged)


def test_without_conjectures_the_theorems_of_the_data_sets_are_tried(tmp_path: Path) -> None:
    source = source_of(tmp_path)
    tasks = [source.next() for _ in range(3)]
    assert [task.theorem.dataset for task in tasks if task is not None] == ["scripted"] * 3
    source.seeds = [Shown("theorem", ORIGIN)]
    proposals = [source.next() for _ in range(4)]  # an attempt is due, and nothing is ready
    assert [task is not None and task.work is not None for task in proposals] == [True, True, False, False]
    source.ready = [ready(number) for number in range(10)]
    later = [source.next() for _ in range(10)]  # what could not be had before is not made up for
    assert sum(task.theorem.dataset == DATASET for task in later if task is not None) == 3
    source.close()


def test_the_guide_has_the_best_conjecture_tried_first(tmp_path: Path) -> None:
    source = source_of(tmp_path, "--guide")
    source.ready = [ready(0), ready(1, 0.5), ready(2, 2.0), ready(3, 2.0)]
    tasks = [source._next_conjecture() for _ in range(4)]
    assert [task.theorem.id for task in tasks if task is not None] == ["c2", "c3", "c1", "c0"]
    source.close()


def test_one_proposal_at_a_time_fills_what_is_ready(tmp_path: Path) -> None:
    source = source_of(tmp_path, "--conjecture-batch", "2")
    source.seeds = [Shown(f"theorem {number}", ORIGIN) for number in range(5)]
    source.ready = [ready(0)]
    task, other = source.next(), source.next()
    assert task is not None and task.work is not None and other is not None and other.work is None
    assert source.ready == []
    verdicts = [
        ("new", "theorem conjecture : A := by sorry"),
        ("refused", ""),
        ("new", "theorem conjecture : B := by sorry"),
    ]
    (proposal,) = source._proposals.values()
    proposal.proposed = [Proposed("x", ORIGIN, text, "form", "", verdict) for verdict, text in verdicts]  # type: ignore[arg-type]
    source.finish(task, Attempt(task.theorem, "unproven"))
    assert [each.theorem.id for each in source.ready] == ["c0_0_1", "c0_0_2"]
    following = source.next()
    assert following is not None and following.work is None  # two are ready
    source.drain()
    assert source.take_counts() == {"verdicts": {"new": 2, "refused": 1}, "lengths": [1, 1]}
    assert source.take_counts() == {"verdicts": {}, "lengths": []}
    lines = list(read_jsonl(tmp_path / "proposals_r0.jsonl"))
    assert [line["verdict"] for line in lines] == ["new", "refused", "new"] and lines[0]["from"]["seed"] == "t0"
    source.close()


def test_counts_are_of_what_passed_each_filter_and_those_before() -> None:
    verdicts = {
        "unreadable": 1,
        "refused": 2,
        "known": 3,
        "held out": 4,
        "vacuous": 5,
        "trivial": 6,
        "false": 8,
        "new": 7,
    }
    assert counted(verdicts, [10, 20]) == {
        "conjectures/proposed": 36,
        "conjectures/well_formed": 33,
        "conjectures/held_out": 4,
        "conjectures/novel": 26,
        "conjectures/not_vacuous": 21,
        "conjectures/not_trivial": 15,
        "conjectures/not_false": 7,
        "conjectures/length": 15,
    }
    experience = experience_of()
    experience.learn(0, [tried_conjecture(1), tried_conjecture(2, "exact Nat.q b")])
    assert tried(experience.conjectures) == {"conjectures/attempted": 2, "conjectures/proved": 1}


# -- A run -----------------------------------------------------------------------------------------------------------


class Session(scripted_rl.Session):
    """A conjecture begins in its last word; of those that begin with W, `simp` proves what they assume absurd."""

    def start(self, theorem: Theorem) -> Any:
        if theorem.dataset != DATASET:
            return super().start(theorem)
        claim = theorem.source.split()[-4]
        if claim == "R":
            raise TheoremRejected("scripted: R")
        return branch(claim)


SCRIPT: dict[str, Any] = {
    **scripted_rl.SCRIPT,
    **{f"C{n}": {"intros": (f"C{n}",), "step": (f"D{n}",)} for n in range(400)},
    **{f"D{n}": {"close": ()} for n in range(200)},
    **{"T": {"intros": ("T",), "simp": ()}, "W": {"intros": ("V",)}, "V": {"exfalso": ("X",)}, "X": {"simp": ()}},
}


class Slot:
    address = "scripted:1"

    def lease(self, timeout: float) -> Session:
        return Session(SCRIPT)


class Network:
    """States claims in turn; half of them have a proof."""

    def __init__(self) -> None:
        self.numbers = itertools.count()
        self.prompts: list[str] = []

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        self.prompts += prompts
        return [[self._text(next(self.numbers))] for _ in prompts]

    def _text(self, number: int) -> TextSample:
        kinds = [f": C{number}", f": C{number + 200}", ": R", ": T", ": W", "nothing", ": A3"]
        return TextSample(kinds[number % len(kinds)], 0.0, 3, number % 50 != 49)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        vectors = np.array([[len(text) + 1.0, 1.0] for text in texts]).reshape(-1, 2)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    tokenizer = small.tokenizer()
    small.write_leantree(folder / "data.jsonl", small.transitions())
    with open(folder / "data.jsonl", "a") as file:
        file.write("".join(json.dumps(record) + "\n" for record in [*RECORDS, *({"theorems": []} for _ in range(3))]))
    network = with_reserved_markers(small.model(tokenizer))
    save_checkpoint(folder, 0, network, tokenizer, extra={"stage": "sft"})
    return folder


@pytest.fixture(autouse=True)
def _scripts() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    fleet = Fleet([Slot(), Slot()], None, "scripted", None, is_real=True)  # type: ignore[list-item]
    with (
        mock.patch.dict(sets.DATASETS, scripted=scripted_rl.theorems),
        mock.patch.object(rl, "open_fleet", lambda *_: fleet),
        mock.patch.object(collection, "model_policy", scripted_rl.Policy),
        mock.patch.object(learning, "network_of", lambda policy: Network()),
    ):
        yield
    torch.set_num_threads(threads)


def words(model: Path, path: Path, **options: object) -> list[str]:
    more = {"conjectures": 0.5, "conjecture_batch": 7, "conjecture_simulations": 1, "search_finishers": "simp"}
    return scripted_rl.words(model, path, **{**more, "conjecture_fraction": 0.3, "num_steps": 6, **options})


def test_a_run_attempts_its_conjectures_and_learns_from_them_and_is_resumed(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    assert rl.main(words(model, path, num_steps=5, guide=True)) == 0
    attempts = [attempt for _, attempt in logged_attempts(path)]
    of_conjectures = [attempt for attempt in attempts if attempt.theorem.dataset == DATASET]
    claims = {attempt.theorem.source.split()[-4] for attempt in of_conjectures}
    assert claims and all(claim.startswith("C") for claim in claims)
    assert all(attempt.origin is not None and attempt.origin["seed"].startswith("t") for attempt in of_conjectures)
    metrics = list(read_jsonl(path / "metrics.jsonl"))
    found = {
        name: sum(line.get(name, 0) for line in metrics) for name in metrics[-1] if name.startswith("conjectures/")
    }
    order = [
        found[f"conjectures/{name}"] for name in ("proposed", "well_formed", "novel", "not_vacuous", "not_trivial")
    ]
    assert order == sorted(order, reverse=True) and len(set(order)) == 5
    assert any("conjecture_loss" in line for line in metrics)
    verdicts = {line["verdict"] for line in read_jsonl(path / "proposals_r0.jsonl")}
    assert {"unreadable", "refused", "vacuous", "trivial", "new"} <= verdicts
    shown = list(read_jsonl(path / "conjectures.jsonl"))
    proved = [line for line in shown if line["outcome"] == "proven"]
    assert proved and proved[0]["proof"] and proved[0]["from"]["statement"] and proved[0]["conjecture"]

    before = len(attempts)
    assert rl.main(["--resume-from", str(path), "--num-steps", "6"]) == 0
    theorems = [attempt.theorem for _, attempt in logged_attempts(path) if attempt.theorem.dataset == DATASET]
    assert len(list(logged_attempts(path))) > before
    ids = {theorem.id: theorem.source for theorem in theorems}
    assert all(ids[theorem.id] == theorem.source for theorem in theorems)

    again = ConjectureExperience.with_conjectures(
        RLConfig.from_args(parse_args(words(model, path))), scripted_rl.theorems(), {}
    )
    relearn(again, path)
    assert [each.theorem.id for each in again.conjectures] == list(dict.fromkeys(theorem.id for theorem in theorems))
    known = dict.fromkeys(theorem.source for theorem in theorems)
    assert len(known) == len(ids)  # none is proposed twice, not after the resumption either


class Asked(host.ReplicatedPolicy):
    """Knows the script; no server is asked."""

    def suggest(self, state_text: str, seed: int = 0) -> Any:
        return scripted_rl.Policy().suggest(state_text, seed)


class Host(host.ProverHost):
    policy_class = Asked

    def _open_slots(self, config: Mapping[str, Any]) -> list[Any]:
        return [Slot() for _ in range(config["slots"])]


class Nodes(scripted_host.LocalNodes):
    host_class = Host


@contextmanager
def two_hosts() -> Iterator[None]:
    """Runs have a cluster of two nodes meanwhile."""
    real = Fleet([], None, "scripted", None, is_real=True)
    with (
        mock.patch.object(driver, "RayNodes", Nodes),
        mock.patch.object(driver, "PolicyEndpoint", mock.Mock(return_value=mock.Mock(address="127.0.0.1:1"))),
        mock.patch.object(driver, "lean_of_hosts", lambda *_: real),
        mock.patch.object(driver, "RESTART_SECONDS", 0.0),
        mock.patch.object(scripted_host.LocalNodes, "made", []),
    ):
        yield


def test_hosts_examine_and_attempt_conjectures_and_a_lost_one_takes_none_along(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"

    def lose_a_host() -> None:
        file = path / "proposals_r0.jsonl"
        wait_for(lambda: file.exists() and file.stat().st_size > 0, "a proposal", 240)
        Nodes.made[0].kill()

    killer = threading.Thread(target=lose_a_host, daemon=True)
    with two_hosts():
        killer.start()
        assert rl.main(words(model, path, num_steps=3, cluster="h:1")) == 0
        killer.join()
        assert Nodes.made[0].lost, "another host starts where there is work left"
    logged = list(logged_attempts(path))
    of_conjectures = [attempt for _, attempt in logged if attempt.theorem.dataset == DATASET]
    assert {attempt.outcome for attempt in of_conjectures} == {"proven", "unproven"}
    assert all(attempt.origin is not None and attempt.origin["seed"].startswith("t") for attempt in of_conjectures)
    verdicts = {line["verdict"] for line in read_jsonl(path / "proposals_r0.jsonl")}
    assert {"unreadable", "refused", "vacuous", "trivial", "known", "new"} <= verdicts
    assert any("conjecture_loss" in line for line in read_jsonl(path / "metrics.jsonl"))
    with two_hosts():
        assert rl.main(["--resume-from", str(path), "--num-steps", "4"]) == 0
    theorems = [attempt.theorem for _, attempt in logged_attempts(path) if attempt.theorem.dataset == DATASET]
    assert len(theorems) > len(of_conjectures)
    ids = {theorem.id: theorem.source for theorem in theorems}
    assert len(set(ids.values())) == len(ids) and all(ids[each.id] == each.source for each in theorems)


def test_what_is_examined_elsewhere_has_the_verdicts_that_it_has_here() -> None:
    claims = [": C1", ": C2", ": R", ": T", ": W", "nothing", ": C1", ": C3"]

    def written(statements: Statements) -> list[Proposed]:
        read = [read_proposed(claim, True, "", ORIGIN) for claim in claims]
        return [statements.checked(each) if each.verdict == "new" else each for each in read]

    def statements() -> Statements:
        return Statements(known={unordered_form(": C2")}, key=lambda source: "key" + source.split()[-4])

    here, there = (Examination(written(known), known, ("simp",)) for known in (statements(), statements()))
    here.run(Session(SCRIPT), mock.MagicMock())
    told = json.loads(json.dumps(there.to_json()))
    other = Examiner(("simp",), embedded=False).work(NO_ATTEMPT, told)
    other.run(Session(SCRIPT), mock.MagicMock())
    found = json.loads(json.dumps(other.found()))
    there.take(found)
    assert [each.verdict for each in there.proposed] == [each.verdict for each in here.proposed]
    assert [each.verdict for each in here.proposed] == [
        *("new", "known", "refused", "trivial", "vacuous", "unreadable", "known", "new")
    ]
    there.take(found[:2])  # the server was lost
    assert [each.verdict for each in there.proposed] == ["known", "known", "refused"]


def test_a_network_that_states_no_conjectures_is_refused(model: Path, tmp_path: Path) -> None:
    plain = scripted_rl.make_model(tmp_path)
    with pytest.raises(UserError, match="sft --continuations conjecture"):
        rl.main(words(plain, tmp_path / "run", sft_data=model / "data.jsonl"))
    with pytest.raises(UserError, match="--conjecture-tokens must be less than 126"):
        rl.main(words(model, tmp_path / "run", conjecture_tokens=126))
    with pytest.raises((UserError, SystemExit)):
        rl.main(words(model, tmp_path / "run", conjectures=0.0, guide=True))
