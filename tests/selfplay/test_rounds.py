"""Rounds of self-play: over a scripted model and Lean with real training, killed in each phase, and their reports."""

import json
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nanoproof import runs
from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.data.weighted_rows import read_packed_json
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.model.gpt import with_reserved_markers
from nanoproof.monitor.runs import RunList
from nanoproof.selfplay import __main__ as selfplay
from nanoproof.selfplay import rounds as playing
from nanoproof.selfplay.files import RoundFiles, problem_from_json, problem_to_json, renamed, without_verdict
from nanoproof.selfplay.formulas import Problem, Seed, conjecture_of
from nanoproof.selfplay.selfplay_options import SelfPlayOptions
from tests.cluster import scripted_host
from tests.helpers import as_command, ended, start_forked, wait_for
from tests.selfplay import scripted_selfplay
from tests.selfplay.scripted_selfplay import words
from tests.training import small

pytestmark = pytest.mark.slow

KILLS = ("gather:1", "proof:3", "verify:12", "write:1", "train:2", "tensors:1")
KILLS += ("conjecture:2", "verify:20", "trained:1", "conjecture:3")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A network, and a configuration of statements with a file of lemmas beside it."""
    folder = tmp_path_factory.mktemp("given")
    tokenizer = small.tokenizer()
    network = with_reserved_markers(small.model(tokenizer, sequence_len=256))
    save_checkpoint(folder / "network", 0, network, tokenizer, extra={"stage": "sft"})
    rows = [{"formal_statement": f"theorem t{n} : {n} = x := by\n  sorry", "split": "train"} for n in range(100, 130)]
    (folder / "statements.json").write_text(json.dumps(rows))
    (folder / "config.json").write_text(json.dumps([{"dataset_path": "statements.json", "weight": 2}]))
    lemmas = {lemma: ["F.lean", f"theorem {lemma} : L := rfl"] for lemma in scripted_selfplay.LEMMAS}
    (folder / "lemmas.json").write_text(json.dumps(lemmas))
    return folder / "network", folder / "config.json"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, nanoproof_home: str) -> None:
    for module, name, value in scripted_selfplay.patches():
        monkeypatch.setattr(module, name, value)


@pytest.fixture(scope="module")
def played(given: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment of three rounds that nothing disturbed."""
    folder = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NANOPROOF_HOME", str(folder))
        patch.setenv("CHECKED", str(folder / "checked"))
        for module, name, value in scripted_selfplay.patches():
            patch.setattr(module, name, value)
        assert selfplay.main(words(*given, folder / "exp")) == 0
    return folder / "exp"


def records(experiment: Path, number: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_packed_json(RoundFiles.of(experiment, number).generated)
    return found


def test_three_rounds_prove_conjecture_and_learn(played: Path) -> None:
    counts = [read_json(played / f"round{number}" / "metrics.json") for number in range(3)]
    assert all(each["combined/nr_examples_proof"] > 0 for each in counts)
    assert counts[0]["combined/nr_examples_conjecture"] == 0 < counts[2]["combined/nr_examples_conjecture"]
    assert counts[0]["succ rate"] <= counts[1]["succ rate"] <= counts[2]["succ rate"]
    assert sum(each["multiplicity"] for each in records(played, 0)) == 30 * 12
    later = records(played, 1)
    assert any("conjecture 1" in each["label"] for each in later)
    rows = read_json(played / "round2" / "train_ds.json")
    conjecture = next(row for row in rows if "<hard theorem>" in row["prompt"])
    assert conjecture["prompt"].endswith("<hard theorem>\n<|conjecture|>") and 0 < conjecture["weight"] < 5
    assert conjecture["target"].startswith("theorem c") and conjecture["target"].endswith(" := by\n</hard theorem>")
    examples = read_packed_json(played / "round2" / "conjecture_examples.json.gz")
    assert {each["shared_lemma"] for each in examples} <= {"", *scripted_selfplay.LEMMAS}
    tally = read_json(RoundFiles.of(played, 1).work / "conjectures.json")
    assert tally["proposed"] == tally["unreadable"] + tally["known"] + tally.get("surplus", 0) + tally["kept"]
    refused = [each for each in later if "ill" in each["statement"]]
    assert refused and not any(each["complete"] or without_verdict(each) for each in refused)


def test_each_text_of_a_statement_is_verified_once(played: Path) -> None:
    checked = Counter((played.parent / "checked").read_text(encoding="utf-8").splitlines())
    of_round = [
        {(each["statement"], each["proof"]) for each in records(played, number) if " ill" not in each["statement"]}
        for number in range(3)
    ]
    assert checked.total() == sum(map(len, of_round)) and max(checked.values()) <= 3


@pytest.mark.nightly
def test_an_experiment_that_is_killed_in_each_phase_ends_as_if_it_was_not(
    played: Path, given: tuple[Path, Path], tmp_path: Path
) -> None:
    environment = {"NANOPROOF_HOME": tmp_path, "CHECKED": tmp_path / "checked"}
    arguments, said = [*map(str, given), str(tmp_path / "exp"), *KILLS], tmp_path / "said"
    assert ended([start_forked(as_command, scripted_selfplay.main, said, arguments, **environment)], 900) == [0], (
        said.read_text()[-2000:]
    )
    for number in range(3):
        for name in ("train_ds.json", "RL_model/model_5.pt"):
            ours, theirs = ((each / f"round{number}" / name).read_bytes() for each in (tmp_path / "exp", played))
            assert ours == theirs, f"round {number}: {name}"
        assert _fates(tmp_path / "exp", number) == _fates(played, number)
    checked = Counter((tmp_path / "checked").read_text(encoding="utf-8").splitlines())
    before = Counter((played.parent / "checked").read_text(encoding="utf-8").splitlines())
    assert set(checked) == set(before)
    assert checked.total() - before.total() <= 2 * len(KILLS), "what had a verdict was verified again"


def test_a_round_that_lost_its_verdicts_is_not_over_at_any_time(
    given: tuple[Path, Path], tmp_path: Path, scripted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = RoundFiles.of(tmp_path / "exp", 0)

    def lost(record: Mapping[str, Any]) -> bool:
        assert not files.generated.exists()
        return True

    monkeypatch.setattr(playing, "without_verdict", lost)
    with pytest.raises(UserError, match=r"round 0: 90 attempts have no verdict; with Lean back, the command goes on"):
        selfplay.main(words(*given, tmp_path / "exp", "--samples-first", "3"))
    assert not files.generated.exists()


class Host(scripted_host.VerifyingHost):
    def _open_slots(self, config: Mapping[str, Any]) -> list[Any]:
        return [scripted_selfplay.Client() for _ in range(config["slots"])]


class Nodes(scripted_host.LocalNodes):
    host_class = Host


def test_rounds_whose_proofs_hosts_verify_come_to_the_same_and_go_on_without_a_cluster(
    given: tuple[Path, Path], tmp_path: Path, scripted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ("--sampler", "parallel", "--samples-first", "4", "--samples", "1", "--rounds")
    assert selfplay.main(words(*given, tmp_path / "alone", *more, 1)) == 0
    scripted_host.script_cluster(monkeypatch, Nodes)
    monkeypatch.setenv("CHECKED", str(tmp_path / "checked"))
    monkeypatch.setenv("SLOW", "0.01")

    def checked() -> Counter[str]:
        file = tmp_path / "checked"
        return Counter(file.read_text(encoding="utf-8").splitlines() if file.exists() else [])

    def lose_a_host() -> None:
        wait_for(lambda: checked().total() >= 20, "verifications", 240)
        Nodes.made[0].kill()

    killer = threading.Thread(target=lose_a_host, daemon=True)
    killer.start()
    assert selfplay.main(words(*given, tmp_path / "exp", *more, 1, "--cluster", "h:1")) == 0
    killer.join()
    assert [nodes.lost > 0 for nodes in Nodes.made] == [True], "another host starts where there is work left"
    assert checked().total() - len(checked()) <= 2, "what was under way, and no more"
    assert _fates(tmp_path / "exp", 0) == _fates(tmp_path / "alone", 0)
    assert selfplay.main(words(*given, tmp_path / "exp", *more, 2)) == 0
    assert len(records(tmp_path / "exp", 1)) > 0


def test_conjectures_are_the_same_whoever_writes_them(
    given: tuple[Path, Path], tmp_path: Path, scripted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "BATCH", 2)
    asked = []

    class Spread(scripted_selfplay.Model):
        batches = 3

        def generate(self, prompts: Any, options: Any, seeds: Any) -> Any:
            asked.append(len(prompts))
            return super().generate(prompts, options, seeds)

    @contextmanager
    def spread(model: Any) -> Iterator[Spread]:
        yield Spread()

    seeds = [Seed(Problem(f"theorem t{n} : {n} = x", label=("train",)), "simp") for n in range(7)]
    made = []
    for name, more in (("alone", {}), ("spread", {"spread": spread})):
        options = playing.SelfPlayOptions(
            str(given[0]), str(given[1]), str(tmp_path / name), held_out=("none",), device_type="cpu"
        )
        experiment = playing.Experiment(options, lambda values: 0, **more)
        made.append(experiment._conjectures(RoundFiles.of(tmp_path / name, 1), experiment.dataset, seeds, "sft/run"))
    assert asked == [6, 1]
    assert made[0] == made[1] != []


def _fates(experiment: Path, number: int) -> list[tuple[Any, ...]]:
    names = ("statement", "proof", "complete", "multiplicity", "label", "invokes", "round")
    return [tuple(map(str, map(each.get, names))) for each in records(experiment, number)]


def test_a_report_counts_proofs_by_label_and_kind(
    played: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NANOPROOF_HOME", str(played.parent))
    assert selfplay.main(["report", played.name]) == 0  # as the list of runs names it
    printed = capsys.readouterr().out
    complete = [each for each in records(played, 1) if each["complete"]]
    conjectured = sum("conjecture 1" in each["label"] for each in complete)
    own = len(complete) - conjectured
    assert conjectured > 0 < own
    part = printed[printed.index("round 1: ") : printed.index("round 2: ")]
    rate = read_json(played / "round1" / "metrics.json")["succ rate"]
    assert part.startswith(f"round 1: {rate:.3f}% of 30 statements proved so far")
    assert f"proofs of the data  {own:>10,}" in part and f"proofs, conjectures {conjectured:>10,}" in part
    assert f"{conjectured:>14,}  train + conjecture 1" in part
    attempts, stated = (
        records(played, 1),
        {each["statement"] for each in records(played, 1) if "c" in each["label"][-1]},
    )
    proved = {each["statement"] for each in complete} & stated
    assert f"conjectures tried   {len(stated):>10,}, {len(proved):,} of them proved" in part
    assert f"samples             {sum(r['multiplicity'] for r in attempts):>10,}, {len(attempts):,} distinct" in part


def test_a_final_training_merges_rounds(played: Path, given: tuple[Path, Path], tmp_path: Path, scripted: None) -> None:
    network, config = given
    extra = tmp_path / "sft.json"
    extra.write_text(json.dumps([{"prompt": "theorem : x := by\n<|proof|>", "target": "old", "weight": 3}]))
    line = ["--final", "--merge", f"{played}:2", "--base", str(network), "--dataset-config", str(config)]
    line += ["--batch", "16", "--sft", str(extra), "--device-type", "cpu"]
    counts = {}
    for name, more in (("plain", []), ("more", ["--include-conjectures"])):
        assert selfplay.main([*line, "--exp-dir", str(tmp_path / name), *more]) == 0
        rows = read_json(tmp_path / name / "train_ds.json")
        assert [row["weight"] for row in rows if row["target"] == "old"] == [3]
        counts[name] = len(rows)
        files = [RoundFiles(tmp_path / name, -1)]
        assert next(files[0].model.glob("model_*.pt"), None) is not None
    distinct = {(each["statement"], each["proof"]) for n in (0, 1) for each in records(played, n) if each["complete"]}
    own = {pair for pair in distinct if pair[0].startswith("theorem t")}
    assert len(own) + 1 == counts["plain"] < counts["more"] <= len(distinct) + 1


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--samples", "13"], r"--samples 13: the experiment in .* has 12; use another --exp-dir"),
        (["--temperature", "0.5"], "--temperature 0.5: the experiment in .* has 1.0"),
    ],
)
def test_an_experiment_goes_on_with_its_own_options(
    played: Path, given: tuple[Path, Path], more: list[str], complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint):
        selfplay.main(words(*given, played, *more))


def test_an_experiment_goes_on_with_its_paths_in_other_words(
    played: Path, given: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = Parser()
    add_flags(parser, SelfPlayOptions)
    begun = from_args(SelfPlayOptions, parser.parse_args(words(*given, played)))

    def model_of(spec: str) -> str | None:
        options = replace(begun, model_path=spec, dataset_config=os.path.relpath(given[1]))
        experiment = playing.Experiment(options, lambda words: 0)
        experiment._check_settings()
        return experiment.options.model_path

    monkeypatch.chdir(given[0].parent)
    assert model_of("./network/") == begun.model_path
    for other in (".", "hf:network"):
        with pytest.raises(UserError, match=rf"--model-path {other}: the experiment in .* has /"):
            model_of(other)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("--dataset-config f --exp-dir d", "give --model-path"),
        ("--dataset-config f --exp-dir d --final --base b", "--final needs --merge"),
        ("--dataset-config f --exp-dir d --model-path b --merge x:1", "go with --final"),
        ("--dataset-config f --exp-dir d --model-path openai:http://h:1/v1#m", "cannot be trained"),
        ("--model-path b --exp-dir d", "give --dataset-config"),
    ],
)
def test_options_that_do_not_go_together(line: str, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        selfplay.main(line.split())


@pytest.mark.parametrize(("given_tokens", "tokens"), [((), 128), (("--max-tokens", "200"), 200)])
def test_texts_are_as_long_as_the_network_writes(
    given: tuple[Path, Path], tmp_path: Path, given_tokens: tuple[str, ...], tokens: int
) -> None:
    network, config = map(str, given)
    parser = Parser()
    add_flags(parser, SelfPlayOptions)
    line = ["--model-path", network, "--dataset-config", config, "--exp-dir", str(tmp_path / "e"), *given_tokens]
    experiment = playing.Experiment(from_args(SelfPlayOptions, parser.parse_args(line)), lambda words: 0)
    theorems = tmp_path / "t.jsonl"
    asked = experiment._evaluation_options(RoundFiles(tmp_path / "e", 0), theorems, network)
    assert asked["proof_max_new_tokens"] == tokens


def test_an_experiment_that_is_played_is_in_use_and_says_how_it_fares(given: tuple[Path, Path], tmp_path: Path) -> None:
    def fares() -> str:
        return RunList(tmp_path).runs()["items"][0]["state"]["name"]

    path = tmp_path / "e"
    experiment = playing.Experiment(playing.SelfPlayOptions(str(given[0]), str(given[1]), str(path)), lambda words: 0)
    with experiment.locked():
        assert fares() == "running"
        for meddle in (lambda: experiment.locked().__enter__(), lambda: runs.remove(path)):
            with pytest.raises(UserError, match="is in use by process"):
                meddle()
        (path / "finished").touch()
    assert fares() == "finished"
    with experiment.locked():  # with more rounds
        pass
    assert fares() == "stopped"


def test_a_conjecture_keeps_its_seed_as_json() -> None:
    parent = Problem("theorem p : P := by", "open Nat\n", ("train",))
    made = conjecture_of(Seed(parent, "simp", "L", "theorem L : Q"), "theorem c : C := by")
    assert problem_from_json(json.loads(json.dumps(problem_to_json(made)))) == made
    assert problem_from_json(problem_to_json(parent)) == parent


def test_conjectures_that_are_held_out_are_refused_under_other_names(tmp_path: Path) -> None:
    file = tmp_path / "held.jsonl"
    source = "theorem old (a b : Nat) (h : a = b) : b = a := by\n  sorry"
    file.write_text(json.dumps({"id": "old", "source": source}) + "\n")
    refusal = playing.Refusal([str(file)], embedded=False)
    texts = ["theorem new (x y : Nat) (k : x = y) : y = x := by", "theorem new (x y : Nat) (k : x = y) : x = y := by"]
    assert [refusal(Problem(text)) for text in [*texts, "theorem := by"]] == [True, False, True]
    assert refusal.reasons == {"held out": 1, "not a theorem": 1}


def test_a_conjecture_has_no_name_that_is_taken() -> None:
    problem = Problem("theorem Nat.x (n : Nat) : n = n := by", None, ("conjecture 1",))
    assert renamed(problem, {"Nat"}) == problem
    other = renamed(problem, {"Nat.x", "Nat.x_new"})
    assert other.statement == "theorem Nat.x_new_new (n : Nat) : n = n := by" and other.label == problem.label
    for rest in ("{p : Prop} : p → p := by", ".{u} (α : Sort u) : p := by", "\n  (n : Nat) : p := by", ": p := by"):
        assert renamed(Problem(f"theorem x{rest}"), {"x"}).statement == f"theorem x_new{rest}"


@pytest.mark.parametrize(
    ("reason", "lost"), [("ProcessLost", True), ("PolicyServerError", True), ("ServerTimeout", False)]
)
def test_what_took_too_long_was_not_lost(reason: str, lost: bool) -> None:
    assert without_verdict({"system_errors": "test failed", "stop_reason": reason}) is lost
    assert not without_verdict({"complete": False})


def test_copies_of_a_prompt_are_asked_for_with_different_seeds() -> None:
    seeds = {playing.request_seed(number, index) for number in range(3) for index in range(100)}
    assert len(seeds) == 300


def test_models_of_transformers_play_with_the_prompts_of_stp(
    given: tuple[Path, Path], tmp_path: Path, scripted: None
) -> None:
    hf_models = pytest.importorskip("tests.fakes.hf_models")
    folder = hf_models.save_decoder(tmp_path / "model")
    line = words(folder, given[1], tmp_path / "exp", "--lora", "2", "--max-length", "96")
    line[1], line[line.index("--rounds") + 1] = f"hf:{folder}", "2"
    assert selfplay.main(line) == 0
    rows = [row for number in range(2) for row in read_json(tmp_path / "exp" / f"round{number}" / "train_ds.json")]
    start = (
        "Complete the following Lean 4 code:\n\n```lean4\nimport Mathlib\nimport Aesop\nset_option maxHeartbeats 0\n"
    )
    start += "open BigOperators Real Nat Topology Rat\n\n"
    assert all(row["prompt"].startswith(start) for row in rows)
    proof = next(row for row in rows if "<hard theorem>" not in row["prompt"])
    assert proof["prompt"].removeprefix(start).endswith(" := by") and proof["target"].endswith("\n```")
    last = tmp_path / "exp" / "round1" / "RL_model" / "checkpoint-5"
    assert read_json(last / "nanoproof.json")["prompt_format"] == "stp"
    assert read_json(last / "adapter_config.json")["r"] == 2
    conjectures = read_packed_json(tmp_path / "exp" / "round1" / "conjecture_examples.json.gz")
    asked = [row for row in rows if "<hard theorem>" in row["prompt"]]
    assert len(asked) == len(conjectures) > 0
    assert asked[0]["prompt"].removeprefix(start).startswith("<lemma>\ntheorem ")
    assert asked[0]["prompt"].endswith("\n<hard theorem>") and asked[0]["target"].startswith("\ntheorem c")
    settings = read_json(RoundFiles.of(tmp_path / "exp", 1).attempts / "settings.json")["settings"]
    assert settings["text_model"]["dtype"] == "float64", "no sample depends on its batch"
    args = read_json(tmp_path / "exp" / "round1" / "RL_model" / "args.json")
    assert (args["lr"], args["lora_lr"], args["constant_lr"], args["beta2"]) == (5e-5, 5e-5, True, 0.95)
    assert args["warmup_frac"] == pytest.approx(4 / 5) and args["seed"] == 2333
    assert args["model_path"].endswith("round0/RL_model/checkpoint-5")


@pytest.mark.parametrize(("sampler", "trained"), [("expert", True), ("parallel", False)])
def test_the_baselines(given: tuple[Path, Path], tmp_path: Path, scripted: None, sampler: str, trained: bool) -> None:
    line = words(*given, tmp_path / "exp", "--sampler", sampler, "--statements-per-round", "20")
    line[line.index("--rounds") + 1] = "2"
    assert selfplay.main(line) == 0
    tried = [{each["statement"] for each in records(tmp_path / "exp", number)} for number in range(2)]
    assert not any("c" in statement.split()[1] for statement in tried[0] | tried[1])
    proved = {each["statement"] for each in records(tmp_path / "exp", 0) if each["complete"]}
    assert len(tried[0]) == 20
    if not trained:
        assert len(tried[1]) == 20 and not (tmp_path / "exp" / "round1" / "RL_model").exists()
        return
    assert not tried[1] & proved and len(tried[1]) <= 20
    args = read_json(tmp_path / "exp" / "round1" / "RL_model" / "args.json")
    assert args["model_path"] == str(given[0]), "each round trains the first model anew"
    rows = read_json(tmp_path / "exp" / "round1" / "train_ds.json")
    everything = {(e["statement"], e["proof"]) for n in range(2) for e in records(tmp_path / "exp", n) if e["complete"]}
    assert len(rows) == len(everything), "on the proofs of all rounds"
