"""The reader of Lean files against files that are made piece by piece, so that what is in them is known."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolean.tests.each import each
from nanoproof.data.theorems.theorem_sets import read_theorem_file
from nanoproof.lean.declarations import declarations, declared_names, open_scopes
from nanoproof.lean.file_theorems import theorems_of
from nanoproof.lean.lean_file import PLACEHOLDER, LeanFile
from nanoproof.lean.source import parse_declaration, sorries

NAMES = st.sampled_from(["a", "b'", "foo.bar", "«x y»", "c₁", "«end».d"])
FRONTS = st.sampled_from(
    [
        *("", "", "@[simp] ", "@[simp, to_fun (attr := simp) [1, [2]]]\n", "private ", "protected ", "noncomputable "),
        *("/-- doc of `end` -/ ", "/-- doc\ntheorem x := -/\n", "open Nat in ", "open Nat in\n", "@[simp]\nprivate "),
        "set_option maxHeartbeats 400 in\n/-- doc -/\n@[simp] protected ",
    ]
)
PROOFS = st.sampled_from(
    [
        ("whole", ":= by sorry"),
        ("whole", ":=\n  sorry"),
        ("whole", ":= by\n  -- sorry, not yet\n  admit"),
        ("whole", ":= by\nsorry"),
        ("part", ":= by\n  have h : p := sorry\n  exact h"),
        ("part", ":= by\n  constructor\n  . sorry\n  . admit"),
        ("part", ":= by\n  constructor\n  .sorry\n  .admit"),
        ("part", ":=\n  ⟨sorry, rfl⟩"),
        ("part", ":=\n  ⟨by admit, by\n  admit⟩"),
        ("part", ":= by\n  exact (by admit : p)"),
        ("none", ':= by\n  exact f "sorry" admit.x'),
        ("none", ":= by\n  rw [admit, h]\n  exact f (admit : p) <| (admit : p)"),
        ("none", ":= rfl -- sorry"),
    ]
)
KEYWORDS = st.sampled_from(["theorem", "lemma", "theorem", "def", "example"])


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[dict[str, str]]]:
    """A text and its declarations, with the full names that an own stack of scopes gives them."""
    text, known = "", []
    scopes: list[str] = []
    for _ in range(draw(st.integers(1, 8))):
        indent = draw(st.sampled_from(["", "", "  "]))
        what = draw(st.sampled_from(["declaration"] * 5 + ["namespace", "section", "end", "other"]))
        if what == "namespace":
            name = draw(st.sampled_from(["A", "A.B", "«n m»", "_root_.C.D"])).removeprefix("_root_.")
            scopes += [f"n{part}" for part in (["«n m»"] if "«" in name else name.split("."))]
            text += f"{indent}namespace {name}\n\n"
        elif what == "section":
            scopes.append("s")
            text += (
                f"{indent}{draw(st.sampled_from(['section', 'noncomputable section', '@[expose] public section']))}\n"
            )
        elif what == "end" and scopes:
            count = 1
            while count < len(scopes) and scopes[-count][0] == scopes[-count - 1][0] == "n" and draw(st.booleans()):
                count += 1
            name = ".".join(scope[1:] for scope in scopes[-count:])
            del scopes[-count:]
            text += f"{indent}end {name}".rstrip() + draw(st.sampled_from(["\n", " -- of it\n"]))
        elif what == "other":
            text += draw(st.sampled_from(["variable (p q : Prop)\n", "open Nat\n", "-- namespace X\n", "#check 1\n"]))
        elif what == "declaration":
            keyword, name = draw(KEYWORDS), draw(NAMES)
            rooted = draw(st.integers(0, 5)) == 0 and keyword != "example"
            kind, proof = draw(PROOFS)
            universe = draw(st.sampled_from(["", "", ".{u}", ".{u, v}"]))
            front = draw(FRONTS)
            head = "" if keyword == "example" else f" {'_root_.' if rooted else ''}{name}{universe}"
            own = f"{keyword}{head} (h : let x := 1; x = 1) : p {proof}"
            full = ".".join([*(scope[1:] for scope in scopes if scope[0] == "n" and not rooted), name])
            known.append({"keyword": keyword, "name": full, "kind": kind, "own": own})
            text += f"{indent}{front}{own}\n\n"
    return text, known


def test_a_command_behind_an_open_line_is_none_of_its_names_however_it_is_indented() -> None:
    text = "open Nat\n  List\n  namespace A\ntheorem a : 1 = 1 := rfl\nend A\ntheorem b : 1 = 1 := rfl\n"
    assert [declaration.full_name for declaration in declarations(text)] == ["A.a", "b"]


@settings(max_examples=100)
@given(files())
def test_declarations_have_the_names_that_scopes_give_them_and_their_own_text(
    made: tuple[str, list[dict[str, str]]],
) -> None:
    text, known = made
    found = declarations(text)
    named = [entry for entry in known if entry["keyword"] != "example"]
    assert [(each.keyword, each.full_name) for each in found] == [(e["keyword"], e["name"]) for e in named]
    for declaration, entry in zip(found, named, strict=True):
        own = text[declaration.head : declaration.end]
        assert entry["own"].startswith(own) and len(entry["own"]) - len(own) in (0, len(" -- sorry"))
        assert text[declaration.statement_end :].startswith(":=")
        assert not text[declaration.documented : declaration.head].startswith((" ", "\n"))
    provable = [entry["name"] for entry in named]
    assert declared_names(text) == provable


@settings(max_examples=100)
@given(files())
def test_every_open_theorem_is_read_or_named_with_a_reason(made: tuple[str, list[dict[str, str]]]) -> None:
    text, known = made
    holding = [entry for entry in known if entry["kind"] != "none"]
    found = theorems_of(text)
    names = ["" if entry["keyword"] == "example" else entry["name"] for entry in holding]
    assert [theorem.name for theorem in found] == names
    seen: set[str] = set()
    end = 0
    for theorem, entry in zip(found, holding, strict=True):
        begin = text.index(entry["own"], end)  # two theorems may have one text, in different scopes
        end = begin + len(entry["own"])
        usable = entry["keyword"] in ("theorem", "lemma") and entry["kind"] == "whole"
        again = usable and entry["name"] in seen
        seen |= {entry["name"]} if usable else set()
        assert bool(theorem.source) != bool(theorem.skipped)
        if theorem.source:
            assert usable and not again and theorem.source.endswith(entry["own"])
            assert parse_declaration(theorem.source).whole
            assert open_scopes(theorem.source) == open_scopes(text[:begin]) or again
        else:
            assert not usable or again or "may rest on" in theorem.skipped


@settings(max_examples=100)
@given(files())
def test_a_file_whose_sorries_are_filled_one_by_one_is_the_file_with_all_filled(
    made: tuple[str, list[dict[str, str]]],
) -> None:
    text, _ = made
    file = LeanFile.parse(text)
    for gap in file.gaps:
        assert text[gap.start : gap.end] in ("sorry", "admit")
        if not gap.skip_reason:
            source = file.theorem(gap, "d", "t").source
            assert source.count("sorry") - source.count("sorry, not yet") - source.count('"sorry"') >= 1
            parse_declaration(source, whole=False)
            file = file.with_proof(gap, "exact q")
    left = [gap for gap in LeanFile.parse(file.proved()).gaps if not gap.skip_reason]
    assert not left and PLACEHOLDER not in file.proved()


@pytest.mark.nightly
def test_the_text_work_for_one_of_many_sorries_does_not_grow_with_their_number_squared() -> None:
    def seconds(count: int) -> float:
        text = "".join(f"theorem t{n} (p : Prop) (h : p) : p := by\n  sorry\n\n" for n in range(count))
        begun = time.process_time()
        file = LeanFile.parse(text)
        for gap in file.gaps:
            file.theorem(gap, "d", "t")
            file = file.with_proof(gap, "exact h")
        return time.process_time() - begun

    assert seconds(300) < 3  # 0.3 s here; some 300 s when each asked about the whole text for each other one


def test_what_a_theorem_rests_on_stays_in_its_text_as_an_axiom(tmp_path: Path) -> None:
    text = "theorem a : p := sorry\ntheorem b : p ∧ p := ⟨a, a⟩\ntheorem c : p := sorry\n"
    text += "def d : Nat := sorry\ntheorem e : d = d := sorry\ntheorem f (d : Nat) : d = d := sorry\n"
    (tmp_path / "mine.lean").write_text(text)
    read = read_theorem_file(str(tmp_path / "mine.lean"))
    sources = {theorem.id: theorem.source for theorem in read.theorems}
    assert sources["c"].startswith("axiom a : p\n") and "theorem b" in sources["c"]
    assert list(sources) == ["a", "c", "f"] and "theorem c" not in sources["f"]
    assert [(entry.name, entry.reason) for entry in read.skipped] == [
        ("d", "it is in the def d, where it may stand for data"),
        ("e", "it may rest on the def d (line 4), which holds a sorry"),
    ]


def test_a_definition_that_states_no_type_cannot_stand_as_an_axiom() -> None:
    text = "def d (n : Nat) := (sorry : Nat)\ntheorem b : d 1 = d 1 := rfl\ntheorem c : True := sorry"
    (_, theorem) = theorems_of(text)
    assert theorem.skipped == "it may rest on the def d (line 1), which holds a sorry"
    (_, theorem) = theorems_of(text.replace(":= (sorry", ": Nat := (sorry"))
    assert theorem.source.startswith("axiom d (n : Nat) : Nat\n")


@pytest.mark.parametrize(
    "declared", ["instance bar : Mul Foo := sorry", "@[reducible, instance] def bar : Mul Foo := sorry"]
)
def test_an_open_instance_may_be_needed_wherever_its_type_is(declared: str) -> None:
    text = f"abbrev Foo := Nat\n{declared}\ntheorem t (x y : Foo) : x * y = y * x := by\n  sorry\n"
    *_, theorem = theorems_of(text)
    kind = "def" if "def" in declared else "instance"
    assert theorem.skipped == f"it may rest on the {kind} bar (line 2), which holds a sorry"


@each(
    "before",
    [
        "iterate 2 ",
        "iterate ",
        "constructor <;> ",
        "constructor <;> [skip; ",
        "repeat1 ",
        "classical ",
        "pick_goal 2; ",
        "with_reducible ",
        "fail_if_success ",
        "simp <|> ",
        "first | (",
    ],
)
def test_admit_is_a_sorry_behind_whatever_takes_a_tactic(before: str) -> None:
    behind = "]" * before.count("[") + ")" * before.count("(")
    masked = f"theorem t : p ∧ p := by\n  {before}admit{behind}"
    assert [match.start() for match in sorries(masked)] == [masked.index("admit")]


def test_admit_is_a_sorry_only_where_it_is_a_tactic() -> None:
    text = "theorem s (admit : p) : p := admit\ntheorem t : p := by\n  constructor\n  · admit\n  . exact admit\n"
    text += "def admit := 1\ntheorem u : p := by\n  admit -- later\n"
    text += "theorem v : p := by\n  admit\r\n"  # a file of mixed line ends keeps them
    assert [(gap.line, gap.name) for gap in LeanFile.parse(text).gaps] == [(4, "t"), (8, "u"), (10, "v")]
