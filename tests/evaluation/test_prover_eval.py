"""`scripts.prover_eval` as a user runs it, over a scripted Lean."""

import errno
import json
import os

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.common.run_dir import RunLock, read_lock
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.evaluation import command as eval_command
from nanoproof.evaluation.results import locked
from nanoproof.evaluation.summary import plot_curve
from nanoproof.lean.types import ServerUnavailable
from scripts import prover_eval, test_eval
from tests.evaluation import scripted_eval
from tests.evaluation.scripted_eval import COUNT, open_fleet, scripted_theorems, words
from tests.helpers import as_command, ended, page_data, start_forked, start_ranks, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def scripted(monkeypatch, nanoproof_home, tmp_path):
    monkeypatch.setitem(sets.DATASETS, "scripted", scripted_theorems)
    monkeypatch.setattr(eval_command, "open_fleet", open_fleet)
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path / "home"))


def outcomes(path):
    return {record["theorem"]["id"]: record["outcome"] for record in read_jsonl(path / "results.jsonl")}


def wait_for_results(processes, path, count):
    """Until an evaluation in other processes has as many results."""

    def are_there():
        found = [len(list(read_jsonl(file))) for file in path.glob("results*.jsonl")]
        return sum(found) >= count and (count <= 0 or all(found))

    wait_for(are_there, "results", 240, processes)


def test_an_evaluation_writes_score_results_proofs_curve_and_a_report_to_send(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("nanoproof.evaluation.results.plot_curve", plot_curve)
    assert prover_eval.main(words(tmp_path / "out", "--html", tmp_path / "report.html")) == 0
    answers = page_data((tmp_path / "report.html").read_text(encoding="utf-8"))["answers"]
    assert answers["overview"]["stage"] == "evaluation"
    report = answers["evaluations/out"]
    assert report["evaluation"]["solved"] == 20 and report["settings"]["lean"] == "scripted"
    assert sum(name.startswith("evaluations/out/results/") for name in answers) >= 40  # proofs and failures
    summary = read_json(tmp_path / "out" / "summary.json")
    assert (summary["solved"], summary["failed"], summary["errors"], summary["total"]) == (20, 20, 0, 40)
    assert summary["solved_at"] == {"1": 0, "2": 20, "4": 20} and 0.35 < summary["low"] < 0.5 < summary["high"]
    assert summary["settings"]["lean"] == "scripted" and len(summary["settings"]["theorem_set"]) == 16
    assert {"nanoproof", "torch"} <= summary["versions"].keys()
    assert summary["per_theorem"]["simulations"] == (20 * 2 + 20 * 4) / 40
    assert [record["theorem"]["id"] for record in read_jsonl(tmp_path / "out" / "results.jsonl")] == [
        f"t{number}" for number in range(COUNT)
    ]
    assert len(list((tmp_path / "out" / "proofs").glob("*.lean"))) == 20
    assert "certificates" not in summary  # they are NanoLean's
    assert (tmp_path / "out" / "curve.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert "scripted valid: 20/40 solved, 95% interval 35.2-64.8%, 4 simulations" in printed
    assert "MB, 1 evaluation of 40 theorems (40 in full), 40 trees\n" in printed


def test_a_report_has_the_evaluations_of_its_command_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sets.DATASETS, "again", scripted_theorems)
    short = ("--max-theorems", 2)
    assert prover_eval.main(words(tmp_path / "eval_older", *short)) == 0
    two = ("--datasets", "scripted,again", "--html", tmp_path / "report.html")
    assert prover_eval.main(words(tmp_path, *short, *two)) == 0
    answers = page_data((tmp_path / "report.html").read_text(encoding="utf-8"))["answers"]
    assert {row["name"] for row in answers["evaluations"]["items"]} == {"eval_scripted", "eval_again"}
    assert "MB, 2 evaluations of 4 theorems (4 in full), 4 trees\n" in capsys.readouterr().out


def test_earlier_results_are_not_overwritten_unless_forced(tmp_path):
    assert prover_eval.main(words(tmp_path / "out", "--max-theorems", 4)) == 0
    with pytest.raises(UserError, match="holds earlier results; --continue adds to them, --force overwrites them"):
        prover_eval.main(words(tmp_path / "out"))
    assert prover_eval.main(words(tmp_path / "out", "--max-theorems", 2, "--force")) == 0
    assert outcomes(tmp_path / "out") == {"t0": "proven", "t1": "unproven"}
    assert [file.name for file in (tmp_path / "out" / "proofs").iterdir()] == ["t0.lean"]


def test_a_directory_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"^cannot write to .*/file/out: "):
        prover_eval.main(words(tmp_path / "file" / "out", "--max-theorems", 2))


def test_a_second_process_does_not_write_into_the_directory_of_a_live_evaluation(tmp_path):
    (tmp_path / "out").mkdir()
    lock = RunLock(tmp_path / "out")
    for more in ((), ("--continue",), ("--force",)):
        with pytest.raises(UserError, match=f"out is in use by process {os.getpid()} on"):
            prover_eval.main(words(tmp_path / "out", *more))
    lock.release()
    assert prover_eval.main(words(tmp_path / "out")) == 0
    assert not (tmp_path / "out" / "run.lock").exists()


def test_the_lock_of_another_machine_is_taken_over_once_it_is_silent(tmp_path):
    (tmp_path / "run.lock").write_text(json.dumps({"host": "elsewhere", "pid": 1, "machine": "other"}))
    with pytest.raises(UserError, match="in use by process 1 on elsewhere"), locked([tmp_path]):
        pass
    os.utime(tmp_path / "run.lock", (0, 0))
    with locked([tmp_path]):
        assert read_lock(tmp_path).pid == os.getpid()


def test_a_full_disk_at_what_can_be_made_again_is_a_warning(tmp_path, monkeypatch, capsys):
    def full(file, *args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("nanoproof.evaluation.results.plot_curve", full)
    monkeypatch.setattr("nanoproof.evaluation.results.gzip.compress", full)
    assert prover_eval.main(words(tmp_path / "out", "--log-level", "warning")) == 0
    assert "curve.png cannot be written, the evaluation goes on: No space left" in capsys.readouterr().err
    assert read_json(tmp_path / "out" / "summary.json")["total"] == COUNT


def test_other_settings_are_refused_by_name(tmp_path):
    assert prover_eval.main(words(tmp_path / "out", "--max-theorems", 4)) == 0
    changed = words(tmp_path / "out", "--max-theorems", 5, "--seed", 1, "--search-c-base", 3, "--continue")
    with pytest.raises(UserError) as refusal:
        prover_eval.main(changed)
    text = str(refusal.value)
    assert "--seed was 0, is 1" in text and "--search-c-base was 200.0, is 3.0" in text
    assert "number of theorems was 4, is 5" in text and "--num-simulations" not in text


def test_only_what_ended_in_an_error_is_tried_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REFUSED", "t2 t3")
    assert prover_eval.main(words(tmp_path / "out", "--max-theorems", 6)) == 0
    assert "2 errors (2 TheoremRejected)" in capsys.readouterr().out
    before = {record["theorem"]["id"]: record for record in read_jsonl(tmp_path / "out" / "results.jsonl")}
    monkeypatch.setenv("REFUSED", "t0 t1 t4 t5")
    assert prover_eval.main(words(tmp_path / "out", "--max-theorems", 6, "--continue")) == 0
    after = {record["theorem"]["id"]: record for record in read_jsonl(tmp_path / "out" / "results.jsonl")}
    assert (before["t2"]["outcome"], after["t2"]["outcome"], after["t3"]["outcome"]) == ("error", "proven", "unproven")
    assert all(after[name] == before[name] for name in ("t0", "t1", "t4", "t5"))
    assert len(read_json(tmp_path / "out" / "summary.json")["parts"]) == 2


def test_an_evaluation_without_errors_that_is_over_is_left_alone(tmp_path, monkeypatch):
    assert prover_eval.main(words(tmp_path / "out", "--max-theorems", 2)) == 0
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*")}
    monkeypatch.setenv("REFUSED", "t0 t1")
    assert prover_eval.main(words(tmp_path / "out", "--max-theorems", 2, "--continue")) == 0
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*")} == before


def test_a_killed_evaluation_goes_on_with_what_it_had(tmp_path):
    path = tmp_path / "out"
    process = start_forked(scripted_eval.main, words(path), SLOW=0.3)
    wait_for_results([process], path, 4)
    process.kill()
    process.join()
    with open(path / "results.jsonl", "a") as file:
        file.write('{"torn')
    kept = {record["theorem"]["id"]: record for record in read_jsonl(path / "results.jsonl")}
    assert 4 <= len(kept) < COUNT and not (path / "summary.json").exists()
    assert prover_eval.main(words(path, "--continue")) == 0
    after = {record["theorem"]["id"]: record for record in read_jsonl(path / "results.jsonl")}
    assert len(after) == COUNT and all(after[name] == record for name, record in kept.items())
    assert read_json(path / "summary.json")["solved"] == 20


RANK_OF_TWO = {"SLOW": "0.2", "ACTORS": "1", "OMP_NUM_THREADS": "1"}


@pytest.mark.nightly
def test_a_rank_that_dies_ends_the_evaluation_and_the_work_of_all_is_kept(tmp_path):
    path = tmp_path / "out"
    ranks = start_ranks(2, as_command, scripted_eval.main, tmp_path / "said", words(path), **RANK_OF_TWO)
    wait_for_results(ranks, path, 2)
    ranks[-1].kill()
    ranks[-1].join()
    ranks[0].terminate()  # as torchrun does
    assert ended(ranks, 60)[0] != 0
    said = (tmp_path / "said").read_text()
    assert "theorems are done" in said and "--continue resumes it" in said
    assert prover_eval.main(words(path, "--continue")) == 0
    assert read_json(path / "summary.json")["solved"] == 20
    assert not list(path.glob("results_r*.jsonl"))


def test_a_signal_to_one_rank_ends_the_evaluation_on_all_and_it_can_go_on(tmp_path):
    path, said = tmp_path / "out", tmp_path / "said"
    ranks = start_ranks(2, as_command, scripted_eval.main, said, words(path), **RANK_OF_TWO)
    wait_for_results(ranks, path, 2)
    ranks[-1].terminate()
    ended(ranks, 60)
    assert "interrupted; " in said.read_text() and "--continue resumes it" in said.read_text()
    done = sum(len(list(read_jsonl(file))) for file in path.glob("results*.jsonl"))
    assert 2 <= done < COUNT
    assert prover_eval.main(words(path, "--continue")) == 0
    assert read_json(path / "summary.json")["solved"] == 20


def test_servers_that_are_all_gone_end_the_evaluation_and_it_can_go_on(tmp_path, monkeypatch):
    gone = ServerUnavailable("scripted: nobody there")
    lease, leases = scripted_eval.Client.lease, []

    def lease_until_the_fifth_theorem(self, timeout):
        leases.append(timeout)
        if len(leases) > 2:
            raise gone
        session = lease(self, timeout)
        start = session.start

        def start_or_die(theorem):
            if theorem.id in ("t0", "t1", "t2", "t3"):
                return start(theorem)
            raise gone

        session.start = start_or_die
        return session

    monkeypatch.setattr(scripted_eval.Client, "lease", lease_until_the_fifth_theorem)
    with pytest.raises(UserError, match=r"no Lean process was to be had .* 4 of 8 theorems are done \(2 solved\)"):
        prover_eval.main(words(tmp_path / "out", "--max-theorems", 8, "--lean-patience", 0.3))
    monkeypatch.setattr(scripted_eval.Client, "lease", lease)
    assert prover_eval.main(words(tmp_path / "out", "--max-theorems", 8, "--continue")) == 0
    assert read_json(tmp_path / "out" / "summary.json")["solved"] == 4


def test_solvers_can_be_left_to_the_search_as_in_rl(tmp_path):
    assert prover_eval.main(words(tmp_path / "out", "--disable-solvers", "--max-theorems", 1)) == 0
    settings = read_json(tmp_path / "out" / "summary.json")["settings"]
    assert settings["search_disable_solvers"] is True
    assert (settings["search_finishers"], settings["search_finisher_use"]) == (["simp", "omega", "grind"], "candidate")


def test_the_solver_only_baseline_stands_beside_the_score(tmp_path, capsys):
    base = ["--policy", "solver-only", "--datasets", "scripted", "--device-type", "cpu", "--num-simulations", "4"]
    assert prover_eval.main([*base, "--log-level", "error"]) == 0
    where = tmp_path / "home" / "baselines" / "solver-only" / "eval_scripted"
    assert read_json(where / "summary.json")["solved"] == 0
    assert prover_eval.main(words(tmp_path / "out")) == 0
    assert read_json(tmp_path / "out" / "summary.json")["baseline"]["solved"] == 0
    assert "solver tactics alone: 0/40" in capsys.readouterr().out
    assert prover_eval.main(words(tmp_path / "few", "--max-theorems", 2)) == 0
    assert read_json(tmp_path / "few" / "summary.json")["baseline"] is None
    with pytest.raises(UserError, match=r"--baseline .* is of other theorems"):
        prover_eval.main(words(tmp_path / "other", "--max-theorems", 2, "--baseline", where))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--continue", "--force"], "give either --continue .* or --force"),
        (["--model-path", "x"], "--policy uniform has no use for a model"),
        (["--policy-server", "localhost:1"], "give either --policy-server or --policy uniform"),
        (["--datasets", "nothing"], "unknown data set nothing"),
    ],
)
def test_what_a_user_can_get_wrong(tmp_path, more, message):
    with pytest.raises(UserError, match=message):
        prover_eval.main(words(tmp_path / "out", *more))
    assert not (tmp_path / "out").exists()


def test_repeats_have_seeds_of_their_own_and_go_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REFUSED", "t2")
    path = tmp_path / "out"
    assert test_eval.main(words(path, "--split", "valid", "--num-runs", 2, "--max-theorems", 4)) == 0
    whole = read_json(path / "repeats.json")
    assert whole["seeds"] == [0, 1] and whole["solved"] == [1, 1] and whole["errors"] == [1, 1]
    monkeypatch.setenv("REFUSED", "")
    assert test_eval.main(words(path, "--split", "valid", "--num-runs", 3, "--max-theorems", 4, "--continue")) == 0
    whole = json.loads((path / "repeats.json").read_text())
    assert whole["solved"] == [2, 2, 2] and whole["pass_at"] == {"1": 0.5, "2": 0.5, "3": 0.5}
    assert whole["theorems"]["t0"]["solved"] == 3 and whole["theorems"]["t1"]["solved"] == 0
    assert "run 3 of 3, seed 2" in capsys.readouterr().out
