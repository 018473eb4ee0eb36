"""`python -m nanoproof.lean.server` as a process: start, errors, and that nothing is left behind."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from nanoproof.common.errors import UserError, run_main
from nanoproof.lean import embedded
from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.embedded import EmbeddedServers, start_embedded
from nanoproof.lean.server import __main__ as server_command
from nanoproof.lean.server.__main__ import exposure, settings_of, token_of
from nanoproof.lean.types import AccessDenied, LeanError, ServerUnavailable, TacticApplied
from tests.helpers import SCRIPTED_REPL, end, is_gone, taken_port, wait_for
from tests.lean.conftest import SCRIPT, THEOREM

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Lean project with a REPL, and a `lake` on the PATH: both scripted."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    write_program(tmp_path / "bin" / "lake", '[ "$1" = env ] || exit 3\nshift\nSCRIPTED_LEAN=yes exec "$@"')
    repl = f"exec {sys.executable} {SCRIPTED_REPL} {script} {tmp_path}/requests.jsonl"
    repl = f'[ "$SCRIPTED_LEAN" = yes ] || exit 4\n{repl}'
    write_program(tmp_path / "project" / "repl", repl)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return tmp_path / "project"


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def start() -> Iterator[Start]:
    """Start the server with flags; it is killed after the test."""
    running: list[subprocess.Popen[str]] = []

    def run(*flags: str, **options: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "nanoproof.lean.server", *flags]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        running.append(subprocess.Popen(command, text=True, **pipes, **options))
        return running[-1]

    yield run
    for process in running:
        end(process)


def repl_flags(project: Path) -> list[str]:
    return [
        "--backend",
        "repl",
        "--project-path",
        str(project),
        "--repl-exe",
        "repl",
        "--imports",
        "Mathlib",
        "--port",
        "0",
    ]


def address_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None and process.stderr is not None
    line = process.stdout.readline()
    assert line.startswith("listening on "), process.stderr.read()
    return line.removeprefix("listening on ").strip()


def leased_pids(client: LeanServerClient) -> list[int]:
    return [entry["pid"] for entry in client.status()["processes"]]


@pytest.mark.nightly
def test_the_official_repl_runs_under_lake_with_its_imports(start: Start, project: Path, tmp_path: Path) -> None:
    client = LeanServerClient(address_of(start(*repl_flags(project))))
    with client.lease() as session:
        results = session.apply(session.start(THEOREM), ["constructor", "trivial"])
    assert all(isinstance(result, TacticApplied) for result in results)
    requests = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
    assert {"cmd": "import Mathlib"} in requests
    assert not any("prune_all" in request for request in requests)
    tactic = next(request for request in requests if request.get("tactic") == "constructor")
    assert tactic["includeStepVerification"] is True and 4000 < tactic["timeout"] <= 4500


@pytest.mark.nightly
def test_a_busy_port_is_one_line_and_status_2(start: Start, project: Path) -> None:
    with taken_port() as port:
        process = start(*repl_flags(project)[:-1], str(port))
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert stderr.splitlines() == [f"error: cannot listen on 127.0.0.1 port {port}: Address already in use"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--backend", "repl"], "--project-path (or LEAN_PROJECT_PATH) is needed"),
        (["--backend", "repl", "--project-path", "/no/such", "--repl-exe", "x"], "no directory /no/such"),
        (["--backend", "repl", "--project-path", "/", "--repl-exe", "no/repl"], "no executable /no/repl"),
        (["--max-processes", "0"], "--max-processes must be >= 1, got 0"),
        (["--imports", "Mathlib"], "--project-path (or LEAN_PROJECT_PATH) is needed"),
        (["--backend", "nanolean", "--imports", "Mathlib"], "--imports is for the backend repl"),
    ],
)
def test_wrong_options_are_one_line_and_status_2(
    flags: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    said = refusal([*flags, "--port", "0"], capfd)
    assert message in said and said.count("\n") == 1


def refusal(flags: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    """What the command says on stderr, run in this process, when it ends with status 2 and has written nothing else."""
    with pytest.raises(SystemExit) as stopped:
        run_main(lambda: server_command.main(flags))
    stdout, stderr = capfd.readouterr()
    assert (stopped.value.code, stdout) == (2, "")
    return stderr


@pytest.mark.nightly
def test_with_warmup_a_repl_that_does_not_start_ends_the_server(start: Start, project: Path) -> None:
    write_program(project / "repl", "echo 'libleanshared.so: cannot open shared object file' >&2; exit 127")
    process = start(*repl_flags(project), "--warmup")
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "error: no Lean process can be started: exit status 127" in stderr and "libleanshared.so" in stderr


def test_lake_that_fails_is_quoted(start: Start, project: Path, tmp_path: Path) -> None:
    write_program(tmp_path / "bin" / "lake", "echo 'error: no lakefile' >&2; exit 1")
    process = start(*repl_flags(project))
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2 and "`lake env`" in stderr and "no lakefile" in stderr


def test_sigterm_ends_the_server_and_its_processes(start: Start, project: Path) -> None:
    process = start(*repl_flags(project))
    client = LeanServerClient(address_of(process))
    session = client.lease()
    pids = leased_pids(client)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    wait_for(lambda: all(map(is_gone, pids)), "the processes to end")
    session.close()


@pytest.mark.nightly
def test_kill_9_leaves_no_processes_even_if_they_are_busy(start: Start, project: Path) -> None:
    process = start(*repl_flags(project), "--max-processes", "1")
    client = LeanServerClient(address_of(process))
    session = client.lease()
    branch = session.start(THEOREM)
    pids = leased_pids(client)
    with pytest.raises(LeanError):
        session._transport.post(
            f"/process/{session.process}/proof/{branch.handle.number}/try_apply_tactic",  # type: ignore[attr-defined]
            {"tactic": "hang", "timeout": 60_000},
            seconds=0.5,
        )
    process.kill()
    process.wait()
    wait_for(lambda: all(map(is_gone, pids)), "the processes to end")


@pytest.mark.nightly
def test_the_server_ends_when_its_input_closes_if_asked_to(start: Start, project: Path) -> None:
    process = start(*repl_flags(project), "--exit-with-parent")
    client = LeanServerClient(address_of(process))
    session = client.lease()
    pids = leased_pids(client)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    wait_for(lambda: all(map(is_gone, pids)), "the processes to end")
    session.close()


@pytest.fixture
def not_borrowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Embedded servers as programs have them, who start and end their own."""
    monkeypatch.setattr(embedded, "EmbeddedServers", EmbeddedServers)


@pytest.mark.nightly
@pytest.mark.usefixtures("not_borrowed")
def test_embedded_servers_share_processes_serve_those_with_their_token_and_leave_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NANOPROOF_LEAN_TOKEN", "of-other-servers")
    with start_embedded(3, num_servers=2) as servers:
        clients = [LeanServerClient(address, servers.token) for address in servers.addresses]
        assert [client.status()["max_processes"] for client in clients] == [2, 1]

        for stranger in (LeanServerClient(servers.addresses[0]), LeanServerClient(servers.addresses[0], "")):
            with pytest.raises(AccessDenied):
                stranger.lease()
        lines = [" ".join(each.info["cmdline"] or ()) for each in psutil.process_iter(["cmdline"])]
        assert any("nanoproof.lean.server" in line for line in lines) and servers.token not in " ".join(lines)

        pids = [*leased_pids(clients[0]), *leased_pids(clients[1])]
        with clients[0].lease() as session:
            right = session.apply(session.start(THEOREM), ["constructor"])[0]
            assert isinstance(right, TacticApplied) and len(right.branches) == 2
            assert session.apply(right.branches[1], ["exact hq"]) == [TacticApplied(())]
            report = session.check(THEOREM.source.replace("sorry", "exact ⟨hp, hq⟩"))
        assert report.accepted and report.axioms == ()
    assert len(pids) == 3
    wait_for(lambda: all(map(is_gone, pids)), "the processes to end")


def test_embedded_servers_end_with_a_program_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import time; from nanoproof.lean.embedded import start_embedded; "
        "servers = start_embedded(1); print(servers.addresses[0], servers.token, flush=True); time.sleep(600)"
    )
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    client = LeanServerClient(*program.stdout.readline().split())
    pids = [*leased_pids(client), *(child.pid for child in psutil.Process(program.pid).children(recursive=True))]
    program.kill()
    program.wait()
    program.stdout.close()
    wait_for(lambda: all(map(is_gone, pids)), "the processes to end")


@pytest.mark.usefixtures("not_borrowed")
def test_an_embedded_server_that_is_too_slow_is_an_error() -> None:
    with pytest.raises(ServerUnavailable, match="did not start in"):
        start_embedded(1, timeout=0.001)


@pytest.mark.usefixtures("not_borrowed")
def test_more_processes_than_the_machine_has_room_for_are_refused() -> None:
    with pytest.raises(UserError, match=r"cores, too few for 100000 processes of NanoLean: give at most \d+"):
        start_embedded(100_000)


@pytest.mark.nightly
def test_the_flags_of_leantree_run_the_repl_and_say_which_lean_it_is(start: Start, project: Path) -> None:
    (project / "lean-toolchain").write_text("leanprover/lean4:v4.27.0\n")
    flags = [flag for flag in repl_flags(project) if flag not in ("--backend",)][1:]
    process = start(*flags, "--max-processes", "1", "--address=127.0.0.1", "--warmup", "--log-level", "INFO")
    status = LeanServerClient(address_of(process)).status()
    assert (status["backend"], status["imports"], status["ready"]) == ("repl", ["Mathlib"], True)
    assert status["versions"]["lean"] == "v4.27.0"
    assert (status["max_processes"], status["available_processes"]) == (1, 2), "one to lease and a spare"


def test_an_address_that_others_reach_needs_a_token_or_a_word(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = refusal([*repl_flags(project), "--address", "0.0.0.0"], capfd)
    assert said.startswith("error: --address 0.0.0.0: anyone who reaches it can run code here")
    assert "NANOPROOF_LEAN_TOKEN" in said and "--no-token" in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "token", "open_to_all", "warning"),
    [
        ("--address 10.0.0.1", "s", False, ""),
        ("--address 10.0.0.1 --no-token", None, False, ""),
        ("--address 10.0.0.1", None, True, "anyone who reaches it can run code here"),
        ("--imports Init --project-path P --repl-exe repl", None, False, "every user of this machine can run code"),
        ("--imports Init --project-path P --repl-exe repl --no-token", None, False, ""),
        ("--imports Init --project-path P --repl-exe repl", "s", False, ""),
        ("--backend nanolean", None, False, ""),
    ],
)
def test_who_may_use_a_server_is_said_where_others_reach_it(
    flags: str,
    token: str | None,
    open_to_all: bool,
    warning: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NANOPROOF_LEAN_TOKEN", token or "")
    settings = settings_of(flags.split())
    assert token_of(settings, open_to_all) == token
    said = exposure(settings, token)
    assert warning in said and bool(warning) == bool(said)


def test_no_token_is_asked_for_if_the_user_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOPROOF_LEAN_TOKEN", "s")
    assert token_of(settings_of(["--no-token"]), open_to_all=False) is None


def test_leanserver_is_open_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[bool] = []
    monkeypatch.setattr(server_command, "main", lambda open_to_all=False: heard.append(open_to_all))
    with pytest.raises(SystemExit):
        server_command.command()
    assert heard == [True]


def test_a_process_that_wants_too_much_address_space_is_refused_it(start: Start, project: Path) -> None:
    process = start(*repl_flags(project), "--address-space-gb", "0.001", "--warmup")
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "error: no Lean process can be started" in stderr and "exit status" in stderr


@pytest.mark.nightly
def test_sigterm_lets_the_request_under_way_end(start: Start, project: Path) -> None:
    process = start(*repl_flags(project), "--drain-seconds", "60")
    base = address_of(process)
    pid = requests.post(f"{base}/process/get", json={}, timeout=30).json()["process_id"]
    started = requests.post(
        f"{base}/process/{pid}/proof_from_sorry", json={"theorem_with_sorry": THEOREM.source}, timeout=30
    ).json()
    path = f"{base}/process/{pid}/proof/{started['value']['proof_state_id']}/try_apply_tactic"
    answers: list[dict[str, Any]] = []
    body = {"tactic": "hang", "timeout": 2000}
    under_way = threading.Thread(target=lambda: answers.append(requests.post(path, json=body, timeout=30).json()))
    under_way.start()
    wait_until_active(base, "try_apply_tactic")
    process.terminate()
    under_way.join(30)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert answers == [{"error": "Tactic application timed out"}]


@pytest.mark.nightly
def test_sigterm_cuts_short_what_takes_too_long(start: Start, project: Path) -> None:
    process = start(*repl_flags(project), "--drain-seconds", "0")
    client = LeanServerClient(address_of(process))
    session = client.lease()
    branch = session.start(THEOREM)
    pids = leased_pids(client)
    body = {"tactic": "hang", "timeout": 600_000}
    path = f"{client.address}/process/{session.process}/proof/{branch.handle.number}/try_apply_tactic"  # type: ignore[attr-defined]
    answers: list[dict[str, Any]] = []
    under_way = threading.Thread(
        target=lambda: answers.append(requests.post(f"http://{path}", json=body, timeout=30).json())
    )
    under_way.start()
    wait_until_active(f"http://{client.address}", "try_apply_tactic")
    process.terminate()
    process.communicate(timeout=60)
    under_way.join(30)
    wait_for(lambda: all(map(is_gone, pids)), "the processes to end")
    assert "the server is shutting down" in answers[0]["error"]
    session.close()


def wait_until_active(base: str, route: str) -> None:
    def is_active() -> bool:
        active = requests.get(f"{base}/status", timeout=30).json()["active_requests"]
        return any(request["path"].endswith(route) for request in active)

    wait_for(is_active, f"a call of {route}")
