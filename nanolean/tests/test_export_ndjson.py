"""Certificates: the library and proofs as export files, which the validator and our own reader take in."""

import gzip
import json
import re
from functools import cache
from pathlib import Path

import pytest

from nanolean.__main__ import main
from nanolean.kernel.declaration import DefDecl, TheoremDecl
from nanolean.kernel.expr import (
    TYPE,
    BVar,
    Const,
    Lam,
    Let,
    Lit,
    Pi,
    Proj,
    Sort,
    arrow,
    erase,
    mk_app,
)
from nanolean.kernel.level import IMax, LParam, Max, Succ
from nanolean.ndjson.export_ndjson import closure, decimal, export_lines, split_name
from nanolean.ndjson.import_ndjson import PERMITTED, check_export
from nanolean.system import UserError
from nanolean.tests.each import each
from nanolean.tests.export_mutants import content, differences
from nanolean.tests.export_validator import validate
from nanolean.tests.library import base, run
from nanolean.tools import certificates
from nanolean.tools.certificates import export_folder, export_ndjson, other_meaning


@cache
def library() -> list[str]:
    """The export of the whole library."""
    return list(export_lines(base().env, [name for name in base().env.names() if name != "sorryAx"]))


def export_of(text: str) -> list[str]:
    """The export of what a text declares."""
    result = run(text)
    assert not result.has_errors, result.messages
    return list(export_lines(result.state.env, [n for n in result.state.env.names() if n not in base().env]))


def rows(lines: list[str], kind: str) -> list[dict]:
    return [record[kind] for line in lines if kind in (record := json.loads(line))]


def with_last(lines: list[str], kind: str, **changes: object) -> list[str]:
    """The lines with other fields in the last declaration of a kind."""
    at = max(number for number, line in enumerate(lines) if kind in json.loads(line))
    record = json.loads(lines[at])
    record[kind].update(changes)
    return [*lines[:at], json.dumps(record), *lines[at + 1 :]]


@pytest.fixture(autouse=True)
def one_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library that is loaded already, for all commands in this process."""
    monkeypatch.setattr("nanolean.tools.certificates.load_library", lambda distrust=False: base())


# --- writing


@pytest.mark.nightly
def test_the_whole_library_is_in_the_format():
    assert validate(library()).keys() == set(base().env.names()) - {"sorryAx"}


def test_an_export_holds_what_its_constants_rest_on_and_no_more():
    names = [info.name for info in closure(base().env, ["Nat.add_comm"])]
    assert names[-1] == "Nat.add_comm" and {"Nat", "Nat.succ", "Nat.rec", "Eq.rec", "Nat.add"} <= set(names)
    assert "List" not in names and "Classical.choice" not in names
    assert list(validate(list(export_lines(base().env, ["Nat.add_comm"])))) == names


def test_a_numeral_brings_the_numbers():
    env = base().env.add(DefDecl("five", (), Const("Nat"), Lit(5)))
    assert "Nat.rec" in [info.name for info in closure(env, ["five"])]
    assert rows(list(export_lines(env, ["five"])), "natVal") == ["5"]


def test_one_quotient_brings_all_four_behind_equality():
    declared = list(validate(list(export_lines(base().env, ["Quot.mk"]))))
    assert declared[-4:] == ["Quot", "Quot.mk", "Quot.lift", "Quot.ind"] and "Eq" in declared[:-4]


def test_operations_come_with_those_that_our_kernel_checks_them_by():
    names = {info.name for info in closure(base().env, ["Nat.gcd"])}
    assert {"Nat.beq", "Nat.mod"} <= names
    assert check_export(export_lines(base().env, ["Nat.gcd"])).outcome == "accepted"


def test_heights_and_hints_are_those_of_lean():
    env = base().env
    a = DefDecl("a", (), TYPE, Const("Nat"), reducible=True)
    b = DefDecl("b", (), TYPE, Const("a"))
    c = DefDecl("c", (), TYPE, Const("b"))
    for decl in (a, b, c):
        env = env.add(decl)
    hints = [row["hints"] for row in rows(list(export_lines(env, ["c"])), "def")]
    assert hints == ["abbrev", {"regular": 1}, {"regular": 2}]


def test_every_kind_of_term_and_level_comes_back_as_it_was():
    u, v = LParam("u"), LParam("v")
    level = IMax(u, Max(Succ(u), v))
    both = mk_app(Const("And"), Const("True"), Const("True"))
    value = Lam("h", both, Let("x", Const("True"), Proj("And", 0, BVar(0)), BVar(0)), "strict")
    env = base().env.add(DefDecl("d", ("u", "v"), Sort(Succ(level)), Sort(level)))
    env = env.add(TheoremDecl("t", (), Pi("h", both, Const("True"), "inst"), value))
    lines = list(export_lines(env, ["d", "t"]))
    validate(lines)
    for kind in ("succ", "max", "imax", "param", "bvar", "sort", "const", "app", "lam", "forallE", "letE", "proj"):
        assert rows(lines, kind), kind
    found = check_export(lines).env
    assert all(content(found[name]) == content(env[name]) for name in found.names())
    assert found["t"].value is value


def test_binders_whose_names_were_blanked_are_written_too():
    env = base().env.add(DefDecl("d", (), arrow(TYPE, TYPE), erase(Lam("α", TYPE, BVar(0)))))
    lines = list(export_lines(env, ["d"]))
    validate(lines)
    assert content(check_export(lines).env["d"]) == content(env["d"])


def test_parts_of_names_are_split_where_lean_splits_them():
    assert split_name("Nat.add") == [("Nat", False), ("add", False)]
    assert split_name("_private.«a.b».0.«»") == [("_private", False), ("a.b", False), ("0", True), ("", False)]


def test_names_with_guillemets_come_back_as_they_were():
    env = base().env.add(TheoremDecl("«a.b».c'", (), Const("True"), Const("True.intro")))
    lines = list(export_lines(env, ["«a.b».c'"]))
    assert {"pre": 0, "str": "a.b"} in rows(lines, "str")
    assert "«a.b».c'" in check_export(lines).env


@pytest.mark.parametrize("digits", [1, 4000, 4001, 9002, 17_000])
def test_numbers_of_any_size_are_written_in_digits(digits):
    value = 10**digits - 10 ** (digits // 2) - 1
    text = decimal(value)
    assert re.fullmatch(r"[1-9][0-9]*", text) and len(text) == digits
    rebuilt = 0
    for start in range(0, len(text), 1000):
        part = text[start : start + 1000]
        rebuilt = rebuilt * 10 ** len(part) + int(part)
    assert rebuilt == value


# --- reading


def verdict_of(*lines: str) -> tuple[str, str]:
    verdict = check_export([library()[0], *lines])
    return verdict.outcome, verdict.reason


FOO = '{"str":{"pre":0,"str":"foo"},"in":1}'
PROP_ROW = '{"sort":0,"ie":0}'
FOO_AXIOM = '{"axiom":{"name":1,"levelParams":[],"type":0,"isUnsafe":false}}'


@each(
    ("lines", "reason"),
    [
        (["{"], "not a line of JSON"),
        ([""], "not a line of JSON"),
        (["[]"], "not an object"),
        (["{}"], "says one thing"),
        (['{"sort":0,"bvar":0,"ie":0}'], "says one thing"),
        (['{"sort":NaN,"ie":0}'], "NaN is not a number"),
        (['{"sort":0,"sort":0,"ie":0}'], "given twice"),
        (['{"bvar":' + "9" * 40 + ',"ie":0}'], "too large"),
        (["[" * 100_000 + "]" * 100_000], "nested more than"),
        (['{"a":' * 40_000 + "1" + "}" * 40_000], "nested more than"),
        (['{"sort":1,"ie":0}'], "there is no level 1 yet"),
        (['{"sort":true,"ie":0}'], "there is no level True yet"),
        (['{"sort":0,"ie":-1}'], "expected a natural number, got -1"),
        (['{"sort":0,"in":1}'], "does not go with 'in'"),
        (['{"sort":0}'], "has no number"),
        (['{"flub":0,"ie":0}'], "is not known"),
        (['{"bvar":-1,"ie":0}'], "expected a natural number"),
        (['{"natVal":"-3","ie":0}'], "not a natural number"),
        (['{"natVal":"007","ie":0}'], "not a natural number"),
        (['{"natVal":7,"ie":0}'], "expected a text"),
        (['{"str":{"pre":0,"str":"\\ud800"},"in":1}'], "half of a character"),
        (['{"str":{"pre":0},"in":1}'], "expected an object with pre, str"),
        ([PROP_ROW, PROP_ROW], "'ie' 0 has been given before"),
        ([PROP_ROW, '{"sort":0,"ie":1}'], "the same 'sort'"),
        ([PROP_ROW, FOO_AXIOM], "there is no name 1 yet"),
        ([FOO, PROP_ROW, FOO_AXIOM, FOO_AXIOM], "already been declared"),
        ([FOO, PROP_ROW, FOO_AXIOM.replace('"name":1', '"name":0')], "needs a name"),
        ([FOO, PROP_ROW, FOO_AXIOM.replace("false", "0")], "expected true or false"),
        ([FOO, PROP_ROW, FOO_AXIOM.replace("[]", "[1,1]")], "universe parameter twice"),
        ([FOO, PROP_ROW, '{"app":{"fn":0,"arg":0},"ie":1}', FOO_AXIOM.replace('"type":0', '"type":1')], "a function"),
        ([FOO, '{"bvar":0,"ie":0}', FOO_AXIOM], "loose bound variable"),
    ],
)
def test_malformed_lines_are_refused_with_a_reason_in_one_line(lines, reason):
    outcome, said = verdict_of(*lines)
    assert outcome == "refused" and reason in said and "\n" not in said


@each(
    ("lines", "reason"),
    [
        (['{"strVal":"a","ie":0}'], "string literals"),
        (['{"natVal":"' + "9" * 500_000 + '","ie":0}'], "500000 digits"),
        (['{"str":{"pre":0,"str":"»"},"in":1}'], "the name"),
        (['{"str":{"pre":0,"str":"' + "x" * 5000 + '"},"in":1}'], "the name"),
        ([FOO, PROP_ROW, FOO_AXIOM.replace("false", "true")], "unsafe"),
        ([f'{{"succ":{n},"il":{n + 1}}}' for n in range(1001)], "universe level is too large"),
    ],
)
def test_what_this_kernel_does_not_have_is_declined_with_the_reason(lines, reason):
    outcome, said = verdict_of(*lines)
    assert outcome == "declined" and reason in said and "\n" not in said


def test_a_file_without_metadata_or_of_another_version_is_not_read():
    assert check_export([]).reason == "it is empty"
    assert check_export([PROP_ROW]).outcome == "refused"
    other = library()[0].replace('"version":"3.1.0"}}', '"version":"3.2.0"}}')
    assert check_export([other]).outcome == "declined"


def test_numbers_of_rows_may_have_gaps_and_be_out_of_order():
    foo, row = FOO.replace('"in":1', '"in":7'), PROP_ROW.replace('"ie":0', '"ie":5')
    lines = [foo, '{"succ":0,"il":2}', '{"succ":2,"il":1}', row]
    assert verdict_of(*lines, FOO_AXIOM.replace('"name":1', '"name":7').replace('"type":0', '"type":5')) == (
        "accepted",
        "",
    )


def test_an_axiom_that_is_not_permitted_is_left_out_and_may_not_be_used():
    lines = export_of("axiom lie : 1 = 2\ntheorem t : 1 = 2 := lie")
    assert check_export(lines[:-1]).left_out == ("lie",)
    refused = check_export(lines)
    assert refused.outcome == "refused" and "not permitted: lie" in refused.reason
    assert check_export(lines, permitted=None).outcome == "accepted"
    assert check_export(lines, [*PERMITTED, "lie"]).outcome == "accepted"


@pytest.mark.parametrize("name", PERMITTED)
def test_the_axioms_of_lean_are_permitted(name):
    assert check_export(export_lines(base().env, [name])).outcome == "accepted"


@each(
    "text",
    [
        "axiom propext' (a b : Prop) : a = b",
        "axiom propext' {a b : Prop} (h : a → b) : a = b",
        "axiom Classical.choice'.{u} {α : Sort u} (h : α → α) : α",
        "axiom Classical.choice'.{u} {α : Type u} (h : Nonempty α) : α",
        "axiom Quot.sound'.{u} {α : Sort u} {r : α → α → Prop} {a b : α} : Quot.mk r a = Quot.mk r b",
        "inductive Iff' (a b : Prop) : Prop where\n  | intro : Iff' a b\n"
        "axiom propext' {a b : Prop} (h : Iff' a b) : a = b",
        "inductive Nonempty'.{u} (α : Sort u) : Prop where\n  | intro : Nonempty' α\n"
        "axiom Classical.choice'.{u} {α : Sort u} (h : Nonempty' α) : α",
    ],
)
def test_a_permitted_axiom_must_say_what_it_says_in_lean(text):
    lines = [re.sub(r"\b(Iff|Nonempty|propext|choice|sound)'", r"\1", line) for line in export_of(text)]
    refused = check_export(lines)
    assert refused.outcome == "refused" and "does not say what it says in Lean" in refused.reason


def changed(part: str, change: object, name: str = "Nat.le") -> list[str]:
    """The export of an inductive type with another value in one place of its line."""
    lines = list(export_lines(base().env, [name]))
    record = json.loads(lines[-1])
    *path, key = part.split(".")
    place = record["inductive"]
    for step in path:
        place = place[int(step) if step.isdigit() else step]
    if callable(change):
        change = change(place[key])
    place[key] = change
    return [*lines[:-1], json.dumps(record)]


@each(
    ("part", "change"),
    [
        ("types.0.numParams", 0),
        ("types.0.numParams", 2),
        ("types.0.numIndices", 2),
        ("types.0.isRec", False),
        ("types.0.isReflexive", True),
        ("types.0.all", []),
        ("types.0.ctors", lambda ctors: ctors[::-1]),
        ("types.0.name", 1),
        ("types", []),
        ("ctors", lambda ctors: ctors[::-1]),
        ("ctors", lambda ctors: ctors[:1]),
        ("ctors.0.cidx", 1),
        ("ctors.1.numFields", 1),
        ("ctors.0.numParams", 0),
        ("ctors.0.induct", 1),
        ("ctors.0.type", 0),
        ("recs", []),
        ("recs", lambda recs: [*recs, recs[0]]),
        ("recs.0.name", 1),
        ("recs.0.k", True),
        ("recs.0.numMotives", 2),
        ("recs.0.numMinors", 1),
        ("recs.0.numIndices", 0),
        ("recs.0.numParams", 0),
        ("recs.0.levelParams", [1]),
        ("recs.0.all", []),
        ("recs.0.type", 0),
        ("recs.0.rules", []),
        ("recs.0.rules", lambda rules: rules[::-1]),
        ("recs.0.rules.0.nfields", 1),
        ("recs.0.rules.0.rhs", 0),
        ("recs.0.rules.1.rhs", lambda rhs: rhs - 1),
    ],
)
def test_what_is_said_of_an_inductive_type_must_be_so(part, change):
    verdict = check_export(changed(part, change))
    assert verdict.outcome == "refused" and verdict.reason


def test_mutual_and_nested_types_are_declined():
    assert check_export(changed("types", lambda types: types * 2)).reason == "mutual inductive types"
    assert check_export(changed("types.0.numNested", 1)).reason == "nested inductive types"
    assert check_export(changed("types.0.isUnsafe", True)).reason == "unsafe constants"


def test_flags_of_inductive_types_are_those_of_leans_kernel():
    text = """inductive Tree (α : Type) : Type where
  | leaf : Tree α
  | node (f : Nat → Tree α) : Tree α
inductive Plain : Type where
  | one (n : Nat) : Plain"""
    flags = [(t["isRec"], t["isReflexive"]) for row in rows(export_of(text), "inductive")[-2:] for t in row["types"]]
    assert flags == [(True, True), (False, False)]
    assert check_export(export_of(text)).outcome == "accepted"


@pytest.mark.parametrize(
    ("name", "outcome"), [("add", "refused"), ("mul", "refused"), ("mod", "declined"), ("gcd", "declined")]
)
def test_operations_on_numbers_that_are_defined_otherwise_are_not_accepted(name, outcome):
    lines = export_of("def Nat.first (a b : Nat) : Nat := a")
    assert check_export(lines).outcome == "accepted"
    assert check_export(line.replace('"first"', f'"{name}"') for line in lines).outcome == outcome


@pytest.mark.parametrize("drop", range(4))
def test_a_quotient_that_is_missing_is_refused(drop):
    lines = list(export_lines(base().env, ["Quot.mk", "Nat"]))
    places = [n for n, line in enumerate(lines) if line.startswith('{"quot"')]
    del lines[places[drop]]
    assert check_export(lines).outcome == "refused"


def test_a_declaration_before_what_it_rests_on_is_refused():
    lines = list(export_lines(base().env, ["Nat.add_comm"]))
    theorem = max(n for n, line in enumerate(lines) if line.startswith('{"thm"') and n < len(lines) - 1)
    reason = check_export([*lines[:theorem], *lines[theorem + 1 :]]).reason
    assert reason.startswith("unknown constant")


def test_too_much_work_is_declined_and_not_refused():
    assert check_export(export_of("theorem t : 10 * 10 = 100 := by decide"), steps=50).outcome == "declined"


# --- commands


@pytest.mark.nightly
def test_the_librarys_own_export_is_written_accepted_and_gives_the_library_again(tmp_path, capsys, monkeypatch):
    verdicts = []
    monkeypatch.setattr(
        certificates, "check_export", lambda *given: verdicts.append(check_export(*given)) or verdicts[0]
    )
    out = tmp_path / "library.ndjson.gz"
    assert main(["export", "--format", "ndjson", "--library", "-o", str(out)]) == 0
    assert gzip.decompress(out.read_bytes()).decode().splitlines() == library()
    assert main(["check", "--format", "ndjson", str(out)]) == 0
    said = capsys.readouterr().out
    assert f"{out}: accepted: " in said
    assert "axioms: Classical.choice, Quot.sound, propext" in said
    (verdict,) = verdicts
    assert (verdict.outcome, verdict.reason, verdict.left_out) == ("accepted", "", ())
    assert verdict.env.names() == [name for name in base().env.names() if name != "sorryAx"]
    assert differences(verdict.env, base().env) == []
    assert list(export_lines(verdict.env, verdict.env.names())) == library()


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_verdicts_have_exit_codes_of_their_own(tmp_path, capsys):
    good = write(tmp_path / "good.ndjson", "\n".join(library()[:1]))
    bad = write(tmp_path / "bad.ndjson", library()[0] + "\n{")
    other = write(tmp_path / "other.ndjson", library()[0] + '\n{"strVal":"a","ie":0}\n')
    codes = [main(["check", "--format", "ndjson", str(file)]) for file in (good, bad, other)]
    assert codes == [0, 1, 3]
    assert main(["check", "--format", "ndjson", str(bad), str(other), "--json"]) == 1
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [(file["outcome"], file["line"]) for file in found["files"]] == [("refused", 2), ("declined", 2)]
    with pytest.raises(UserError, match="no such file"):
        main(["check", "--format", "ndjson", str(tmp_path / "none.ndjson")])


@pytest.mark.parametrize("data", [b"\xff\n", gzip.compress(b"x" * 100_000)[:-20], b"no gzip"])
def test_files_that_are_no_text_or_torn_are_refused(tmp_path, data, capsys):
    file = tmp_path / ("a.ndjson" if data == b"\xff\n" else "a.ndjson.gz")
    file.write_bytes(data)
    assert main(["check", "--format", "ndjson", str(file)]) == 1
    assert capsys.readouterr().out.count("\n") == 1


def test_every_proof_of_a_folder_gets_a_certificate_and_an_example_too(tmp_path, capsys):
    write(tmp_path / "a.lean", "theorem a : 2 + 2 = 4 := by decide\n")
    write(tmp_path / "b.lean", "example : 1 = 1 := rfl\n\nexample (p : Prop) (h : p) : p := h\n")
    assert export_folder(tmp_path, None, None) == 0
    assert capsys.readouterr().out == "2 of 2 certificates written\n"
    found = check_export((tmp_path / "b.ndjson").read_text(encoding="utf-8").splitlines())
    assert found.outcome == "accepted" and {"_example", "_example_2"} <= set(found.env.names())
    assert main(["compare", str(tmp_path)]) == 0


def test_what_is_not_proved_gets_no_certificate_and_loses_an_old_one(tmp_path, capsys):
    write(tmp_path / "a.lean", "theorem a : 1 = 2 := sorry\n")
    write(tmp_path / "a.ndjson", "old")
    assert export_folder(tmp_path, None, None) == 1
    assert "0 of 1 certificate written" in capsys.readouterr().out
    assert not (tmp_path / "a.ndjson").exists()


def test_several_files_go_into_one_export_and_do_not_open_names_for_each_other(tmp_path):
    one = write(tmp_path / "a.lean", "namespace A\n\ntheorem a : 1 = 1 := rfl\n")
    two = write(tmp_path / "b.lean", "theorem b : 1 = 1 := A.a\n\ntheorem c : 2 = 2 := rfl\n")
    assert export_ndjson([str(one), str(two)], False, tmp_path / "out.ndjson", None) == 0
    assert {"A.a", "b", "c"} <= validate((tmp_path / "out.ndjson").read_text(encoding="utf-8").splitlines()).keys()
    write(two, "theorem b : 1 = 1 := a\n")
    with pytest.raises(UserError, match=r"b\.lean has errors"):
        export_ndjson([str(one), str(two)], False, tmp_path / "out.ndjson", None)


def test_no_certificate_is_begun_when_the_time_is_over(tmp_path, capsys):
    write(tmp_path / "a.lean", "theorem a : 1 = 1 := rfl\n")
    assert export_folder(tmp_path, None, 0.0) == 1
    assert "no time for 1" in capsys.readouterr().out


def test_large_certificates_are_compressed_and_small_ones_are_not(tmp_path, monkeypatch):
    write(tmp_path / "a.lean", "theorem a : 1 = 1 := rfl\n")
    export_folder(tmp_path, None, None)
    assert (tmp_path / "a.ndjson").exists()
    monkeypatch.setattr(certificates, "PACKED_FROM", 100)
    export_folder(tmp_path, None, None)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.lean", "a.ndjson.gz"]
    assert main(["compare", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    "words",
    [["Nat.add_comm"], ["Nat.nonsense", "-o", "OUT"], ["-o", "OUT"], ["--library"], [".", "Nat.add_comm", "-o", "OUT"]],
)
def test_what_cannot_be_exported_is_said_in_a_line(words, tmp_path):
    words = [str(tmp_path / "out.ndjson") if word == "OUT" else word for word in words]
    with pytest.raises(UserError):
        main(["export", "--format", "ndjson", *words])
    assert not (tmp_path / "out.ndjson").exists()


def test_a_file_that_rests_on_sorry_is_not_exported(tmp_path):
    source = write(tmp_path / "a.lean", "theorem a : 1 = 2 := sorryAx _ false\n")
    with pytest.raises(UserError, match="sorry"):
        export_ndjson([str(source)], False, tmp_path / "a.ndjson", None)


# --- certificates and the files that they are of


GOOD = "def two : Nat := 2\n\ntheorem t : two = 2 := rfl\n"


@pytest.mark.parametrize(
    ("text", "difference"),
    [
        ("def two : Nat := 2\n\ntheorem t : 2 = two := rfl\n", "t is another one"),
        ("def two : Nat := 1 + 1\n\ntheorem t : two = 2 := rfl\n", "two is another one"),
        ("def two : Nat := 2\n\ntheorem s : two = 2 := rfl\n", "does not hold s"),
        ("axiom two : Nat\n\ntheorem t : two = two := rfl\n", "is another one"),
        (GOOD.replace("rfl", "sorry"), "errors or `sorry`"),
        (GOOD.replace("rfl", "by decide"), ""),
    ],
)
def test_a_certificate_must_be_of_what_its_file_says(tmp_path, text, difference, capsys):
    write(tmp_path / "a.lean", GOOD)
    export_folder(tmp_path, None, None)
    write(tmp_path / "a.lean", text)
    assert main(["compare", str(tmp_path), "--json"]) == (1 if difference else 0)
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert difference in found["different"].get(str(tmp_path / "a.lean"), "")


def test_missing_refused_and_surplus_certificates_are_told(tmp_path, capsys):
    for name in "abc":
        write(tmp_path / f"{name}.lean", f"theorem {name} : 1 = 1 := rfl\n")
    export_folder(tmp_path, None, None)
    (tmp_path / "a.ndjson").unlink()
    write(tmp_path / "b.ndjson", "\n")
    (tmp_path / "c.ndjson").rename(tmp_path / "d.ndjson")
    assert main(["compare", str(tmp_path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out.splitlines()[-1])["different"]
    assert {Path(file).name for file in found} == {"a.lean", "b.lean", "c.lean", "d.ndjson"}


def test_statements_are_compared_with_all_that_they_speak_of():
    one, other = (
        run("def f (n : Nat) : Nat := n\n\ndef g (n : Nat) : Nat := f n\n\ntheorem t : g 0 = 0 := rfl"),
        run("def f (_ : Nat) : Nat := 0\n\ndef g (n : Nat) : Nat := f n\n\ntheorem t : g 0 = 0 := rfl"),
    )
    assert other_meaning(one.state.env, one.state.env, ["t"]) == ""
    assert other_meaning(one.state.env, other.state.env, ["t"]) == "f"
