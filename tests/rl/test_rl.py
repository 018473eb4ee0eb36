"""The loop of reinforcement learning, over a scripted Lean and a scripted policy."""

import errno
import json
import os
import resource
import signal
import time

import pytest
import torch

from nanoproof.actors.fleet import Fleet
from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.model.checkpoint import load_model
from nanoproof.model.checkpoint_files import finished_steps
from nanoproof.prover.attempt_log import AttemptLog, logged_attempts
from nanoproof.rl import __main__ as rl
from nanoproof.rl import collection, evaluations
from nanoproof.rl.learner import Learner, Roles
from nanoproof.training import step
from nanoproof.training import step as not_finite
from tests.rl import scripted_rl
from tests.rl.scripted_rl import Policy, words

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _scripts():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with scripted_rl.scripted():
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return scripted_rl.make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def runs():
    runs = scripted_rl.Runs()
    yield runs
    runs.close()


@pytest.fixture(scope="module")
def run_path(model, tmp_path_factory):
    """A run of four steps, collecting in every other, evaluated after two on two benchmarks."""
    path = tmp_path_factory.mktemp("runs") / "rl"
    options = {"eval_datasets": "scripted,twin", "eval_every": "2steps", "eval_start": True, "keep_checkpoints": 1}
    assert rl.main(words(model, path, num_steps=4, collect_every=2, **options)) == 0
    return path


def metrics(path):
    return list(read_jsonl(path / "metrics.jsonl"))


def events(path, kind, name="events.jsonl"):
    return [event for event in read_jsonl(path / name) if event["kind"] == kind]


def test_a_run_collects_trains_and_counts_what_it_did(run_path):
    records = metrics(run_path)
    assert [record["step"] for record in records] == [1, 2, 3, 4]
    assert [record.get("transitions", 0) >= 6 for record in records] == [True, False, True, False]
    assert all(record["loss"] > 0 and record["lr_factor"] == 0.02 for record in records)
    assert records[2]["theorems_proven"] > 0
    assert load_model(run_path)[2]["extra"]["loop"]["step"] == 4


def test_benchmarks_are_evaluated_at_the_start_on_the_way_and_in_the_end(run_path):
    found = [(event["step"], event["dataset"], event["solved"]) for event in events(run_path, "evaluation")]
    assert found == [(number, name, 4) for number in (0, 2, 4) for name in ("scripted", "twin")]
    assert sorted(path.name for path in (run_path / "evals").iterdir())[:2] == ["0_scripted_valid", "0_twin_valid"]


def test_the_best_checkpoint_is_known_and_kept(run_path):
    best = read_json(run_path / "best.json")
    assert best["step"] == 4 and best["solved"] == 8 and best["benchmarks"]["twin"] == {"solved": 4, "total": 4}
    assert (run_path / best["checkpoint"]).exists()


@pytest.mark.nightly
def test_a_checkpoint_that_solved_more_than_later_ones_is_kept_beside_the_newest(model, tmp_path, monkeypatch):
    real, solved = evaluations.evaluate, iter([3, 1, 2])
    monkeypatch.setattr(evaluations, "evaluate", lambda *args: {**real(*args), "solved": next(solved)})
    path = tmp_path / "rl"
    options = {"eval_start": True, "eval_every": "1steps", "save_every": "1steps", "keep_checkpoints": 1}
    assert rl.main(words(model, path, num_steps=2, **options)) == 0
    assert read_json(path / "best.json")["step"] == 0 and finished_steps(path) == [0, 2]


@pytest.mark.nightly
def test_a_run_that_came_to_its_end_says_so_until_it_goes_on(model, run_path):
    assert (run_path / "finished").exists() and len(events(run_path, "finished")) == 1
    before = len(list(logged_attempts(run_path)))
    assert rl.main(["--resume-from", str(run_path), "--num-steps", "5"]) == 0
    assert [record["step"] for record in metrics(run_path)] == [1, 2, 3, 4, 5]
    steps = [number for number, _ in logged_attempts(run_path)]
    assert len(steps) > before and steps == sorted(steps)
    assert len(events(run_path, "finished")) == 2


@pytest.mark.nightly
def test_the_policy_rests_only_while_weights_change(model, tmp_path, monkeypatch):
    real = Learner.update
    monkeypatch.setattr(Learner, "update", lambda *args: (Policy.log.append("update"), real(*args))[1])
    for name in ("save", "digests"):
        monkeypatch.setattr(Learner, name, _logged(getattr(Learner, name), name))
    options = {"check_ranks": True, "save_every": "1steps", "num_updates_per_step": 2, "num_steps": 2}
    rl.main(words(model, tmp_path / "rl", **options))
    one = ["pause", "update", "update", "resume", "digests", "save"]
    assert Policy.log == ["save", *one, *one]


@pytest.mark.nightly
def test_an_asynchronous_run_hands_over_weights_and_never_rests(model, tmp_path, monkeypatch, capfd):
    real = Learner.update
    monkeypatch.setattr(Learner, "update", lambda *args: (Policy.log.append("update"), real(*args))[1])
    path, options = tmp_path / "rl", {"asynchronous": True, "max_staleness": 3, "num_steps": 4}
    assert rl.main(words(model, path, **options)) == 0
    assert Policy.log == ["update", "update", "renew"] * 4
    records, attempts = metrics(path), list(read_jsonl(path / "attempts_r0.jsonl"))
    assert all(record["stale"] >= 0 and record["attempt_staleness_max"] <= 3 for record in records)
    assert {tuple(one["revisions"]) for one in attempts} <= {(a, b) for b in range(5) for a in range(b + 1)}
    assert read_json(path / "meta.json")["decisions"]["inference"].endswith("more than 3 steps old are dropped")
    assert rl.main(["--resume-from", str(path), "--num-steps", "5"]) == 0
    assert Policy.log == ["update", "update", "renew"]


def _logged(method, name):
    def logged(*args):
        Policy.log.append(name)
        return method(*args)

    return logged


@pytest.mark.nightly
def test_a_run_on_sft_data_alone_proves_nothing_but_its_benchmark(model, tmp_path):
    options = {"collect_transitions": 0, "fraction_sft": 1, "eval_start": True, "eval_every": "1steps", "num_steps": 3}
    assert rl.main(words(model, tmp_path / "rl", **options)) == 0
    assert len(events(tmp_path / "rl", "evaluation")) == 4
    assert list(logged_attempts(tmp_path / "rl")) == []


def test_another_run_can_start_with_the_attempts_of_one(model, run_path, tmp_path):
    assert rl.main(words(model, tmp_path / "rl", num_steps=0, load_buffer=run_path)) == 0
    assert read_json(tmp_path / "rl" / "status_r0.json")["attempts"] >= len(list(logged_attempts(run_path)))


def test_a_run_without_attempts_is_none_to_start_with(model, tmp_path):
    with pytest.raises(UserError, match=r"--load-buffer .*: .* holds no attempts"):
        rl.main(words(model, tmp_path / "rl", num_steps=0, load_buffer=model))
    assert not (tmp_path / "rl").exists()


def test_a_run_does_not_count_its_own_attempts_twice(run_path):
    with pytest.raises(UserError, match=r"--load-buffer .* is the run that is resumed"):
        rl.main(["--resume-from", str(run_path), "--load-buffer", str(run_path)])


def test_a_run_that_is_over_says_why_it_makes_no_step(model, run_path, tmp_path, capfd):
    with pytest.raises(UserError, match=r"--resume-from .*: the run has [45] steps already, more than the 3"):
        rl.main(["--resume-from", str(run_path), "--num-steps", "3"])
    path = tmp_path / "rl"
    rl.main(words(model, path, num_steps=1))
    checkpoint = path / "model_1.json"
    manifest = read_json(checkpoint)
    manifest["extra"]["loop"]["seconds"] = 3700.0
    checkpoint.write_text(json.dumps(manifest))
    assert rl.main(["--resume-from", str(path), "--num-steps", "2", "--max-time", "1:00:00"]) == 0
    assert "the run has had 1:01:40 already, of --max-time 1:00:00" in capfd.readouterr().err
    assert len(metrics(path)) == 1


def test_a_resumed_run_keeps_its_options_and_the_buffer_it_began_with(tmp_path):
    saved = {"model_path": "sft/x", "resume_from": None, "load_buffer": "rl/other", "seed": 7, "run_dir": None}
    (tmp_path / "args.json").write_text(json.dumps(saved))
    args = rl.parse_args(["--resume-from", str(tmp_path)])
    assert (args.model_path, args.load_buffer, args.seed, args.run_dir) == (None, "rl/other", 7, str(tmp_path))


def test_a_loss_that_is_not_finite_ends_the_run_with_a_record_of_the_step(model, tmp_path, monkeypatch):
    path, calls = tmp_path / "rl", []

    def broken(*args):
        calls.append(1)
        loss, parts = real(*args)
        return (loss * float("nan") if len(calls) > 2 else loss), parts

    real = step.transition_loss
    for module in (step, not_finite):
        monkeypatch.setattr(module, "transition_loss", broken)
    options = {"num_updates_per_step": 1, "save_every": "1steps", "num_steps": 5, "device_batch_size": 100}
    with pytest.raises(
        UserError, match=r"step 3: the loss is nan.* the last checkpoint is of step 2; .*not_finite_3_r0"
    ):
        rl.main(words(model, path, **options))
    assert read_json(path / "not_finite_3_r0.json")["pieces"][0]["loss"] == "nan"
    assert torch.load(path / "not_finite_3_r0.pt")["tokens"].shape[1] == 128
    assert finished_steps(path)[-1] == 2 and not (path / "finished").exists()
    monkeypatch.setattr(step, "transition_loss", real)
    assert rl.main(["--resume-from", str(path), "--num-steps", "3"]) == 0


def test_a_full_disk_under_the_attempt_log_ends_the_run_which_goes_on_later(model, tmp_path, monkeypatch):
    path, real, written = tmp_path / "rl", AttemptLog.write, []

    def write(log, *args, **kwargs):
        written.append(1)
        if len(written) > 4:
            try:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError as error:
                raise UserError("the log cannot be written") from error
        real(log, *args, **kwargs)

    monkeypatch.setattr(AttemptLog, "write", write)
    with pytest.raises(UserError, match=r"make room on the disk of .*rl, then resume with --resume-from .*rl$"):
        rl.main(words(model, path, num_steps=50))
    monkeypatch.setattr(AttemptLog, "write", real)
    assert len(list(logged_attempts(path))) == 4
    assert rl.main(["--resume-from", str(path), "--num-steps", "2"]) == 0


@pytest.mark.nightly
def test_a_checkpoint_that_does_not_fit_leaves_the_one_before(model, tmp_path, monkeypatch):
    path, real = tmp_path / "rl", Learner.save

    def save(learner, run_path):
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        if learner.state.step == 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
        try:
            return real(learner, run_path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    monkeypatch.setattr(Learner, "save", save)
    with pytest.raises(UserError, match="make room on the disk"):
        rl.main(words(model, path, save_every="1steps", num_steps=3))
    assert finished_steps(path) == [0, 1]
    assert not [file for file in path.iterdir() if file.name.endswith(".tmp")]
    monkeypatch.setattr(Learner, "save", real)
    assert rl.main(["--resume-from", str(path)]) == 0


def test_a_disk_that_is_full_at_the_first_save_leaves_nothing_to_go_on_with(model, tmp_path, monkeypatch):
    limits, real = resource.getrlimit(resource.RLIMIT_FSIZE), Learner.save

    def save(learner, run_path):
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
        try:
            return real(learner, run_path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    monkeypatch.setattr(Learner, "save", save)
    with pytest.raises(
        UserError, match=r"no checkpoint was saved yet: make room on the disk of .*start again$"
    ) as told:
        rl.main(words(model, tmp_path / "rl"))
    assert "--resume-from" not in str(told.value)


@pytest.mark.parametrize("options", [{"eval_start": True}, {"eval_start": "2steps", "eval_every": "1steps"}])
def test_damaged_notes_of_a_run_are_written_anew_when_it_goes_on(model, tmp_path, options, capfd):
    path = tmp_path / "rl"
    assert rl.main(words(model, path, num_steps=2, **options)) == 0
    best = read_json(path / "best.json")
    (path / "best.json").write_text('{"step": 0, "sol')
    (path / "meta.json").write_text('{"decisions": {"dev')
    capfd.readouterr()
    assert rl.main(["--resume-from", str(path), "--num-steps", "2"]) == 0
    assert read_json(path / "best.json") == best and "device" in read_json(path / "meta.json")["decisions"]
    said = capfd.readouterr().err
    assert "best.json was damaged and is written anew" in said and "meta.json was damaged and is written anew" in said


def test_the_preset_reaches_search_matchmaker_and_disproof_and_given_flags_win():
    plain, preset = rl.parse_args(["--model-path", "x"]), rl.parse_args(["--model-path", "x", "--preset", "alphaproof"])
    assert (plain.search_c_base, plain.mm_base_simulations, plain.disprove_fraction) == (200, 64, 0)
    assert (preset.search_c_base, preset.mm_base_simulations, preset.disprove_fraction) == (3200, 250, 0.5)
    pseudo = rl.parse_args(["--model-path", "x", "--preset", "alphaproof-pseudocode"])
    assert (pseudo.search_rules, pseudo.mm_rules, pseudo.disprove_fraction) == ("pseudocode", "pseudocode", 0.5)
    given = ["--model-path", "x", "--mm-base-simulations", "64", "--preset", "alphaproof", "--search-preset", "default"]
    args = rl.parse_args(given)
    assert (args.search_c_base, args.mm_base_simulations, args.mm_trust, args.disprove_fraction) == (200, 64, 8, 0.5)


@pytest.mark.nightly
def test_the_first_evaluation_can_wait(model, tmp_path):
    path, options = tmp_path / "rl", {"eval_every": "1steps", "num_steps": 3}
    assert rl.main([*words(model, path, **options), "--eval-start", "2steps"]) == 0
    assert [event["step"] for event in events(path, "evaluation")] == [2, 3]
    with pytest.raises(UserError, match="--eval-start must look like 100steps"):
        rl.main([*words(model, tmp_path / "other"), "--eval-start", "soon"])


def test_an_evaluation_that_was_cut_short_goes_on_with_what_it_has(model, tmp_path):
    path = tmp_path / "rl"
    assert rl.main(words(model, path, num_steps=1)) == 0
    files = path / "evals" / "1_scripted_valid"
    (files / "summary.json").unlink()
    lines = (files / "results.jsonl").read_text().splitlines(keepends=True)
    (files / "results.jsonl").write_text("".join(lines[:2]))
    assert rl.main(["--resume-from", str(path)]) == 0
    assert (files / "results.jsonl").read_text().splitlines(keepends=True)[:2] == lines[:2]
    assert read_json(files / "summary.json")["total"] == 4 and len(read_json(files / "settings.json")["parts"]) == 2


@pytest.mark.nightly
def test_an_evaluation_of_a_run_that_is_over_is_not_made_again(model, tmp_path):
    path = tmp_path / "rl"
    assert rl.main(words(model, path, num_steps=1, eval_datasets="scripted,twin")) == 0
    files = [path / "evals" / f"1_{name}_valid" for name in ("scripted", "twin")]
    before = [(folder / "results.jsonl").read_text() for folder in files]
    (files[1] / "summary.json").unlink()
    (files[1] / "settings.json").unlink()  # as if the run had been killed between the two
    (files[1] / "results.jsonl").unlink()
    assert rl.main(["--resume-from", str(path)]) == 0
    assert (files[0] / "results.jsonl").read_text() == before[0]
    assert read_json(files[1] / "summary.json")["total"] == 4


@pytest.mark.nightly
def test_the_best_checkpoint_is_chosen_anew_where_the_evaluation_changed(model, run_path, tmp_path):
    path = tmp_path / "rl"
    assert rl.main(words(model, path, num_steps=1, eval_start=True, keep_checkpoints=1)) == 0
    first = read_json(path / "best.json")
    assert (first["step"], first["solved"]) == (1, 4)  # as many as at the start, and later
    assert rl.main(["--resume-from", str(path), "--num-steps", "2", "--max-eval-theorems", "3"]) == 0
    best = read_json(path / "best.json")
    assert (best["step"], best["solved"]) == (2, 3) and best["of"] != first["of"]


def test_a_run_ends_when_every_theorem_is_disproved(model, tmp_path, monkeypatch):
    monkeypatch.setattr(collection, "event_of", lambda attempt: "disproven")
    options = {"collect_max_time": "0:00:01"}  # what is left may have no proof, and give nothing to train on
    assert rl.main(words(model, tmp_path / "rl", num_steps=1000, **options)) == 0
    assert len(metrics(tmp_path / "rl")) < 60 and (tmp_path / "rl" / "finished").exists()


def test_the_time_of_evaluations_counts(model, tmp_path, monkeypatch):
    monkeypatch.setenv("SLOW", "0.3")
    assert rl.main(words(model, tmp_path / "rl", max_time="0:00:01", eval_start=True, num_steps=1000)) == 0
    assert not metrics(tmp_path / "rl") and (tmp_path / "rl" / "finished").exists()
    assert [event["step"] for event in events(tmp_path / "rl", "evaluation")] == [0]


def test_solvers_can_be_left_to_the_search():
    config = rl.RLConfig.from_args(
        rl.parse_args(["--model-path", "x", "--disable-solvers", "--search-finishers", "none"])
    )
    assert config.search.disable_solvers and config.search.finishers == ("grind",)


@pytest.mark.parametrize(("version", "lean"), [("v4.27.0", "Lean v4.27.0"), (None, "real Lean")])
def test_real_servers_with_data_of_the_embedded_prover_are_warned_of(
    model, tmp_path, monkeypatch, capfd, version, lean
):
    real = Fleet([scripted_rl.Slot(), scripted_rl.Slot()], None, "scripted", version, is_real=True)
    monkeypatch.setattr(rl, "open_fleet", lambda *_: real)
    told = f"nanolean: data of the embedded prover, and the servers run {lean}"
    line = words(model, tmp_path / "rl", eval_datasets="nanolean", max_eval_theorems=1, num_steps=0)
    assert rl.main(line) == 0
    written = capfd.readouterr()
    assert f"--eval-datasets {told}" in written.out + written.err
    assert (written.out + written.err).count(told) == 1
    args = rl.parse_args(["--model-path", "x"])
    rl.follow_lean(args, rl.RL_DATA)
    assert rl.RLConfig.from_args(args).of_nanolean() == ["--datasets", "--sft-data", "--eval-datasets"]


def test_a_memory_profile_needs_a_gpu(model, tmp_path):
    with pytest.raises(UserError, match=r"--memory-profile .* needs a CUDA device"):
        rl.main(words(model, tmp_path / "rl", memory_profile=tmp_path / "memory"))
    assert not (tmp_path / "rl").exists()


@pytest.mark.parametrize("more", [{"asynchronous": True}, {"eval_every": "3steps"}])
def test_two_ranks_have_equal_weights_after_each_step(model, runs, tmp_path, more):
    path = tmp_path / "rl"
    options = {"num_steps": 6, "collect_transitions": 4, "num_updates_per_step": 1, **more}
    runs.start(words(model, path, check_ranks=True, **options), ranks=2)
    assert runs.codes() == [0, 0]
    digests = [
        [event["digest"] for event in events(path, "weights", name)] for name in ("events.jsonl", "events_r1.jsonl")
    ]
    assert digests[0] == digests[1] and len(set(digests[0])) == 6
    assert all(("stale" in record) == ("asynchronous" in more) for record in metrics(path))
    assert all((path / f"attempts_r{rank}.jsonl").stat().st_size > 0 for rank in (0, 1))


@pytest.mark.nightly
def test_ranks_that_only_prove_have_the_weights_of_those_that_only_learn(model, runs, tmp_path):
    path, names = tmp_path / "rl", ("events.jsonl", "events_r1.jsonl", "events_r2.jsonl")
    options = {"num_steps": 3, "collect_transitions": 4, "save_every": "2steps", "num_updates_per_step": 1}
    options |= {"asynchronous": True, "max_staleness": 2, "check_ranks": True}
    runs.start(words(model, path, inference_gpus=1, **options), ranks=3)
    assert runs.codes() == [0, 0, 0]
    digests = [[event["digest"] for event in events(path, "weights", name)] for name in names]
    assert digests[0] == digests[1] == digests[2] and len(set(digests[0])) == 3
    assert [file.name for file in sorted(path.glob("optim_3*"))] == ["optim_3_r0of2.pt", "optim_3_r1of2.pt"]
    assert {rank for _, rank, _ in numbers(path)} == {2} and len(events(path, "evaluation")) == 1
    assert all(record["attempt_staleness_max"] <= 2 for record in metrics(path))
    assert read_json(path / "meta.json")["decisions"]["roles"].startswith("ranks 0 to 1 learn, ranks 2 to 2 prove")
    before = set(numbers(path))
    runs.start(["--resume-from", str(path), "--num-steps", "5"], ranks=2)  # one learns
    assert runs.codes() == [0, 0]
    after = numbers(path)
    assert {rank for _, rank, _ in set(after) - before} == {1} and len(set(after)) == len(after)
    digests = [[event["digest"] for event in events(path, "weights", name)] for name in names[:2]]
    assert digests[0] == digests[1] and len(set(digests[0])) == 5 == len(metrics(path))
    assert [file.name for file in path.glob("optim_5*")] == ["optim_5.pt"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "--inference-gpus needs --asynchronous"),
        ({"asynchronous": True}, "--inference-gpus 1 needs more ranks than the 1 here: torchrun starts them"),
        ({"asynchronous": True, "cluster": "auto"}, "give either --inference-gpus or --cluster"),
    ],
)
def test_ranks_that_only_prove_need_others_that_learn(model, tmp_path, options, message):
    with pytest.raises(UserError, match=message):
        rl.main(words(model, tmp_path / "rl", inference_gpus=1, **options))
    assert not (tmp_path / "rl").exists()


def test_the_last_ranks_prove_and_the_others_learn():
    ranks = [DistInfo(rank, rank, 4, torch.device("cpu"), "", torch.float32, "") for rank in range(4)]
    roles = [Roles(rank, 1) for rank in ranks]
    assert [one.learns for one in roles] == [not one.serves for one in roles] == [True, True, True, False]
    assert {one.learners.world_size for one in roles} == {3} and {one.provers.rank for one in roles} == {0}
    assert [(one.provers.rank, one.provers.world_size) for one in (Roles(rank, 2) for rank in ranks)][2:] == [
        (0, 2),
        (1, 2),
    ]
    assert all(one.learns and one.serves and one.provers == one.learners for one in map(Roles, ranks))
    with pytest.raises(UserError, match="--inference-gpus 4 needs more ranks than the 4 here: one has to learn"):
        Roles.choose(4, ranks[0])


def numbers(path):
    """The number (step, rank, sequence) of each attempt of a run."""
    return [tuple(one["number"].values()) for file in path.glob("attempts_r?.jsonl") for one in read_jsonl(file)]


def phase_of(path):
    """What a run is doing, by its status."""
    try:
        return json.loads((path / "status_r0.json").read_text())["phase"]
    except FileNotFoundError:
        return None


@pytest.mark.parametrize("phase", ["collect", "evaluate"])
def test_a_signal_to_one_of_two_ranks_ends_both_at_once_with_a_checkpoint(model, runs, tmp_path, phase):
    path = tmp_path / "rl"
    options = {"collect_transitions": 100_000} if phase == "collect" else {"eval_start": True, "max_eval_theorems": 12}
    children = runs.start(words(model, path, **options), ranks=2, slow=0.01 if phase == "collect" else 2)
    while phase_of(path) != phase:
        assert phase_of(path) != "stopped"
        time.sleep(0.05)
    os.kill(children[0], signal.SIGUSR1)  # it shows its stacks and goes on
    os.kill(children[1], signal.SIGTERM)
    assert runs.codes() == [0, 0]
    assert finished_steps(path) == [0] and not (path / "finished").exists()
    assert read_json(path / "status_r0.json")["phase"] == "stopped"


def test_a_server_that_loses_every_proof_ends_all_ranks_with_a_checkpoint(model, runs, tmp_path):
    path = tmp_path / "rl"
    runs.start(words(model, path, collect_transitions=100_000), ranks=2, loses="the axioms are not reported")
    assert runs.codes() == [2, 2]
    assert finished_steps(path) == [0] and not (path / "finished").exists()
    assert len(events(path, "lost_proofs")) == 1
    assert {read_json(path / f"status_r{rank}.json")["phase"] for rank in (0, 1)} == {"stopped"}
