"""Certificates of exported proofs: who writes them, and `scripts.check_with_lean DIR --certificates`."""

import gzip
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nanoproof.common.commands import run
from nanoproof.common.errors import UserError
from nanoproof.lean import certificates, embedded
from nanoproof.lean.certificates import Checker, check_certificates, verdict_line, verdicts
from nanoproof.lean.embedded import write_certificates
from scripts import check_with_lean

NAMES = ("good", "packed", "refuse", "decline", "swap", "paws", "statement", "term", "none")
CHECKER = """
import json, pathlib, sys, time
given = json.loads(pathlib.Path(sys.argv[1]).read_text()) if sys.argv[1].endswith("config.json") else {}
if given:
    assert given["permitted_axioms"] == ["Classical.choice", "Quot.sound", "propext"] and given["nat_extension"] is True
file = pathlib.Path(given.get("export_file_path", sys.argv[1]))
if "sleep" in sys.argv[2:]:
    time.sleep(60)
if file.stem == "refuse":
    print("thread panicked at somewhere\\nassertion failed")
    sys.exit(101)
if file.stem == "decline":
    print("Declined: strings")
    sys.exit(2)
sys.exit(0 if file.read_text().startswith('{"meta"') else 1)
"""


def proof(name: str) -> str:
    return f"theorem {name} (p : Prop) (h : p) : p := by\n  exact h\n"


@contextmanager
def processes_of_their_own() -> Iterator[None]:
    """Certificates are written and compared as a user has it, and other tests have not."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (certificates, embedded):
            patch.setattr(module, "run", run)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, certificates_here: None) -> Path:
    """Proofs with certificates, some of which somebody has changed."""
    path = tmp_path_factory.mktemp("run") / "proofs"
    path.mkdir()
    for name in NAMES:
        (path / f"{name}.lean").write_text(proof(name), encoding="utf-8")
    assert write_certificates(path) == len(NAMES)
    text = {name: (path / f"{name}.ndjson").read_text(encoding="utf-8") for name in NAMES}
    (path / "packed.ndjson.gz").write_bytes(gzip.compress(text["packed"].encode()))
    (path / "packed.ndjson").unlink()
    (path / "swap.ndjson").write_text(text["paws"], encoding="utf-8")
    (path / "paws.ndjson").write_text(text["swap"], encoding="utf-8")
    (path / "statement.lean").write_text(proof("statement").replace("(h : p) : p", "(h : ¬p) : ¬p"), encoding="utf-8")
    *lines, last = text["term"].splitlines()
    record = json.loads(last)
    record["thm"]["value"] = record["thm"]["type"]
    (path / "term.ndjson").write_text("\n".join([*lines, json.dumps(record)]), encoding="utf-8")
    (path / "none.ndjson").rename(path / "surplus.ndjson")
    return path


def checker(path: Path) -> str:
    """The command of a checker that looks at names, for the most part."""
    file = path / "checker.py"
    file.write_text(CHECKER, encoding="utf-8")
    return f"{sys.executable} {file}"


DIFFERENT = {
    "swap.lean": "swap.ndjson does not hold swap",
    "paws.lean": "paws.ndjson does not hold paws",
    "statement.lean": "statement is another one in statement.ndjson",
    "none.lean": "it has no certificate",
    "surplus.ndjson": "there is no .lean file beside it",
}


def reasons(found: dict, outcome: str) -> dict[str, str]:
    return {Path(file).name: reason for file, reason in found[outcome].items()}


def test_our_own_checker_refuses_what_is_changed_and_nothing_else(folder, tmp_path, capsys):
    out = tmp_path / "result.json"
    words = ["--certificates", "--jobs", "2", "--json", str(out)]
    assert check_with_lean.main([str(folder), *words]) == 1
    assert capsys.readouterr().out.endswith("4 of 10 certificates accepted, 6 refused, 0 declined (nanolean)\n")
    found = json.loads(out.read_text(encoding="utf-8"))
    refused = reasons(found, "refused")
    assert "term.ndjson: refused: line" in refused.pop("term.lean")
    assert (refused, found["declined"]) == (DIFFERENT, {})


def test_our_own_checker_is_asked_in_processes_of_its_own(tmp_path, capsys):
    for name in ("good", "statement"):
        (tmp_path / f"{name}.lean").write_text(proof(name), encoding="utf-8")
    with processes_of_their_own():
        assert write_certificates(tmp_path) == 2
        (tmp_path / "statement.lean").write_text(proof("statement").replace("p) : p", "¬p) : ¬p"), encoding="utf-8")
        assert check_with_lean.main([str(tmp_path), "--certificates"]) == 1
    said = capsys.readouterr().out
    assert DIFFERENT["statement.lean"] in said
    assert said.endswith("1 of 2 certificates accepted, 1 refused, 0 declined (nanolean)\n")


def test_another_checker_is_given_a_configuration_and_its_verdicts_count(folder, tmp_path, capsys):
    words = ["--checker", f"{checker(tmp_path)} {{config}}", "--json", str(tmp_path / "result.json")]
    assert check_with_lean.main([str(folder), "--certificates", *words]) == 1
    assert "2 of 10 certificates accepted, 7 refused, 1 declined" in capsys.readouterr().out
    found = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    refused = reasons(found, "refused")
    assert "term.ndjson is refused" in refused.pop("term.lean")  # which this checker does not see, but NanoLean does
    assert refused == {**DIFFERENT, "refuse.lean": "thread panicked at somewhere assertion failed"}
    assert reasons(found, "declined") == {"decline.lean": "Declined: strings"}


def test_a_checker_without_a_word_for_the_file_gets_it_as_the_last_one_and_unpacked(folder, tmp_path):
    command = Checker(checker(tmp_path))
    assert command.check(folder / "packed.ndjson.gz", 60).outcome == "accepted"
    assert command.check(folder / "refuse.ndjson", 60).outcome == "refused"


def test_a_checker_that_does_not_answer_is_ended(folder, tmp_path):
    answer = Checker(f"{checker(tmp_path)} {{file}} sleep").check(folder / "good.ndjson", 1.0)
    assert (answer.outcome, answer.reason) == ("refused", "no answer within 1 s")


def test_a_checker_that_is_not_there_is_one_line(folder):
    with pytest.raises(UserError, match="--checker no-such-checker -x: no such program on the PATH"):
        check_with_lean.main([str(folder), "--certificates", "--checker", "no-such-checker -x"])


def test_a_packed_file_that_cannot_be_unpacked_is_refused_before_the_checker_sees_it(tmp_path):
    (tmp_path / "one.ndjson.gz").write_bytes(b"\x1f\x8bgarbage")
    answer = Checker(checker(tmp_path)).check(tmp_path / "one.ndjson.gz", 60)
    assert answer.outcome == "refused" and answer.reason.startswith("one.ndjson.gz cannot be unpacked")


def test_a_folder_without_proofs_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"holds no \.lean file"):
        check_certificates(tmp_path, None, 60, 1)


def test_old_certificates_go_and_a_warning_tells_of_those_that_are_missing(tmp_path, caplog):
    (tmp_path / "gap.lean").write_text("theorem gap : 1 = 2 := sorry\n", encoding="utf-8")
    (tmp_path / "gone.ndjson").write_text("old", encoding="utf-8")
    assert write_certificates(tmp_path) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["gap.lean"]
    assert "0 of 1 proofs have a certificate" in caplog.text


def test_verdicts_count_what_each_checker_accepts(folder, tmp_path):
    found = verdicts(folder, checker(tmp_path), 60)
    assert found["proofs"] == len(NAMES) and found["nanolean"] == 4
    assert list(found["outside"].values()) == [6]
    assert {Path(file).name for file in found["refused"]} >= {"refuse.lean", "decline.lean", "swap.lean", "none.lean"}
    assert "6 by " in verdict_line(found) and "not checked outside" in verdict_line(verdicts(folder, "none", 60))
