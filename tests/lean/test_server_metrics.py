"""What `/status` and `/metrics` say, over real sockets."""

import re

import requests

from tests.lean.conftest import Serve
from tests.lean.test_server import Api

_SAMPLE = re.compile(r'([a-z_]+)(\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)*\})? (\S+)')


def read(text: str) -> dict[str, float]:
    """The samples of a text for Prometheus; every one must belong to a metric that was introduced before."""
    assert text.endswith("\n")
    samples: dict[str, float] = {}
    kinds: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            assert line.split()[2] not in kinds
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            kinds[name] = kind
        else:
            match = _SAMPLE.fullmatch(line)
            assert match, line
            family = re.sub("_(bucket|sum|count)$", "", match[1])
            assert kinds.get(match[1]) in ("counter", "gauge") or kinds.get(family) == "histogram", line
            samples[match[1] + (match[2] or "")] = float(match[3])
    return samples


def scrape(api: Api) -> dict[str, float]:
    answer = api.session.get(f"{api.base}/metrics", timeout=30)
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return read(answer.text)


def test_metrics_count_calls_and_tactics(serve: Serve) -> None:
    api = Api(serve(max_processes=1))
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    for tactic in ("trivial", "constructor", "nonsense"):
        api.tactic(pid, state, tactic)
    api.tactic(pid, state, "hang", timeout=100)
    api.tactic(pid, state, "trivial")
    api.post("/process/1/command", command="")
    requests.get(api.base + "/nowhere", timeout=30)
    samples = scrape(api)
    calls = 'nanoproof_lean_requests_total{{route="{}",status="{}"}}'
    assert samples[calls.format("/process/{pid}/proof/{state}/try_apply_tactic", 200)] == 5
    assert samples[calls.format("/process/{pid}/command", 404)] == 1
    assert samples[calls.format("(none)", 404)] == 1
    outcomes = {"applied": 2, "refused": 1, "timeout": 1, "process_gone": 1}
    for outcome, count in outcomes.items():
        assert samples[f'nanoproof_lean_tactics_total{{outcome="{outcome}"}}'] == count
    assert samples['nanoproof_lean_restarts_total{reason="timeout"}'] == 1
    assert samples["nanoproof_lean_tactic_seconds_count"] == 5
    assert samples['nanoproof_lean_tactic_seconds_bucket{le="+Inf"}'] == 5


def test_metrics_say_what_is_the_case_now(serve: Serve) -> None:
    api = Api(serve(max_processes=3))
    api.get_process()
    samples = scrape(api)
    assert samples['nanoproof_lean_processes{state="used"}'] == 1
    assert samples["nanoproof_lean_processes_max"] == 3
    assert samples["nanoproof_lean_queue_length"] == 0
    assert samples["nanoproof_lean_ready"] == 1
    assert samples['nanoproof_lean_resident_bytes{state="used"}'] > 0
    assert samples["nanoproof_lean_largest_resident_bytes"] > 0


def test_metrics_need_the_token(serve: Serve) -> None:
    assert requests.get(f"http://127.0.0.1:{serve(token='secret').port}/metrics", timeout=30).status_code == 401


def test_bodies_that_are_too_large_are_counted(serve: Serve) -> None:
    api = Api(serve(max_body_mb=0.001))
    assert api.post("/process/get", padding="x" * 2000).status_code == 413
    assert scrape(api)['nanoproof_lean_requests_total{route="/process/get",status="413"}'] == 1


def test_status_names_versions_imports_and_the_time_of_a_lease(serve: Serve) -> None:
    status = Api(serve(lease_seconds=42)).status()
    assert set(status["versions"]) == {"nanoproof", "python", "lean"} and status["versions"]["lean"] == "nanolean"
    assert (status["imports"], status["lease_seconds"], status["backend"]) == ([], 42, "nanolean")


def test_each_server_counts_on_its_own(serve: Serve) -> None:
    first, second = Api(serve()), Api(serve())
    first.get_process()
    assert scrape(first)['nanoproof_lean_leases_total{event="given"}'] == 1
    assert not any("leases" in name for name in scrape(second))


def test_an_accepted_format_is_answered(serve: Serve) -> None:
    headers = {"Accept": "application/openmetrics-text; version=1.0.0"}
    answer = requests.get(f"http://127.0.0.1:{serve().port}/metrics", headers=headers, timeout=30)
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text") and answer.text.endswith("# EOF\n")
