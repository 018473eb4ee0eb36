"""check-init: statements are checked by scripted and embedded Lean servers, some of which fail."""

import json
import re
import shutil
import sys
from contextlib import ExitStack

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.files import JsonlWriter
from nanoproof.data import whitelist
from nanoproof.data.rl import leanworkbook, numinamath
from nanoproof.data.sources.manifest import dataset_dir
from nanoproof.data.theorems.theorem_sets import list_theorems
from nanoproof.data.theorems.whitelists import load_whitelist, theorem_hash, whitelist_path
from nanoproof.data.whitelist import Patience
from nanoproof.lean.server.backend import Backend
from tests.data.installed import install_leanworkbook, install_numinamath, install_proofnet, workbook_row
from tests.fakes.leantree_server import LeanTreeServer
from tests.helpers import SCRIPTED_REPL
from tests.lean.conftest import start_server

VERSION = "v4.27.0"
UNKNOWN = "unknown identifier bad"
SCRIPT = {
    "theorems": {" = ": "⊢ True"},
    "commands": {
        " : bad": {"answer": {"env": 1, "messages": [{"severity": "error", "data": "unknown identifier bad"}]}}
    },
}
QUICK = Patience(tries=2, pause_seconds=0.05, gone_seconds=2.0)


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    monkeypatch.delenv("LEAN_PROJECT_PATH", raising=False)
    return tmp_path


class Scripted:
    """Scripted servers of Lean v4.27.0; `asked` are the statements that they were asked about."""

    def __init__(self, folder, running):
        self.folder, self.running = folder, running
        self.log = folder / "requests.jsonl"
        (folder / "lean-toolchain").write_text(f"leanprover/lean4:{VERSION}\n")

    def command(self, script):
        (self.folder / "script.json").write_text(json.dumps(script))
        return (sys.executable, str(SCRIPTED_REPL), str(self.folder / "script.json"), str(self.log))

    def start(self, script=SCRIPT, **options):
        options = {"project_path": str(self.folder), "repl_exe": "repl", "spares": 0, **options}
        backend = Backend(self.command(script), start_seconds=20.0, can_prune=True)
        return f"127.0.0.1:{self.running.enter_context(start_server(backend, **options)).port}"

    def asked(self):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        found = [re.search(r"theorem nanoproof_\w+ : (\S+)", json.loads(line).get("cmd", "")) for line in lines]
        return sorted(match[1] for match in found if match)


@pytest.fixture
def scripted(home):
    with ExitStack() as running:
        yield Scripted(home, running)


def install(*claims):
    install_leanworkbook(workbook_row(f"t{number}", claim) for number, claim in enumerate(claims))


def check(*words):
    return whitelist.main(["check-init", *words], QUICK)


def verdicts(name="leanworkbook"):
    """Ids that pass, and ids that fail."""
    loaded = load_whitelist(name, VERSION)
    by_hash = {theorem_hash(t.source): t.id for split in ("train", "valid") for t in list_theorems(name, split)}
    return sorted(by_hash[key] for key in loaded.passing), sorted(by_hash[key] for key in loaded.failing)


def partial_lines():
    path = whitelist_path("leanworkbook", VERSION)
    partial = path.with_name(f"{path.name}.partial.jsonl")
    return partial.read_text().splitlines() if partial.exists() else None


# -- verdicts ----------------------------------------------------------------------------------------------------


def test_what_lean_accepts_passes_and_what_it_refuses_fails(scripted, capsys):
    install("0 = 0", "bad = 1", "2 = 2")
    assert check("leanworkbook", "--lean-servers", scripted.start()) == 0
    assert verdicts() == (["t0", "t2"], ["t1"])
    assert [theorem.id for theorem in leanworkbook.list_theorems("valid", VERSION) if theorem.id == "t1"] == []
    printed = capsys.readouterr().out
    assert "refused: t1: " in printed and "unknown identifier bad" in printed
    assert "leanworkbook under Lean v4.27.0: 2 of 3 pass (66.7%), 1 fail, 0 not checked -> " in printed
    assert partial_lines() is None


def test_a_set_checks_itself_a_part_first_and_then_the_rest(scripted):
    install("0 = 0", "bad = 1", "2 = 2")
    words = ["check-init", "--lean-server", scripted.start(), "--jobs", "0"]
    assert leanworkbook.main([*words, "--limit", "2"]) == 0
    assert len(scripted.asked()) == 2
    assert leanworkbook.main(words) == 0
    assert scripted.asked() == ["0", "2", "bad"] and verdicts() == (["t0", "t2"], ["t1"])


def test_many_workers_on_several_servers_ask_for_each_statement_once(scripted):
    claims = [f"{number} = {number}" for number in range(30)]
    install(*claims)
    servers = [scripted.start(max_processes=2), scripted.start(max_processes=2)]
    assert check("leanworkbook", "--lean-servers", *servers) == 0
    assert scripted.asked() == sorted(str(number) for number in range(30))
    assert len(verdicts()[0]) == 30


def test_a_statement_that_ends_processes_is_not_checked_rather_than_failing(scripted, capsys):
    install("0 = 0", "crash = 1", "2 = 2")
    script = {**SCRIPT, "commands": {"crash": {"do": "crash"}}}
    assert check("leanworkbook", "--lean-servers", scripted.start(script)) == 1
    assert verdicts() == (["t0", "t2"], [])
    output = capsys.readouterr()
    assert "0 fail, 1 not checked" in output.out and "not checked: t1: " in output.err
    scripted.log.unlink()
    assert check("leanworkbook", "--lean-servers", scripted.start()) == 0
    assert scripted.asked() == ["crash"]
    assert verdicts() == (["t0", "t1", "t2"], [])


def test_a_process_that_ends_once_changes_no_verdict(scripted):
    install("0 = 0", "once = 1", "2 = 2")
    once = {"do": "crash", "flag": str(scripted.folder / "crashed"), "then": []}
    assert check("leanworkbook", "--lean-servers", scripted.start({**SCRIPT, "commands": {"once": once}})) == 0
    assert verdicts() == (["t0", "t1", "t2"], [])


# -- servers that go away ----------------------------------------------------------------------------------------


def test_a_check_whose_server_dies_in_the_middle_goes_on_with_another(scripted, monkeypatch):
    class Deadly(JsonlWriter):
        """Ends the servers when four verdicts are written down."""

        left = 4

        def write(self, record):
            super().write(record)
            Deadly.left -= 1
            if Deadly.left == 0:
                scripted.running.close()

    install(*(f"{number} = {number}" for number in range(40)))
    with monkeypatch.context() as patched:
        patched.setattr(whitelist, "JsonlWriter", Deadly)
        with pytest.raises(UserError, match=r"of 40 theorems are checked, the same command resumes"):
            check("leanworkbook", "--lean-servers", scripted.start(max_processes=1))
    done = [json.loads(line) for line in partial_lines()]
    assert 4 <= len(done) < 40 and all(record["passing"] for record in done)
    assert not whitelist_path("leanworkbook", VERSION).exists()
    path = whitelist_path("leanworkbook", VERSION)
    with open(path.with_name(f"{path.name}.partial.jsonl"), "a") as file:
        file.write('{"hash": "0123')  # what a killed process leaves
    scripted.log.unlink()
    assert check("leanworkbook", "--lean-servers", scripted.start()) == 0
    assert len(scripted.asked()) == 40 - len(done)
    assert len(verdicts()[0]) == 40 and partial_lines() is None


def test_a_server_that_is_not_there_is_one_line(home):
    install("0 = 0")
    with pytest.raises(UserError, match=r"127\.0\.0\.1:9"):
        check("leanworkbook", "--lean-servers", "127.0.0.1:9")


# -- what is known ------------------------------------------------------------------------------------------------


def test_only_what_the_whitelist_does_not_know_is_asked_for_unless_forced(scripted):
    server = scripted.start()
    install("0 = 0", "bad = 1")
    assert check("leanworkbook", "--lean-servers", server) == 0
    scripted.log.unlink()
    install("0 = 0", "bad = 1", "2 = 2")
    assert check("leanworkbook", "--lean-servers", server) == 0
    assert scripted.asked() == ["2"] and verdicts() == (["t0", "t2"], ["t1"])
    scripted.log.unlink()
    assert check("leanworkbook", "--lean-servers", server, "--force") == 0
    assert scripted.asked() == ["0", "2", "bad"]


def test_nothing_is_written_and_nothing_remembered_where_no_theorem_passes(scripted):
    install("bad = 0", "bad = 1")
    with pytest.raises(
        UserError, match=r"none of 2 theorems of leanworkbook passes.*are the imports right.*identifier bad"
    ):
        check("leanworkbook", "--lean-servers", scripted.start())
    assert not whitelist_path("leanworkbook", VERSION).exists() and partial_lines() is None


def test_a_server_that_refuses_everything_is_not_asked_to_the_end(scripted):
    install(*(f"bad = {number}" for number in range(400)))
    with pytest.raises(UserError, match="none of 200 theorems"):
        check("leanworkbook", "--lean-servers", scripted.start())
    assert len(scripted.asked()) < 400


def test_a_benchmark_gets_a_report_that_nothing_filters_by(scripted):
    row = {"split": "test", "header": "import Mathlib\n"}
    claims = {"a": "0 = 0", "b": "bad = 1"}
    rows = [{**row, "name": name, "formal_statement": f"theorem {name} : {p} :="} for name, p in claims.items()]
    install_proofnet(rows)
    assert check("proofnet", "--lean-servers", scripted.start()) == 0
    report = json.loads((dataset_dir("proofnet") / f"proofnet.jsonl.report.{VERSION}.json").read_text())
    assert (report["num_checked"], report["num_passing"]) == (2, 1)
    ((refused),) = report["refused"]
    assert refused["id"] == "b" and "unknown identifier bad" in refused["message"]
    assert len(list_theorems("proofnet", "test", VERSION)) == 2


# -- which Lean ---------------------------------------------------------------------------------------------------


def test_a_server_of_another_version_than_the_projects_is_refused(scripted, tmp_path):
    install("0 = 0")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "lean-toolchain").write_text("leanprover/lean4:v4.28.0\n")
    with pytest.raises(UserError, match=r"runs Lean v4\.27\.0, not v4\.28\.0: .*--lean-project"):
        check("leanworkbook", "--lean-servers", scripted.start(), "--lean-project", str(tmp_path / "other"))


def test_servers_that_do_not_say_their_version_need_the_project(scripted, tmp_path):
    install("0 = 0", "2 = 2")
    server = LeanTreeServer(scripted.command(SCRIPT), tmp_path / "bomb")
    try:
        with pytest.raises(UserError, match="give its project: --lean-project DIR"):
            check("leanworkbook", "--lean-servers", server.address)
        assert check("leanworkbook", "--lean-servers", server.address, "--lean-project", str(scripted.folder)) == 0
    finally:
        server.close()
    assert verdicts() == (["t0", "t1"], [])


# -- embedded -----------------------------------------------------------------------------------------------------


def test_without_servers_the_embedded_prover_is_asked(capsys):
    claims = ["p → p", "p ∧ q → q ∧ p", "Real.sqrt 2 = p"]
    statements = [f"import Mathlib\n\ntheorem t{n} (p q : Prop) : {claim} := by" for n, claim in enumerate(claims)]
    directory = install_numinamath({"uuid": ["a", "b", "c"], "formal_statement": statements})
    try:
        assert check("numinamath") == 0
        assert (directory / "numinamath.parquet.whitelist.nanolean.json").exists()
        assert sorted(theorem.id for theorem in numinamath.list_theorems("valid", "nanolean")) == ["a", "b"]
    finally:
        shutil.rmtree(directory)
    assert "numinamath under Lean nanolean: 2 of 3 pass (66.7%), 1 fail, 0 not checked" in capsys.readouterr().out
