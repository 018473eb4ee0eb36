"""The server's HTTP API over scripted processes."""

import threading
import time
from typing import Any

import pytest
import requests

from tests.lean.conftest import AND, EXISTS_THEOREM, SCRIPT, THEOREM, Running, Serve


class Api:
    """Plain HTTP calls, as any LeanTree client makes them."""

    def __init__(self, server: Running, headers: dict[str, str] | None = None) -> None:
        self.server = server
        self.base = f"http://127.0.0.1:{server.port}"
        self.session = requests.Session()
        self.session.headers.update(headers or {})

    def post(self, path: str, **body: Any) -> requests.Response:
        return self.session.post(self.base + path, json=body, timeout=30)

    def get_process(self, **body: Any) -> int | None:
        return self.post("/process/get", **body).json()["process_id"]

    def start(self, pid: int | None, source: str = THEOREM.source) -> Any:
        return self.post(f"/process/{pid}/proof_from_sorry", theorem_with_sorry=source).json()

    def tactic(self, pid: int | None, state: int, tactic: str, timeout: int = 20_000) -> Any:
        return self.post(f"/process/{pid}/proof/{state}/try_apply_tactic", tactic=tactic, timeout=timeout).json()

    def status(self) -> Any:
        return self.session.get(self.base + "/status", timeout=30).json()


def test_a_proof_from_lease_to_return(serve: Serve) -> None:
    server = serve()
    api = Api(server)
    pid = api.get_process()
    started = api.start(pid)["value"]
    assert started["goals"][0]["type"] == "p ∧ q"
    left, right = api.tactic(pid, started["proof_state_id"], "constructor")["value"]
    assert [left["goals"][0]["tag"], right["goals"][0]["tag"]] == ["left", "right"]
    assert api.tactic(pid, right["proof_state_id"], "exact hq") == {"value": []}
    assert api.tactic(pid, left["proof_state_id"], "exact hp") == {"value": []}
    assert api.post(f"/process/{pid}/return").json() == {"status": "ok"}
    assert api.post(f"/process/{pid}/return").json() == {"status": "ok", "already_returned": True}
    assert {"prune_all": True} in server.requests()


def test_the_batch_call_answers_each_tactic(serve: Serve) -> None:
    api = Api(serve())
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    path = f"/process/{pid}/proof/{state}/try_apply_tactics"
    results = api.post(path, tactics=["trivial", "nonsense", "constructor"], timeout=20_000).json()["results"]
    assert results[0] == {"value": []}
    assert "Could not apply tactic" in results[1]["error"]
    assert len(results[2]["value"]) == 2


def test_siblings_are_rotated_away_once_and_focused(serve: Serve) -> None:
    server = serve()
    api = Api(server)
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    right = api.tactic(pid, state, "constructor")["value"][1]["proof_state_id"]
    api.tactic(pid, right, "clear hp")
    after = api.tactic(pid, right, "case right =>\n  exact hq")
    assert after == {"value": []}
    sent = [request["tactic"] for request in server.requests() if "tactic" in request]
    assert sent[1:] == ["rotate_left 1", "focus (clear hp)", "focus (case right =>\n         exact hq)"]


def test_a_branch_of_a_branch_keeps_its_siblings(serve: Serve) -> None:
    api = Api(serve())
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    right = api.tactic(pid, state, "constructor")["value"][1]["proof_state_id"]
    (cleared,) = api.tactic(pid, right, "clear hp")["value"]
    assert api.tactic(pid, cleared["proof_state_id"], "exact hq") == {"value": []}


def test_a_tactic_that_closes_siblings_too_is_refused(serve: Serve) -> None:
    script = {
        "theorems": SCRIPT["theorems"],
        "tactics": {AND: {"split": ["⊢ a ?x", "⊢ b ?x", "⊢ c"]}, "⊢ a ?x": {"swap": {"all": ["⊢ c", "⊢ b ?x"]}}},
    }
    api = Api(serve(script))
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    coupled, lone = api.tactic(pid, state, "split")["value"]
    assert [len(coupled["goals"]), len(lone["goals"])] == [2, 1]
    assert "goals of another branch" in api.tactic(pid, coupled["proof_state_id"], "swap")["error"]


def test_coupled_goals_form_one_branch_beside_independent_ones(serve: Serve) -> None:
    api = Api(serve())
    pid = api.get_process()
    state = api.start(pid, EXISTS_THEOREM.source)["value"]["proof_state_id"]
    lone, coupled = api.tactic(pid, state, "refine")["value"]
    assert [goal["type"] for goal in coupled["goals"]] == ["?w = 2", "Nat"]
    assert api.tactic(pid, lone["proof_state_id"], "trivial") == {"value": []}


def test_apply_tactic_answers_one_state_and_fails_with_500(serve: Serve) -> None:
    api = Api(serve())
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    answer = api.post(f"/process/{pid}/proof/{state}/apply_tactic", tactic="constructor", timeout=20_000)
    assert len(answer.json()["goals"]) == 2
    refused = api.post(f"/process/{pid}/proof/{state}/apply_tactic", tactic="nonsense")
    assert refused.status_code == 500 and "Could not apply tactic" in refused.json()["error"]


def test_a_refused_statement_is_a_value(serve: Serve) -> None:
    api = Api(serve())
    assert "REPL returned error: bad statement" in api.start(api.get_process(), "theorem b : bad := sorry")["error"]


def test_a_statement_without_a_gap_is_refused(serve: Serve) -> None:
    api = Api(serve())
    assert "expected exactly one sorry" in api.start(api.get_process(), "theorem other : p := rfl")["error"]


def test_commands_are_passed_through_in_the_base_environment(serve: Serve) -> None:
    server = serve(imports=("Mathlib",))
    api = Api(server)
    answer = api.post(f"/process/{api.get_process()}/command", command="def f := 1").json()
    assert answer == {"env": 1}
    assert {"cmd": "import Mathlib"} in server.requests()
    assert {"cmd": "def f := 1", "env": 0} in server.requests()


@pytest.mark.nightly
def test_a_late_tactic_times_out_and_takes_the_proof_states_along(serve: Serve) -> None:
    api = Api(serve())
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    assert "Tactic application timed out" in api.tactic(pid, state, "hang", timeout=200)["error"]
    assert "Subprocess has terminated" in api.tactic(pid, state, "trivial")["error"]
    again = api.start(pid)["value"]["proof_state_id"]
    assert api.tactic(pid, again, "trivial") == {"value": []}


@pytest.mark.parametrize("behaviour", ["crash", "garbage"])
def test_a_lost_process_is_reported_and_replaced(serve: Serve, behaviour: str) -> None:
    api = Api(serve())
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    assert "Lean REPL process ended unexpectedly" in api.tactic(pid, state, behaviour)["error"]
    assert "value" in api.start(pid)


def test_unknown_leases_and_states(serve: Serve) -> None:
    api = Api(serve())
    assert api.tactic(99, 0, "rfl") == {"error": "Process 99 not found"}
    answer = api.post("/process/99/command", command="")
    assert (answer.status_code, answer.json()) == (404, {"error": "Process 99 not found"})
    assert "not found" in api.tactic(api.get_process(), 99, "rfl")["error"]


def test_no_free_process_is_null_after_the_wait(serve: Serve) -> None:
    api = Api(serve(max_processes=1))
    assert api.get_process() is not None
    assert api.get_process(blocking=False) is None
    assert api.get_process(timeout=0.1) is None


def test_a_returned_process_wakes_who_waits(serve: Serve) -> None:
    server = serve(max_processes=1)
    api = Api(server)
    first = api.get_process()
    got: list[int | None] = []
    waiter = threading.Thread(target=lambda: got.append(Api(server).get_process(timeout=20)))
    waiter.start()
    api.post(f"/process/{first}/return")
    waiter.join(20)
    assert got and got[0] is not None


def test_too_many_waiting_callers_are_sent_away(serve: Serve) -> None:
    server = serve(max_processes=1)
    api = Api(server)
    api.get_process()
    ask = lambda: Api(server).post("/process/get", timeout=60)  # noqa: E731
    waiters = [threading.Thread(target=ask, daemon=True) for _ in range(8)]
    for waiter in waiters:
        waiter.start()
    while api.status()["waiting_requests"] < 8:
        time.sleep(0.01)
    answer = api.post("/process/get", timeout=1)
    assert answer.status_code == 429 and float(answer.headers["Retry-After"]) > 0
    server.pool.drain()
    for waiter in waiters:
        waiter.join(20)
        assert not waiter.is_alive()


def test_idle_leases_expire(serve: Serve) -> None:
    api = Api(serve(max_processes=1, lease_seconds=0.2))
    pid = api.get_process()
    assert api.get_process(timeout=20) is not None
    assert api.start(pid) == {"error": f"Process {pid} not found"}


@pytest.mark.nightly
def test_a_process_is_recycled_after_its_number_of_leases(serve: Serve) -> None:
    api = Api(serve(max_processes=1, max_uses=2))
    for _ in range(3):
        api.post(f"/process/{api.get_process(timeout=20)}/return")
    assert api.status()["totals"]["restarts"] == {"uses": 1}


def test_a_process_over_the_memory_limit_is_killed(serve: Serve) -> None:
    api = Api(serve(max_processes=1, memory_limit_gb=0.001))
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    while any(entry["state"] == "used" and entry["resident_bytes"] for entry in api.status()["processes"]):
        time.sleep(0.05)
    error = api.tactic(pid, state, "trivial")["error"]
    assert "ended unexpectedly: it used more than 0.001 GB of memory" in error
    assert api.status()["totals"]["restarts"] == {"memory": 1}


def test_processes_that_do_not_start_are_an_error_not_a_wait(serve: Serve) -> None:
    api = Api(serve({"commands": {"": {"do": "crash"}}}))
    answer = api.post("/process/get", timeout=30)
    assert answer.status_code == 503
    assert "no Lean process can be started: exit status 7" in answer.json()["error"]
    assert "scripted process crashes" in api.status()["error"]


def test_failed_imports_are_the_reason_given(serve: Serve) -> None:
    message = {"severity": "error", "data": "unknown module prefix 'Nope'"}
    api = Api(serve({"commands": {"import": {"answer": {"env": 0, "messages": [message]}}}}, imports=("Nope",)))
    assert "unknown module prefix 'Nope'" in api.post("/process/get", timeout=30).json()["error"]


def test_status_has_the_fields_of_leantree_servers(serve: Serve) -> None:
    api = Api(serve(max_processes=3))
    pid = api.get_process()
    status = api.status()
    assert (status["used_processes"], status["max_processes"], status["ready"]) == (1, 3, True)
    assert {"available_processes", "starting_processes", "stopping_processes", "cpu_percent_per_core"} <= status.keys()
    assert {"total_bytes", "available_bytes", "used_bytes", "percent"} <= status["ram"].keys()
    assert status["active_requests"][0]["path"] == "/status"
    assert pid is not None and any(entry["resident_bytes"] > 0 for entry in status["processes"])


def test_a_token_is_asked_for_where_one_is_set(serve: Serve) -> None:
    server = serve(token="secret")
    assert Api(server).post("/process/get").status_code == 401
    assert Api(server, {"Authorization": "Bearer wrong"}).post("/process/get").status_code == 401
    assert Api(server, {"Authorization": "Bearer secret"}).post("/process/get").status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/process/{pid}/command", {}),
        ("/process/{pid}/proof/0/try_apply_tactic", {"tactic": 3}),
        ("/process/{pid}/proof/0/try_apply_tactic", {"tactic": "rfl", "timeout": "soon"}),
        ("/process/{pid}/proof/0/try_apply_tactics", {"tactics": "rfl"}),
    ],
)
def test_malformed_bodies_are_400_and_name_the_field(serve: Serve, path: str, body: dict[str, Any]) -> None:
    api = Api(serve())
    answer = api.post(path.format(pid=api.get_process()), **body)
    assert answer.status_code == 400 and "`" in answer.json()["error"]


def test_a_body_that_is_no_object_is_400(serve: Serve) -> None:
    api = Api(serve())
    assert api.session.post(f"{api.base}/process/get", json=["blocking"], timeout=30).status_code == 400


def test_a_request_that_waited_while_its_lease_ended_gets_no_process(serve: Serve) -> None:
    server = serve()
    api = Api(server)
    pid = api.get_process()
    assert pid is not None
    answers: list[requests.Response] = []
    waiting = threading.Thread(target=lambda: answers.append(api.post(f"/process/{pid}/command", command="#eval 1")))
    with server.pool.use(pid):
        waiting.start()
        while not any("command" in request["path"] for request in Api(server).status()["active_requests"]):
            time.sleep(0.01)
        server.pool.give_back(pid)
    waiting.join()
    assert answers[0].status_code == 404
    status = api.status()
    assert (status["used_processes"], status["stopping_processes"]) == (0, 0)


def test_a_page_in_a_browser_cannot_send_commands(serve: Serve) -> None:
    api = Api(serve())
    answer = api.session.post(
        f"{api.base}/process/{api.get_process()}/command", data='{"command": "#eval 1"}', timeout=30
    )
    assert answer.status_code == 415
