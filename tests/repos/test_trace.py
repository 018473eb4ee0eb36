"""Tracing with NanoLean: the example repository, the library, the cache, and what is read of it for training."""

import gc
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nanolean.commands.runner import run_text
from nanolean.data.replay import library
from nanolean.kernel.expr import collect_consts
from nanoproof import sft
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.run_dir import trace_folder
from nanoproof.data.theorems.theorem_sets import list_theorems, parse_set_names, splits_of
from nanoproof.data.transitions.leantree import load_split
from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.declarations import declarations, enclosed
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.lean_file import OpenPlace
from nanoproof.lean.lexical import without_header
from nanoproof.lean.transport import TOKEN_VARIABLE
from nanoproof.lean.types import ProofState, ProtocolError, TacticApplied, Theorem
from nanoproof.repos.__main__ import main
from nanoproof.repos.names import Names
from nanoproof.repos.project import Project, nanolean_library
from nanoproof.repos.trace import SUMMARY, TARGETS, TRANSITIONS, FileTrace, TraceOptions, read_trace, trace_project
from nanoproof.repos.traced_files import Provenance, TracedFile, file_from_json, file_to_json
from nanoproof.rl import __main__ as rl
from nanoproof.training.named_data import load_transitions
from tests.helpers import wait_for
from tests.training import small

EXAMPLE = Path(__file__).parents[1] / "data" / "example_repo"


@pytest.fixture(scope="module")
def server():
    with start_embedded(1) as servers:
        yield servers


@pytest.fixture(scope="module")
def options(server):
    return TraceOptions(lean=LeanOptions(servers=tuple(server.addresses), token=server.token))


@pytest.fixture(scope="module")
def traced(options, tmp_path_factory):
    """The example repository, traced: the folder with its records, and the summary."""
    folder = tmp_path_factory.mktemp("traced")
    return folder, trace_project(Project.read(EXAMPLE), folder, options)


def by_path(folder: Path) -> dict[str, TracedFile]:
    return {file.path: file for file in read_trace(folder)}


def test_the_example_is_traced_but_for_the_file_with_an_error(traced):
    folder, summary = traced
    assert (summary.files, summary.theorems, summary.tactics, summary.sorries) == (12, 44, 72, 10)
    assert [failure.split(":")[:3] for failure in summary.failures] == [["Example/Broken.lean", " 7", "2"]]
    assert summary.exceptions == () and summary.left_out == {} and summary.transitions == 72
    assert (summary.targets, summary.targetless) == (44, 0)
    broken = by_path(folder)["Example/Broken.lean"]
    assert broken.theorems == () and [premise.full_name for premise in broken.premises] == ["right", "wrong"]


def test_a_theorem_has_its_statement_place_tactics_and_premises(traced):
    file = by_path(traced[0])["Example/Opens.lean"]
    assert file.imports == ("Example/Double.lean", "Example/Sum.lean") and file.error is None
    found = {theorem.full_name: theorem for theorem in file.theorems}
    theorem = found["Right.one_le_three"]
    assert theorem.statement == "theorem one_le_three : 1 ≤ 3" and (theorem.start, theorem.end) == ((14, 1), (15, 37))
    (tactic,) = theorem.tactics
    assert (tactic.state_before, tactic.state_after) == ("⊢ 1 ≤ 3", "no goals")
    assert tactic.marked == "exact <a>Nat.le_succ_of_le</a> <a>one_le_two</a>"
    places = [(p.full_name, p.path, p.start, p.end) for p in tactic.premises]
    assert places[1] == ("Left.one_le_two", "Example/Opens.lean", (6, 1), (7, 22))
    assert places[0][:2] == ("Nat.le_succ_of_le", "nanolean/library/05_nat_order.lean")
    assert [t.marked for t in found["both"].tactics] == [
        "constructor",
        "exact <a>one_le_three</a>",
        "exact <a>one_le_four</a>",
    ]


def test_terms_have_no_tactics_and_sorries_are_counted(traced):
    files = by_path(traced[0])
    term = files["Example/Logic.lean"].theorems[0]
    assert (term.full_name, term.tactics, term.sorries) == ("and_swap_example", (), 0)
    assert "And.intro" in term.premises
    gaps = {theorem.full_name.partition(".")[2]: theorem for theorem in files["Example/Gaps.lean"].theorems}
    assert all(theorem.sorries == 1 and "sorryAx" in theorem.premises for theorem in gaps.values()) and len(gaps) == 10
    inside = [tactic for tactic in gaps["have_gap"].tactics if tactic.tactic == "sorry"]
    assert [tactic.state_before for tactic in inside] == ["n : Nat\n⊢ n * (n + 1) = n * n + n"]
    assert gaps["le_gap"].tactics == () and gaps["total_le_append"].statement.endswith("total (xs ++ ys)")


def test_names_and_line_ends_are_as_in_the_file(traced):
    files = by_path(traced[0])
    names = [theorem.full_name for theorem in files["Example/Unicode.lean"].theorems]
    assert names == ["Ωμεγα.ist_wahr₁", "Ωμεγα.ε_δ₂", "Ωμεγα.β_und_φ'", "Ωμεγα.nutzt"]
    used = files["Example/Unicode.lean"].theorems[3].tactics[0]
    assert used.marked == "exact ⟨<a>ist_wahr₁</a>, <a>ist_wahr₁</a>⟩" and len(used.premises) == 2
    first = files["Example/Crlf.lean"].theorems[0]
    assert (first.start, first.end, first.tactics[0].tactic) == ((6, 1), (8, 6), "rfl")


def test_premises_are_the_kernels_constants(traced):
    """Held against the constants of another elaboration, in this process."""
    files, project = by_path(traced[0]), Project.read(EXAMPLE)
    state, compared = library(), 0
    for file in project.files:
        if file.path in ("Example/Broken.lean", "Example.lean"):
            continue
        result = run_text(state, enclosed(without_header(file.text)))
        state = result.state
        for theorem in files[file.path].theorems:
            info = state.env[theorem.full_name]
            assert set(theorem.premises) == collect_consts(info.type) | collect_consts(info.value), theorem.full_name
            compared += 1
    assert compared == 44


def test_each_transition_is_one_of_search(traced, server):
    """The proof at a theorem's `sorry` goes as the trace says: tactics applied to states give those behind them."""
    sources = {row["id"]: row["source"] for row in read_jsonl(traced[0] / TARGETS)}
    wanted = {"Example.le_square", "or_swap_example", "Example.total_append", "both", "Example.zero_or_pos"}
    client = LeanServerClient(server.addresses[0], server.token)
    steps = 0
    with client.lease() as session:
        for row in read_jsonl(traced[0] / TRANSITIONS):
            for theorem in row["theorems"]:
                if theorem["name"] not in wanted:
                    continue
                branch = session.start(Theorem(sources[theorem["name"]], "traced", theorem["name"]))
                nodes = theorem["by_blocks"][0]["tree"]["nodes"]
                branches = {0: branch}
                for node in nodes:
                    edge = node["tactic"]
                    (result,) = session.apply(branches[node["id"]], [edge["tactic_string"]])
                    assert isinstance(result, TacticApplied), (theorem["name"], result)
                    left = {each.state.merge_key: each for each in result.branches}
                    states = [nodes[child]["state"]["goals"] for child in edge["children"]]
                    keys = [ProofState.from_wire(state).merge_key for state in states]
                    assert sorted(left) == sorted(keys), (theorem["name"], edge["tactic_string"])
                    branches |= {child: left[key] for child, key in zip(edge["children"], keys)}
                    steps += 1
    assert steps == 20


@pytest.mark.parametrize("around", ["open A B", "open A\nopen B", "namespace A\nopen B"])
def test_a_namespace_may_be_opened_by_a_part_of_its_name(around):
    (theorem,) = declarations(f"{around}\ntheorem t : True := by\n  exact swap")
    names = Names.of({"A.B.swap": Provenance("A.B.swap", "A.lean", (1, 1), (1, 9))})
    assert names.resolve("swap.symm", theorem, frozenset()) == ("A.B.swap", "swap")


def test_records_are_read_back_equal(traced):
    for file in read_trace(traced[0]):
        assert file_from_json(file_to_json(file)) == file
    with pytest.raises(ValueError, match="not the record of a traced file"):
        file_from_json({"path": "A.lean", "imports": [], "premises": [{}], "theorems": [], "error": None})


def test_the_library_is_traced_from_nothing(options, tmp_path):
    folder = tmp_path / "library"
    folder.mkdir()
    project = Project.read(nanolean_library())
    sample = Project(project.root, project.files[:3], is_nanolean=True)
    summary = trace_project(sample, folder, options)
    assert (summary.failures, summary.exceptions, summary.elaborations) == ((), (), 3)
    add_comm = next(t for file in read_trace(folder) for t in file.theorems if t.full_name == "Nat.add_comm")
    assert add_comm.tactics and "Nat.rec" in add_comm.premises


def test_a_lease_runs_only_over_what_it_was_given(server):
    client = LeanServerClient(server.addresses[0], server.token)
    with client.lease() as session:
        first = session.run_file("theorem mine : True := by\n  trivial", 60.0, module=True, allTactics=True)
        answer = session.run_file("theorem b : True := mine", 60.0, first["env"], rootGoals=True, constants=True)
        assert answer["constants"] == [{"name": "b", "kind": "theorem", "usedConstants": ["True", "mine"]}]
        state = first["tactics"][0]["proofState"]
        answers = session.run_steps([(state, "trivial"), (state + 99, "trivial"), (state, "omega_")], 60.0, forget=True)
        assert answers[0]["proofStatus"] == "Completed" and "unknown tactic" in answers[2]["message"]
        assert answers[1] == {"error": f"Proof state {state + 99} not found"}
        assert session.run_steps([(state, "trivial")], 60.0) == [{"error": f"Proof state {state} not found"}]
        with pytest.raises(ProtocolError, match="Environment 99 not found"):
            session.run_file("#check mine", 60.0, 99)


# -- The cache ---------------------------------------------------------------------------------------------------------

CHAIN = {
    "A.lean": "theorem a : True := by\n  trivial\n",
    "B.lean": "import A\ntheorem b : True := by\n  exact a\n",
    "C.lean": "import B\ntheorem c : True := by\n  exact b\n",
    "D.lean": "theorem d : True := by\n  trivial\n",
}


@pytest.fixture
def chain(tmp_path):
    folder = tmp_path / "chain"
    folder.mkdir()
    for name, text in CHAIN.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.nightly
def test_only_what_changed_and_what_rests_on_it_is_elaborated_again(chain, options, tmp_path):
    first = trace_project(Project.read(chain), tmp_path / "out", options)
    assert (first.elaborations, first.from_cache, first.tactics) == (4, 0, 4)
    again = trace_project(Project.read(chain), tmp_path / "out", options)
    assert (again.elaborations, again.from_cache, again.tactics) == (0, 4, 4)
    (chain / "B.lean").write_text("import A\ntheorem b : True := by\n  exact a\n\ntheorem b' : True := a\n")
    third = trace_project(Project.read(chain), tmp_path / "out", options)
    assert (third.from_cache, third.theorems) == (2, 5) and third.elaborations == 3  # A once more, as B's import
    damaged = tmp_path / "out" / "files" / "D.lean.json"
    damaged.write_text(damaged.read_text()[:50])
    fourth = trace_project(Project.read(chain), tmp_path / "out", options)
    assert (fourth.from_cache, fourth.elaborations) == (3, 1)


def test_what_imports_a_file_with_errors_is_told(chain, options, tmp_path):
    (chain / "A.lean").write_text("theorem a : True := by\n  rfl_\n")
    (chain / "D.lean").write_text("import Mathlib\n")
    summary = trace_project(Project.read(chain), tmp_path / "out", options)
    reasons = [failure.partition(": ")[2] for failure in summary.failures]
    assert summary.theorems == 0 and reasons[0].startswith("2:")
    assert reasons[1].startswith("it imports Mathlib, which NanoLean does not have")
    assert reasons[2:] == [f"it imports A.lean, which is not traced: {reasons[0]}"] * 2


def test_files_may_have_private_names_in_common_and_what_is_none_to_prove_is_counted(options, tmp_path):
    aux = "private theorem aux : True := by trivial\n"
    (tmp_path / "A.lean").write_text(f"{aux}theorem a : True := by exact aux\n")
    (tmp_path / "B.lean").write_text(f"import A\n{aux}theorem b : True := by exact aux\n")
    (tmp_path / "C.lean").write_text("theorem c : (sorry : Prop) ∨ True := by exact Or.inr trivial\n")
    summary = trace_project(Project.read(tmp_path), tmp_path / "trace", options)
    assert not summary.failures and (summary.targets, summary.targetless) == (4, 1)
    assert "4 theorems to prove" in summary.text(tmp_path) and "(1 left out" in summary.text(tmp_path)
    assert [theorem.full_name for theorem in by_path(tmp_path / "trace")["B.lean"].theorems] == ["aux", "b"]


def test_a_theorem_says_which_open_ones_it_rests_on(options, tmp_path):
    project = {
        "A.lean": (
            "theorem bad : 1 = 2 := by\n  sorry\n\ndef data : Nat := sorry\n\ntheorem plain : 1 = 1 := rfl\n"
            "axiom magic : 1 = 2\n"
        ),
        "B.lean": (
            "import A\nnamespace N\ntheorem wrapper : 1 = 2 := bad\ntheorem twice : 1 = 2 := wrapper\n"
            "theorem own : 1 = 2 := sorry\ntheorem same : data = data := rfl\ntheorem plain : 2 = 2 := rfl\nend N\n"
        ),
    }
    for name, text in project.items():
        (tmp_path / name).write_text(text)
    summary = trace_project(Project.read(tmp_path), tmp_path / "out", options)
    assert "axiom, which what is proved may rest on: magic  A.lean:7\n" in summary.text(tmp_path)
    found = {each.full_name: each.rests_on for file in by_path(tmp_path / "out").values() for each in file.theorems}
    bad, data = OpenPlace("bad", "A.lean", 1), OpenPlace("data", "A.lean", 4)
    assert found == {
        **{"bad": (), "plain": (), "N.own": (), "N.plain": ()},
        **{"N.wrapper": (bad,), "N.twice": (bad,), "N.same": (data,)},
    }


@pytest.mark.nightly
def test_a_killed_trace_goes_on(chain, options, tmp_path):
    slow = "theorem s{} : ∀ n : Nat, n * 2 = n + n := by\n  intro n\n  omega\n"
    for number in range(6):
        lines = "\n".join(slow.format(f"{number}_{index}") for index in range(25))
        (chain / f"S{number}.lean").write_text(lines)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "nanoproof.repos", "trace", str(chain), "--out", str(out)]
    process = subprocess.Popen([*command, "--lean-processes", "1"])  # of its own: a lease ends with the server
    try:
        wait_for(lambda: list((out / "files").glob("*.json")), "the first file of the trace")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = len(list((out / "files").glob("*.json")))
    summary = trace_project(Project.read(chain), out, options)
    assert 1 <= done == summary.from_cache < summary.files == 10 and summary.failures == ()
    assert summary.theorems == 4 + 6 * 25


# -- What is learned from it -------------------------------------------------------------------------------------------


def test_the_command_writes_what_training_reads(chain, server, capsys, monkeypatch, empty_home):
    (chain / "E.lean").write_text("import C\ntheorem e (n : Nat) (h : n = 0) : 0 = n := by\n  sorry\n")
    monkeypatch.setenv(TOKEN_VARIABLE, server.token)
    assert main(["trace", str(chain), "--lean-servers", server.addresses[0], "--name", "me/chain"]) == 0
    out = capsys.readouterr().out
    assert "5 files (0 as before), 5 theorems, 5 tactics, 1 sorries, 0 files failed" in out
    folder = trace_folder("me/chain")
    assert folder == empty_home / "repos" / "me" / "chain" / "trace" and read_json(folder / SUMMARY)["theorems"] == 5
    train, valid = load_transitions("repo:me/chain")
    assert len(train) + len(valid) == 4 == sum(map(len, load_split(folder / TRANSITIONS)))  # without the `sorry`
    assert parse_set_names(["repo:me/chain"]) == ["repo:me/chain"] and splits_of("repo:me/chain") == ("train", "valid")
    targets = list_theorems("repo:me/chain", "train") + list_theorems("repo:me/chain", "valid")
    assert sorted(theorem.id for theorem in targets) == ["a", "b", "c", "d", "e"]
    (source,) = [theorem.source for theorem in targets if theorem.id == "c"]
    assert source.endswith("theorem c : True := by\n  sorry") and "theorem a : True := by\n  trivial" in source
    with pytest.raises(UserError, match="repo:absent is not traced"):
        list_theorems("repo:absent", "train")
    with pytest.raises(UserError, match=r"not the name of a repository: '\.\./x'"):
        parse_set_names(["repo:../x"])
    shutil.rmtree(folder)


@pytest.mark.nightly
def test_files_are_read_back_one_by_one(options, tmp_path, monkeypatch):
    project, out = tmp_path / "many", tmp_path / "out"
    project.mkdir()
    for number in range(5):
        (project / f"F{number}.lean").write_text(f"theorem t{number} : True := by\n  trivial\n")
    alive, read = [], FileTrace.from_json.__func__

    def count() -> int:
        return sum(type(each) is FileTrace for each in gc.get_objects())

    def reading(cls, value):
        alive.append(count())
        return read(cls, value)

    monkeypatch.setattr(FileTrace, "from_json", classmethod(reading))
    for cached in (0, 5):
        alive.clear()
        summary = trace_project(Project.read(project), out, options)
        assert (summary.from_cache, summary.theorems, summary.transitions) == (cached, 5, 5)
        assert len(alive) == 5 + cached and max(alive) <= 1
        assert len((out / TRANSITIONS).read_text().splitlines()) == 5 == len((out / TARGETS).read_text().splitlines())


def test_a_small_repository_is_trained_on_though_nothing_is_left_to_validate(
    options, tmp_path, empty_home, capsys, monkeypatch
):
    project = tmp_path / "small"
    project.mkdir()
    text = "theorem a (p : Prop) (h : p) : p := by\n  exact h\n\ntheorem d (q : Prop) (h : q) : q := by\n  exact h\n"
    (project / "A.lean").write_text(text)
    trace_project(Project.read(project), trace_folder("small"), options)
    assert list_theorems("repo:small", "valid") == [] and len(list_theorems("repo:small", "train")) == 2
    tokenizer = small.tokenizer()
    tokenizer.save(tmp_path / "tokenizer.json")
    words = ["--data", "repo:small", "--tokenizer", tmp_path / "tokenizer.json", "--run-dir", tmp_path / "sft"]
    words += ["--depth", 1, "--aspect-ratio", 16, "--head-dim", 16, "--sequence-len", 128, "--row-length", 128]
    words += ["--target-examples-per-step", 2, "--device-type", "cpu"]
    assert sft.main([str(word) for word in words]) == 0
    lean = ["--lean-servers", *options.lean.servers, "--monitor-port", "none", "--device-type", "cpu"]
    words = ["--model-path", tmp_path / "sft", "--datasets", "repo:small", "--sft-data", "repo:small"]
    words += ["--eval-datasets", "repo:small", "--run-dir", tmp_path / "rl", "--num-steps", 1, "--row-length", 128]
    words += [
        "--collect-transitions",
        1,
        "--collect-max-time",
        "0:00:02",
        "--target-examples-per-step",
        2,
        "--mm-base-simulations",
        2,
    ]
    monkeypatch.setenv(TOKEN_VARIABLE, options.lean.token)
    assert rl.main([str(word) for word in [*words, *lean]]) == 0
    assert "--eval-datasets repo:small: too small to have theorems in valid; it is left out" in "".join(
        capsys.readouterr()
    )
    (metrics,) = read_jsonl(tmp_path / "rl" / "metrics.jsonl")
    assert metrics["step"] == 1 and metrics["attempts"] > 0
