"""What the REPL offers beside commands and tactics: options, imports, traces, all tactics, root goals, pickles."""

import json
from pathlib import Path
from typing import Any

import pytest

from nanolean.repl import FORMAT, Repl
from nanolean.tactic_state import name_hash
from nanolean.tests.library import base


@pytest.fixture
def repl() -> Repl:
    return Repl(base())


def texts(answer: dict) -> list[str]:
    return [message["data"] for message in answer.get("messages", [])]


def start(repl: Repl, statement: str) -> int:
    return repl.answer({"cmd": f"example {statement} := by sorry"})["sorries"][0]["proofState"]


def step(repl: Repl, state: int, tactic: str) -> dict:
    return repl.answer({"tactic": tactic, "proofState": state})


# --- options and imports


def test_universes_are_printed_on_request(repl: Repl):
    assert texts(repl.answer({"cmd": "#print List.nil"})) == ["constructor List.nil.{u} : {α : Type u} → List α"]
    repl.answer({"cmd": "set_option pp.universes true"})
    shown = texts(repl.answer({"cmd": "#print List.nil", "env": 1}))
    assert shown == ["constructor List.nil.{u} : {α : Type u} → List.{u} α"]


def test_goals_show_universes_on_request(repl: Repl):
    answer = repl.answer({"cmd": "set_option pp.universes true in\nexample (l : List Nat) : l = l := by sorry"})
    assert answer["sorries"][0]["goal"] == "l : List.{0} Nat\n⊢ l = l"


def test_an_option_ends_with_its_section(repl: Repl):
    text = "section\nset_option pp.universes true\n#print List.nil\nend\n#print List.nil"
    first, second = texts(repl.answer({"cmd": text}))
    assert "List.{u}" in first and "List.{u}" not in second


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("set_option nonsense true", "Unknown option `nonsense`"),
        ("set_option pp.all true", "the option `pp.all` is not supported"),
        ("set_option pp.universes 3", "set_option value type mismatch: The option `pp.universes` is a `Bool`"),
        ("set_option warningAsError true", "the option `warningAsError` is not supported"),
        ("set_option warningAsError false", None),
        ("set_option backward.privateInPublic true", "the option `backward.privateInPublic` is not supported"),
        ("set_option maxRecDepth 1000", None),
    ],
)
def test_options_that_lean_does_not_have_are_refused(repl: Repl, text: str, told: str | None):
    assert texts(repl.answer({"cmd": text})) == ([] if told is None else [told])


def test_what_comes_with_lean_can_be_imported(repl: Repl):
    assert repl.answer({"cmd": "import Init"}) == {"env": 0}
    assert repl.answer({"cmd": "import Lean\nimport Std\n\nexample : 1 = 1 := rfl"}) == {"env": 1}


def test_other_modules_are_unknown(repl: Repl):
    answer = repl.answer({"cmd": "import Mathlib.Tactic\nexample : 1 = 1 := rfl"})
    assert texts(answer)[0].startswith("unknown module prefix 'Mathlib'")
    assert answer["messages"][0]["pos"] == {"line": 1, "column": 7}


def test_imports_stand_at_the_beginning_only(repl: Repl):
    repl.answer({"cmd": "def x := 1"})
    assert repl.answer({"cmd": "import Lean", "env": 0})["messages"][0]["severity"] == "error"
    assert repl.answer({"cmd": "def y := 1\nimport Lean"})["messages"][0]["severity"] == "error"


# --- traces


def test_trace_says_something(repl: Repl):
    answer = step(repl, start(repl, ": 1 = 1"), 'trace "here"')
    assert answer["traces"] == ["here"] and "messages" not in answer
    told = repl.answer({"cmd": 'example : 1 = 1 := by\n  trace "one"\n  rfl'})["messages"]
    here = {"pos": {"line": 2, "column": 2}, "endPos": {"line": 2, "column": 7}}
    assert told == [{"severity": "info", **here, "data": "one"}]


def test_simp_tells_its_rules_on_request(repl: Repl):
    repl.answer({"cmd": "def a := 1\n@[simp] theorem a_def : a = 1 := rfl\nset_option trace.Meta.Tactic.simp true"})
    (told,) = texts(repl.answer({"cmd": "example : a = 1 := by simp", "env": 0}))
    assert told.startswith("[Meta.Tactic.simp.rewrite] a_def:1000:\n      a\n    ==>\n      1\n[Meta")
    assert "a_def" not in json.dumps(repl.answer({"cmd": "example : 1 = 1 := by simp"}))


def test_what_is_only_tried_leaves_no_trace(repl: Repl):
    assert "traces" not in step(repl, start(repl, ": 1 = 1"), 'first | (trace "no"; assumption) | rfl')


# --- all tactics and root goals


def test_all_tactics_are_listed_with_their_goals(repl: Repl):
    text = "theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  constructor\n  · exact hp\n  · exact hq"
    found = repl.answer({"cmd": text, "allTactics": True})["tactics"]
    assert [item["tactic"] for item in found] == ["constructor", "exact hp", "exact hq"]
    assert found[2]["goals"] == "case right\np q : Prop\nhp : p\nhq : q\n⊢ q"
    assert found[0]["pos"] == {"line": 2, "column": 2} and found[0]["endPos"] == {"line": 2, "column": 13}
    assert found[0]["usedConstants"] == ["And.intro"]


def test_the_states_before_tactics_can_be_worked_on(repl: Repl):
    text = "theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  constructor\n  · exact hp\n  · exact hq"
    first = repl.answer({"cmd": text, "allTactics": True})["tactics"][0]["proofState"]
    assert step(repl, first, "exact ⟨hp, hq⟩")["proofStatus"] == "Completed"


def test_numbers_and_operators_count_as_the_constants_that_lean_has_for_them(repl: Repl):
    text = "example (n : Nat) : n + 2 = 2 + n := by exact Nat.add_comm n 2"
    used = repl.answer({"cmd": text, "allTactics": True})["tactics"][0]["usedConstants"]
    assert set(used) == {"Nat.add_comm", "OfNat.ofNat", "instOfNatNat", "Nat"}


def test_names_are_ordered_by_their_hash():
    assert sorted(["Nat", "OfNat.ofNat", "instOfNatNat"], key=name_hash) == ["instOfNatNat", "Nat", "OfNat.ofNat"]


def test_root_goals_are_the_goals_of_outermost_blocks(repl: Repl):
    text = "example : 1 = 1 ∧ 2 = 2 := ⟨by rfl, by\n  have h : 3 = 3 := by rfl\n  rfl⟩"
    answer = repl.answer({"cmd": text, "rootGoals": True})
    assert [item["goal"] for item in answer["sorries"]] == ["⊢ 1 = 1", "⊢ 2 = 2"]
    assert answer["sorries"][0]["pos"] == answer["sorries"][0]["endPos"] == {"line": 1, "column": 28}
    assert step(repl, 1, "rfl")["proofStatus"] == "Completed"


def test_neither_is_listed_unasked(repl: Repl):
    assert repl.answer({"cmd": "example : 1 = 1 := by rfl"}) == {"env": 0}


def test_info_trees_are_refused(repl: Repl):
    answer = repl.answer({"cmd": "example : 1 = 1 := rfl", "infotree": "full"})
    assert list(answer) == ["message"] and "infotree" in answer["message"]


def test_a_command_over_a_file_is_refused(repl: Repl):
    answer = repl.answer({"path": "File.lean", "allTactics": True})
    assert list(answer) == ["message"] and "send the text as `cmd`" in answer["message"]


# --- declarations


def of(synthetic: bool, *places: int) -> dict[str, Any]:
    start, finish = ({"line": places[k], "column": places[k + 1]} for k in (0, 2))
    return {"synthetic": synthetic, "start": start, "finish": finish}


PLAIN = {
    "docString": None, "visibility": "regular", "computeKind": "regular", "recKind": "default",
    "isProtected": False, "isUnsafe": False, "attributes": [],
}  # fmt: skip


def test_declarations_are_described_as_clients_of_the_repl_read_them(repl: Repl):
    answer = repl.answer({"cmd": "variable (p : Prop)\ntheorem t (h : p) : 0 = 0 := by rfl", "declarations": True})
    (found,) = answer["declarations"]
    assert found == {
        "pp": "theorem t (h : p) : 0 = 0 := by rfl",
        "range": of(False, 2, 0, 2, 35),
        "scope": {
            "varDecls": ["variable (p : Prop)"], "includeVars": [], "omitVars": [], "levelNames": [],
            "currNamespace": "[anonymous]", "openDecl": [],
        },
        "name": "t",
        "fullName": "t",
        "kind": "theorem",
        "modifiers": PLAIN,
        "signature": {"pp": "(h : p) : 0 = 0", "constants": ["h", "p"], "range": of(False, 2, 10, 2, 25)},
        "binders": {
            "pp": "(h : p)", "groups": ["(h : p)"], "map": [{"id": "h", "type": "p", "binderInfo": "default"}],
            "range": of(False, 2, 10, 2, 17),
        },
        "type": {"pp": "0 = 0", "constants": [], "range": of(False, 2, 20, 2, 25)},
        "value": {"pp": ":= by rfl", "constants": [], "range": of(False, 2, 26, 2, 35)},
    }  # fmt: skip


def test_each_kind_of_declaration_is_described(repl: Repl):
    text = (
        "def x := 42\nnamespace A\nopen Nat\n/-- One. -/\n@[simp] protected theorem one : succ 0 = 1 := rfl\n"
        "private def f {α : Type} [Add α] (a b : α) : α := a\nabbrev N := Nat\naxiom ax : True\n"
        "inductive B where\n  | c\nstructure S (p : Prop) where\n  h : p\nexample : True := trivial\nend A"
    )
    listed = repl.answer({"cmd": text, "declarations": True})["declarations"]
    kinds = ["definition", "theorem", "definition", "abbrev", "axiom", "inductive", "structure", "example"]
    assert [each["kind"] for each in listed] == kinds
    x, one, f, *rest = listed
    nothing = {"pp": "", "constants": [], "range": of(True, 1, 0, 1, 0)}
    assert (x["signature"], x["binders"], x["type"], x["value"]["pp"]) == (nothing, None, None, ":= 42")
    assert (one["name"], one["fullName"], one["scope"]["currNamespace"]) == ("one", "A.one", "A")
    assert one["scope"]["openDecl"] == [{"simple": {"ns": "Nat", "except": []}}]
    assert one["modifiers"] == PLAIN | {
        "docString": {"content": "One. ", "range": of(False, 4, 0, 4, 11)}, "isProtected": True, "attributes": ["simp"]
    }  # fmt: skip
    assert one["signature"]["pp"] == ": succ 0 = 1" and one["signature"]["constants"] == ["succ"]
    assert f["signature"]["pp"] == "{α : Type} [Add α] (a b : α) : α" and f["modifiers"]["visibility"] == "private"
    assert [each["binderInfo"] for each in f["binders"]["map"]] == ["implicit", "instImplicit", "default", "default"]
    assert [each["value"] and each["value"]["pp"] for each in rest] == [":= Nat", None, None, None, ":= trivial"]


# --- pickles


def test_an_environment_is_kept_in_a_file(repl: Repl, tmp_path: Path):
    file = tmp_path / "env.json"
    repl.answer({"cmd": "def two := 2"})
    repl.answer({"cmd": "theorem t : two = 2 := rfl", "env": 0})
    assert repl.answer({"pickleTo": str(file), "env": 1}) == {"env": 1}
    other = Repl(base())
    assert other.answer({"unpickleEnvFrom": str(file)}) == {"env": 0}
    assert other.answer({"cmd": "example : two = 2 := t", "env": 0}) == {"env": 1}


def test_a_proof_state_is_kept_in_a_file(repl: Repl, tmp_path: Path):
    file = tmp_path / "state.json"
    repl.answer({"cmd": "def two := 2"})
    repl.answer({"cmd": "example (p : Prop) : p → two = 2 ∧ p := by sorry", "env": 0})
    state = step(repl, step(repl, 0, "intro h")["proofState"], "constructor")
    answer = repl.answer({"pickleTo": str(file), "proofState": state["proofState"]})
    assert answer["goals"] == state["goals"]
    other = Repl(base())
    loaded = other.answer({"unpickleProofStateFrom": str(file)})
    assert loaded == {"proofStatus": "Incomplete: open goals remain", "proofState": 0, "goals": state["goals"]}
    half = step(other, 0, "rfl")
    assert step(other, half["proofState"], "exact h")["proofStatus"] == "Completed"


def test_modules_are_run_one_after_another_and_end_with_their_scopes_closed(repl: Repl, tmp_path: Path):
    first = repl.answer({"cmd": "namespace A\nopen Nat\ntheorem t : True := trivial", "module": True})
    answer = repl.answer(
        {"cmd": "theorem u : True := A.t\ntheorem v : True := t", "env": first["env"], "constants": True}
    )
    assert texts(answer) == ["Unknown identifier `t`"]
    assert answer["constants"][0] == {"name": "u", "kind": "theorem", "usedConstants": ["A.t", "True"]}
    refused = repl.answer({"pickleTo": str(tmp_path / "p"), "env": answer["env"]})
    assert "what rests on commands with `module` is not pickled" in refused["message"]


def test_a_prelude_is_run_over_nothing_and_only_where_it_is_asked_for(repl: Repl):
    text = "inductive Nat : Type where\n  | zero : Nat\n  | succ (n : Nat) : Nat"
    assert texts(repl.answer({"cmd": text})) == ["`Nat` has already been declared"]
    answer = repl.answer({"cmd": text, "prelude": True, "constants": True})
    assert texts(answer) == [] and "Nat.succ" in [each["name"] for each in answer["constants"]]
    assert texts(repl.answer({"cmd": "#check True", "env": answer["env"]})) == ["Unknown identifier `True`"]
    eq = "inductive Eq.{u} {α : Sort u} (a : α) : α → Prop where\n  | refl : Eq a a"
    known = repl.answer({"cmd": eq, "env": answer["env"], "module": True})
    assert texts(repl.answer({"cmd": "#check @Quot.mk", "env": known["env"]}))[0].startswith("@Quot.mk :")


def test_states_of_every_origin_are_kept(repl: Repl, tmp_path: Path):
    text = "example (p : Prop) (h : p) : p ∧ p := by\n  constructor\n  · exact h\n  · exact h"
    answer = repl.answer({"cmd": text, "allTactics": True, "rootGoals": True})
    nested = step(repl, answer["tactics"][1]["proofState"], "have k : p := sorry")
    states = [
        answer["sorries"][0]["proofState"],
        answer["tactics"][1]["proofState"],
        nested["sorries"][0]["proofState"],
    ]
    for number, state in enumerate(states):
        file = tmp_path / f"{number}.json"
        shown = repl.answer({"pickleTo": str(file), "proofState": state})
        loaded = Repl(base()).answer({"unpickleProofStateFrom": str(file)})
        assert loaded["goals"] == shown["goals"] and loaded["proofStatus"] == shown["proofStatus"]


def test_a_pickle_cannot_claim_what_is_not_proved(repl: Repl, tmp_path: Path):
    file = tmp_path / "env.json"
    file.write_text(
        json.dumps({"format": FORMAT, "commands": ["theorem t : 1 = 2 := rfl"], "start": None, "steps": []}),
        encoding="utf-8",
    )
    number = repl.answer({"unpickleEnvFrom": str(file)})["env"]
    assert texts(repl.answer({"cmd": "#print axioms t", "env": number})) == ["'t' depends on axioms: [sorryAx]"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"format": "other"}',
        json.dumps({"format": FORMAT}),
        json.dumps({"format": FORMAT, "commands": [3], "start": None, "steps": []}),
        json.dumps({"format": FORMAT, "commands": ["def x := 1"], "start": {"list": "x", "index": 0}, "steps": []}),
        json.dumps({"format": FORMAT, "commands": [], "start": {"list": "sorries", "index": 0}, "steps": []}),
        json.dumps(
            {"format": FORMAT, "commands": ["def x := 1"], "start": {"list": "sorries", "index": 9}, "steps": []}
        ),
    ],
)
def test_a_damaged_pickle_is_refused(repl: Repl, tmp_path: Path, content: str):
    file = tmp_path / "state.json"
    file.write_text(content, encoding="utf-8")
    assert list(repl.answer({"unpickleProofStateFrom": str(file)})) == ["message"]


def test_files_that_cannot_be_read_or_written_are_answers(repl: Repl, tmp_path: Path):
    repl.answer({"cmd": "def x := 1"})
    assert repl.answer({"unpickleEnvFrom": str(tmp_path / "none")})["message"].startswith("cannot read")
    assert repl.answer({"pickleTo": str(tmp_path / "no" / "folder"), "env": 0})["message"].startswith("cannot write")


def test_unknown_numbers_are_not_pickled(repl: Repl, tmp_path: Path):
    assert repl.answer({"pickleTo": str(tmp_path / "x"), "env": 7}) == {"message": "Unknown environment."}
    assert repl.answer({"pickleTo": str(tmp_path / "x"), "proofState": 7}) == {"message": "Unknown proof state."}


def test_pickling_replaces_a_file_as_a_whole(repl: Repl, tmp_path: Path):
    file = tmp_path / "env.json"
    file.write_text("old", encoding="utf-8")
    repl.answer({"cmd": "def x := 1"})
    repl.answer({"pickleTo": str(file), "env": 0})
    assert json.loads(file.read_text(encoding="utf-8"))["commands"] == ["def x := 1"]
    assert list(tmp_path.iterdir()) == [file]
