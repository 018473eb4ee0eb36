"""pass@k: hand-made tables with their golden values, what is left out and said, and the files that are read."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.evaluation.passk import PassTable, SampleTable, bootstrap_interval, pass_table, read_tables
from scripts import passk

LETTERS = {"1": "solved", "0": "failed", "?": "none", "x": "refused"}


def table_of(*rows: str) -> SampleTable:
    """A table from a text for each statement: 1 solved, 0 failed, ? no verdict, x refused, a space where none is."""
    table = SampleTable("made")
    for number, row in enumerate(rows):
        table.rows[f"s{number}"] = bytearray()
        for sample, letter in enumerate(row):
            if letter != " ":
                table.add(f"s{number}", sample, LETTERS[letter])  # type: ignore[arg-type]
    return table


def values(found: PassTable) -> dict[int, tuple[int, float, float | None, float]]:
    """Blocks, mean, deviation and unbiased estimate of each k, to three places."""
    return {
        row.k: (
            row.blocks,
            round(row.mean, 3),
            None if row.deviation is None else round(row.deviation, 3),
            round(row.unbiased, 3),
        )
        for row in found.rows
    }


GOLDEN: dict[str, tuple[tuple[str, ...], dict[int, tuple[int, float, float | None, float]]]] = {
    # Four samples of two statements. k = 1: rates 50, 0, 50, 100, so mean 50, and the deviation is the root of
    # (0 + 2500 + 0 + 2500) / 4 = 1250. k = 2: blocks 50 and 100. Unbiased: 1 - C(2,2)/C(4,2) = 5/6 for both at k = 2.
    "four samples": (
        ("1001", "0011"),
        {1: (4, 50.0, 35.355, 50.0), 2: (2, 75.0, None, 83.333), 4: (1, 100.0, None, 100.0)},
    ),
    "one sample, one of three solved": (("1", "0", "0"), {1: (1, 33.333, None, 33.333)}),
    "all solved": (("11111", "11111"), {1: (5, 100.0, 0.0, 100.0), 2: (2, 100.0, None, 100.0)}),
    "none solved": (("00000000", "00000000"), {1: (8, 0.0, 0.0, 0.0), 2: (4, 0.0, 0.0, 0.0), 4: (2, 0.0, None, 0.0)}),
    # Five samples in blocks of two: the last sample, which is the only success, is in no block. Unbiased at 2: 2/5.
    "blocks that do not divide": (("00001",), {1: (5, 20.0, 40.0, 20.0), 2: (2, 0.0, None, 40.0)}),
    # Seven samples in blocks of three: blocks 100 0 for each; k = 4: one block. 1 - C(6,3)/C(7,3) = 3/7; 4/7.
    "seven samples in blocks of three and four": (
        ("1000000", "0100000"),
        {3: (2, 50.0, None, 42.857), 4: (1, 100.0, None, 57.143)},
    ),
    # The first has six samples, the second three: blocks end after three. Unbiased at 1: (1/6 + 1/3) / 2; at 3:
    # 1 - C(5,3)/C(6,3) = 1/2 and 1.
    "unequal samples": (
        ("000001", "100"),
        {1: (3, 16.667, None, 25.0), 2: (1, 50.0, None, 50.0), 3: (1, 50.0, None, 75.0)},
    ),
    # Eight blocks of one and four of two: rates 50 50 0 100 for k = 2, whose variance is 1250.
    "four blocks have a deviation, three have none": (
        ("10000010", "00100011"),
        {2: (4, 50.0, 35.355, 55.357), 1: (8, 31.25, 34.799, 31.25)},
    ),
    "one statement": (("0101",), {1: (4, 50.0, 50.0, 50.0), 2: (2, 100.0, None, 83.333)}),
    # A statement that Lean refuses counts in the total and is never solved.
    "a refused statement": (("11", "xx"), {1: (2, 50.0, None, 50.0), 2: (1, 50.0, None, 50.0)}),
    # Sample 2 of the second is missing: two samples in a row; the unbiased estimate takes the three that are there.
    "a gap": (("1111", "00 1"), {1: (2, 50.0, None, 66.667), 2: (1, 50.0, None, 83.333)}),
    # 300 samples, one without a verdict, two solved: three blocks, 100 0 100. Unbiased: 1 - (200 * 199) / (300 * 299).
    "few without a verdict": (("1" + "0" * 98 + "?" + "0" * 199 + "1",), {100: (3, 66.667, None, 55.630)}),
}


@each("name", GOLDEN)
def test_golden_tables(name: str) -> None:
    rows, expected = GOLDEN[name]
    assert values(pass_table(table_of(*rows), list(expected))) == dict(sorted(expected.items()))


def test_what_was_left_out_is_said() -> None:
    notes = "\n".join(pass_table(table_of("00001", "1000000"), [2, 64]).notes)
    assert "1 of 2 statements have more than 5 samples (up to 7)" in notes
    assert "k = 2: the last 1 samples of each statement are no whole block, and are dropped" in notes
    assert "no row for k = 64: there are 5 samples of each statement" in notes
    assert "Lean refuses 1 of the statements" in "\n".join(pass_table(table_of("10", "xx"), [1]).notes)


def test_only_the_first_samples_may_be_taken() -> None:
    found = pass_table(table_of("00001", "1000000"), [1, 2], samples=4)
    assert values(found) == {1: (4, 12.5, 21.651, 12.5), 2: (2, 25.0, None, 25.0)}
    assert found.notes == ()
    with pytest.raises(UserError, match="--samples 6: made has a statement with only 5 samples"):
        pass_table(table_of("00001", "1000000"), [1], samples=6)


def test_more_than_one_in_a_hundred_without_a_verdict_is_an_error() -> None:
    assert pass_table(table_of("?" + "0" * 99), [1]).without_verdict == 1
    with pytest.raises(UserError, match=r"^made: 2 of 100 samples \(2.0%\) have no verdict"):
        pass_table(table_of("??" + "0" * 98), [1])


def test_the_bootstrap_gives_what_resampling_gives() -> None:
    values = np.array([100.0] * 30 + [0.0] * 70)
    low, high = bootstrap_interval(values)
    assert (low, high) == bootstrap_interval(values)
    assert abs(low - (30 - 1.96 * 4.58)) < 1.1 and abs(high - (30 + 1.96 * 4.58)) < 1.1  # sd of a binomial share
    assert bootstrap_interval(np.array([100.0, 100.0])) == (100.0, 100.0)


# -- files -------------------------------------------------------------------------------------------------------


def ours(name: str, sample: int, outcome: str, **more: Any) -> dict[str, Any]:
    theorem = {"source": f"theorem {name} : True := by sorry", "dataset": "made", "id": name}
    return {"theorem": theorem, "outcome": outcome, **({"sample": sample} if sample else {}), **more}


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(record) + "\n" for record in records)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def test_results_of_an_evaluation_are_read(tmp_path: Path) -> None:
    records = [ours("a", 0, "unproven"), ours("b", 0, "error", stop_reason="ProcessLost"), ours("a", 1, "proven")]
    records += [ours("b", 1, "unproven"), ours("b", 0, "proven")]  # the second try of what had no verdict
    path = write(tmp_path / "results.jsonl", records)
    (table,) = read_tables([tmp_path])
    assert table.name == "made" and values(pass_table(table, [1, 2])) == {
        1: (2, 50.0, None, 50.0),
        2: (1, 100.0, None, 100.0),
    }
    with open(path, "a") as file:
        file.write('{"torn')
    assert read_tables([path])[0].num_samples == 4
    (tmp_path / "settings.json").write_text(json.dumps({"settings": {"theorems": 3}}))
    with pytest.raises(UserError, match="only 2 of 3 theorems have samples; --continue"):
        read_tables([tmp_path])


def test_repeats_are_samples_that_follow_each_other(tmp_path: Path) -> None:
    outcomes = ["unproven", "proven", "unproven", "unproven", "unproven", "unproven", "unproven", "unproven"]
    outcomes += ["unproven", "unproven", "proven"]
    for number, outcome in enumerate(outcomes):
        write(tmp_path / f"run_{number}" / "results.jsonl", [ours("a", 0, outcome)])
    (table,) = read_tables([tmp_path])
    assert list(table.rows.values()) == [bytearray([4 if text == "proven" else 3 for text in outcomes])]


def stp(name: str, number: int | None, complete: bool | None, **more: Any) -> dict[str, Any]:
    record = {"statement": f"theorem {name} : True := by", "proof": "\n  simp", "header": None}
    return {
        **record,
        "label": ["miniF2F test"],
        **({} if number is None else {"iter": number}),
        "complete": complete,
        **more,
    }


def test_generated_proofs_are_read(tmp_path: Path) -> None:
    records = [stp("a", 0, False), stp("a", 1, True), stp("a", 1, False, proof="\n  rfl"), stp("b", 1, False)]
    records += [stp("b", 0, True), stp("c", 0, True, label=["proofnet valid", "algebra"])]
    path = write(tmp_path / "generated_proofs_tests.jsonl.gz", records)
    first, second = read_tables([path])
    assert (first.name, second.name) == ("miniF2F test", "proofnet valid")
    assert values(pass_table(first, [1, 2])) == {1: (2, 50.0, None, 50.0), 2: (1, 100.0, None, 100.0)}
    assert read_tables([path.with_suffix("")])[0].rows == first.rows


def test_generated_proofs_without_numbers_follow_each_other(tmp_path: Path) -> None:
    records = [stp("a", None, False, multiplicity=3), stp("a", None, True)]
    (table,) = read_tables([write(tmp_path / "generated.jsonl", records)])
    assert list(table.rows.values()) == [bytearray([3, 3, 3, 4])]


def test_a_test_that_failed_has_no_verdict(tmp_path: Path) -> None:
    failed = stp("a", 0, False, system_errors="test failed")
    assert read_tables([write(tmp_path / "g.jsonl", [failed, stp("a", 1, False)])])[0].count("none") == 1
    with pytest.raises(UserError, match="there is no score, as Lean gave no verdict on any"):
        read_tables([write(tmp_path / "none.jsonl", [failed])])


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        ({"outcome": "proven"}, "record 1: no sample of a proof"),
        ({"statement": "t", "complete": True, "iter": -1}, "not the number of a sample: -1"),
        ({"nothing": 1}, "record 1: no sample"),
        ([], "record 1: no sample"),
    ],
)
def test_what_is_no_sample_is_one_line(tmp_path: Path, record: Any, complaint: str) -> None:
    path = write(tmp_path / "g.jsonl", [record])
    with pytest.raises(UserError, match=complaint):
        read_tables([path])


# -- the command -------------------------------------------------------------------------------------------------


def test_the_command_prints_tables_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [stp(f"s{n}", number, number == n) for n in range(3) for number in range(8)]
    path = write(tmp_path / "generated_proofs_tests.jsonl.gz", records)
    out = tmp_path / "out.json"
    assert passk.main([str(path), "--budgets", "1,2", "32", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "miniF2F test: 3 statements, 8 samples of each" in printed and "12.5 +- 16.1" in printed
    assert "no row for k = 32" in printed
    (written,) = json.loads(out.read_text())
    assert [row["k"] for row in written["rows"]] == [1, 2] and written["rows"][0]["blocks"] == 8
    assert round(written["rows"][0]["deviation"], 3) == 16.137


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere"], "nowhere holds no results.jsonl"),
        (["{file}", "--budgets", "0"], "--budgets wants numbers of samples"),
        (["{file}", "--label", "proofnet"], "--label proofnet: the results hold miniF2F test"),
        (["{file}", "--json", "/dev/null/x"], "cannot write --json /dev/null/x"),
        (["{empty}"], "there are no samples"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, words: list[str], complaint: str) -> None:
    file, empty = write(tmp_path / "g.jsonl", [stp("a", 0, True)]), write(tmp_path / "empty.jsonl", [])
    with pytest.raises(UserError, match=complaint):
        passk.main([word.format(file=file, empty=empty) for word in words])
