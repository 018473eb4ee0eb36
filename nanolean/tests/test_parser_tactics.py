"""Tactics: forms, blocks and their columns."""

import pytest

from nanolean.parser import ParseError, parse_tactic, parse_term
from nanolean.syntax import (
    AcRflStx,
    AllGoalsStx,
    AndIntrosStx,
    AndThenStx,
    AnyGoalsStx,
    ApplyStx,
    AssumptionStx,
    BraceStx,
    BulletStx,
    By,
    ByCasesStx,
    Calc,
    CalcStep,
    CalcStx,
    CasesStx,
    CaseStx,
    CaseTarget,
    ChangeStx,
    ClearStx,
    CongrStx,
    ConstructorStx,
    ContradictionStx,
    DecideStx,
    DoneStx,
    ExactStx,
    ExfalsoStx,
    ExistsStx,
    ExtStx,
    FailIfSuccessStx,
    FirstStx,
    FocusStx,
    FunextStx,
    Generalization,
    GeneralizeStx,
    GrindStx,
    HavePatternStx,
    HaveStx,
    Hole,
    Ident,
    InductionAlt,
    InductionStx,
    InjectionsStx,
    InjectionStx,
    IntroPatternsStx,
    IntrosStx,
    IntroStx,
    IterateStx,
    LeftStx,
    LetStx,
    Location,
    NextStx,
    NofunStx,
    NomatchStx,
    Num,
    ObtainStx,
    Occurrences,
    OmegaStx,
    ParenStx,
    PatAlts,
    PatName,
    PatTuple,
    PatTyped,
    RcasesStx,
    RefineStx,
    RenameIStx,
    RenameStx,
    RepeatPrimeStx,
    RepeatStx,
    RevertStx,
    RflStx,
    RightStx,
    RintroStx,
    RotateLeftStx,
    RotateRightStx,
    RwRule,
    RwStx,
    ShowStx,
    SimpAllStx,
    SimpaStx,
    SimpLemma,
    SimpStx,
    SkipStx,
    SolveStx,
    SorryStx,
    SpecializeStx,
    SplitStx,
    SubstStx,
    SubstVarsStx,
    SufficesStx,
    SymmStx,
    SyntheticHole,
    Tactic,
    TacticSeq,
    TrivialStx,
    TryStx,
    UnfoldStx,
)
from nanolean.tests.each import each
from nanolean.tests.library import errors

H, K, N, P, X = (Ident(name) for name in "hknpx")
GOAL = Location()
NEW_GOAL = SyntheticHole("_")


def seq(*tactics: Tactic) -> TacticSeq:
    return TacticSeq(tactics)


RFL, SKIP = RflStx(), SkipStx()
PAIR = PatTuple((PatName("y"), PatName("h")))


@each(
    ("text", "tactic"),
    [
        ("intro", IntroStx(())),
        ("intro x _ y", IntroStx(("x", "_", "y"))),
        ("intros", IntrosStx(())),
        ("exact h", ExactStx(H)),
        ("apply h", ApplyStx(H)),
        ("refine ?_", RefineStx(NEW_GOAL)),
        ("assumption", AssumptionStx()),
        ("rfl", RFL),
        ("constructor", ConstructorStx()),
        ("left", LeftStx()),
        ("right", RightStx()),
        ("exists 3, x", ExistsStx((Num(3), X))),
        ("exfalso", ExfalsoStx()),
        ("contradiction", ContradictionStx()),
        ("rw [h, ← k] at h ⊢", RwStx((RwRule(False, H), RwRule(True, K)), Location(("h",), True))),
        ("rw [h, ← k] at h |-", RwStx((RwRule(False, H), RwRule(True, K)), Location(("h",), True))),
        ("rw [<- h]", RwStx((RwRule(True, H),), GOAL)),
        ("rewrite [h]", RwStx((RwRule(False, H),), GOAL, try_rfl=False)),
        ("simp", SimpStx(False, (), False, GOAL)),
        (
            "simp only [h, ← k, -n, *] at *",
            SimpStx(
                True,
                (SimpLemma(H), SimpLemma(K, symm=True), SimpLemma(N, erase=True)),
                True,
                Location((), True, True),
            ),
        ),
        ("simp at h k", SimpStx(False, (), False, Location(("h", "k"), False))),
        ("simp_all [h]", SimpAllStx(False, (SimpLemma(H),))),
        ("decide", DecideStx()),
        ("trivial", TrivialStx()),
        ("by_cases h : p", ByCasesStx("h", P)),
        ("by_cases p", ByCasesStx(None, P)),
        ("have h : p := k", HaveStx("h", P, K)),
        ("have := k", HaveStx("this", None, K)),
        ("have h : p := by rfl", HaveStx("h", P, By(seq(RFL)))),
        ("show p", ShowStx(P)),
        ("change p at h", ChangeStx(P, Location(("h",), False))),
        ("specialize h 3", SpecializeStx(parse_term("h 3"))),
        ("revert h x", RevertStx(("h", "x"))),
        ("subst h k", SubstStx((H, K))),
        ("injection h with x y", InjectionStx(H, ("x", "y"))),
        ("rename_i x _", RenameIStx(("x", "_"))),
        ("symm at h", SymmStx(Location(("h",), False))),
        ("unfold f Nat.g at h", UnfoldStx(("f", "Nat.g"), Location(("h",), False))),
        ("split", SplitStx(GOAL)),
        ("ac_rfl", AcRflStx()),
        ("omega", OmegaStx()),
        ("grind [h]", GrindStx(False, (SimpLemma(H),))),
        ("sorry", SorryStx()),
        ("skip", SKIP),
        ("done", DoneStx()),
        ("rotate_left", RotateLeftStx(1)),
        ("rotate_left 2", RotateLeftStx(2)),
        ("rotate_right", RotateRightStx(1)),
        ("intro x ⟨y, h⟩", IntroPatternsStx((PatName("x"), PAIR))),
        ("intro (x : p)", IntroPatternsStx((PatTyped(PatName("x"), P),))),
        ("rintro x ⟨y, h⟩ (h | -)", RintroStx((PatName("x"), PAIR, PatAlts((PatName("h"), PatName("-")))))),
        ("rintro (x y : p)", RintroStx((PatTyped(PatName("x"), P), PatTyped(PatName("y"), P)))),
        ("have ⟨y, h⟩ := h", HavePatternStx(PAIR, None, H)),
        ("have ⟨y, h⟩ : p := h", HavePatternStx(PAIR, P, H)),
        ("let x := k", LetStx("x", None, K)),
        ("let x : p := k", LetStx("x", P, K)),
        ("suffices h : p from k", SufficesStx("h", P, K)),
        ("suffices p by rfl", SufficesStx("this", P, By(seq(RFL)))),
        ("generalize n = x", GeneralizeStx((Generalization(None, N, "x"),))),
        ("generalize n = x at h ⊢", GeneralizeStx((Generalization(None, N, "x"),), Location(("h",)))),
        ("generalize h : n = x, k = y", GeneralizeStx((Generalization("h", N, "x"), Generalization(None, K, "y")))),
        ("clear h x", ClearStx(("h", "x"))),
        ("rename p => h", RenameStx(P, "h")),
        ("injections x y", InjectionsStx(("x", "y"))),
        ("subst_vars", SubstVarsStx()),
        ("nomatch h, k", NomatchStx((H, K))),
        ("nofun", NofunStx()),
        ("funext x y", FunextStx(("x", "y"))),
        ("ext", ExtStx(())),
        ("ext1 x", ExtStx((PatName("x"),), once=True)),
        ("congr", CongrStx(None)),
        ("congr 2", CongrStx(2)),
        ("and_intros", AndIntrosStx()),
        ("simpa", SimpaStx(False, (), False, None)),
        ("simpa only [h] using k", SimpaStx(True, (SimpLemma(H),), False, K)),
        ("rw (occs := .pos [1, 3]) [h]", RwStx((RwRule(False, H),), GOAL, True, Occurrences(True, (1, 3)))),
        ("rwa [h]", ParenStx(seq(RwStx((RwRule(False, H),), GOAL), AssumptionStx()))),
        ("admit", SorryStx()),
        ("match h with\n| x => rfl\n| y => ?_", RefineStx(parse_term("match h with | x => by rfl | y => ?_"))),
        ("if h : p then rfl else skip", RefineStx(parse_term("if h : p then by rfl else by skip"))),
    ],
)
def test_single_tactics(text: str, tactic: Tactic) -> None:
    assert parse_tactic(text) == tactic


@each(
    ("text", "tactic"),
    [
        ("rfl <;> skip <;> rfl", AndThenStx(AndThenStx(RFL, SKIP), RFL)),
        ("· rfl", BulletStx(seq(RFL))),
        ("(rfl; skip)", ParenStx(seq(RFL, SKIP))),
        ("{ rfl; skip }", BraceStx(seq(RFL, SKIP))),
        ("case inl h _ => rfl", CaseStx((("inl", ("h", "_")),), seq(RFL))),
        ("case a | b.c x => rfl", CaseStx((("a", ()), ("b.c", ("x",))), seq(RFL))),
        ("next x => rfl", NextStx(("x",), seq(RFL))),
        ("all_goals rfl <;> skip", AllGoalsStx(seq(AndThenStx(RFL, SKIP)))),
        ("any_goals rfl", AnyGoalsStx(seq(RFL))),
        ("focus rfl; skip", FocusStx(seq(RFL, SKIP))),
        ("first | rfl | skip; rfl", FirstStx((seq(RFL), seq(SKIP, RFL)))),
        ("try rfl", TryStx(seq(RFL))),
        ("repeat rfl", RepeatStx(seq(RFL))),
        ("repeat' rfl", RepeatPrimeStx(seq(RFL))),
        ("repeat1' rfl", RepeatPrimeStx(seq(RFL), once=True)),
        ("iterate rfl", IterateStx(None, seq(RFL))),
        ("iterate 3 rfl", IterateStx(3, seq(RFL))),
        ("solve | rfl | skip", SolveStx((seq(RFL), seq(SKIP)))),
        ("fail_if_success rfl", FailIfSuccessStx(seq(RFL))),
    ],
)
def test_combinators(text: str, tactic: Tactic) -> None:
    assert parse_tactic(text) == tactic


def test_induction_with_alternatives_on_one_line() -> None:
    assert parse_tactic("induction n generalizing x y with | zero => ?_ | succ n ih => ?_") == InductionStx(
        (CaseTarget(N),),
        (InductionAlt("zero", (), NEW_GOAL), InductionAlt("succ", ("n", "ih"), NEW_GOAL)),
        generalizing=("x", "y"),
    )


def test_cases_forms() -> None:
    assert parse_tactic("cases h") == CasesStx((CaseTarget(H),))
    assert parse_tactic("cases k : h with | inl x => rfl | @inr _ => _ | _ => rfl") == CasesStx(
        (CaseTarget(H, "k"),),
        (
            InductionAlt("inl", ("x",), seq(RFL)),
            InductionAlt("inr", ("_",), Hole(), explicit=True),
            InductionAlt("_", (), seq(RFL)),
        ),
    )


def test_alternatives_with_one_right_side_are_spread_out() -> None:
    assert parse_tactic("cases h with | a | b x => rfl") == CasesStx(
        (CaseTarget(H),), (InductionAlt("a", (), seq(RFL)), InductionAlt("b", ("x",), seq(RFL)))
    )


def test_patterns_of_rcases_and_obtain() -> None:
    pattern = PatTuple((PatName("x"), PatAlts((PatName("rfl"), PatTyped(PatName("_"), P), PatName("-")))))
    assert parse_tactic("rcases h with ⟨x, rfl | (_ : p) | -⟩") == RcasesStx((CaseTarget(H),), pattern)
    assert parse_tactic("obtain ⟨x, rfl | (_ : p) | -⟩ := h") == ObtainStx(pattern, None, H)
    assert parse_tactic("obtain h : p := k") == ObtainStx(PatName("h"), P, K)
    assert parse_tactic("obtain : p") == ObtainStx(None, P, None)


def test_lines_of_one_column_are_one_block() -> None:
    text = "have h : p := by\n    skip\n    rfl; rfl"
    assert parse_tactic(text) == HaveStx("h", P, By(seq(SKIP, RFL, RFL)))


@pytest.mark.parametrize("tactic", ["simp", "simp_all", "grind", "simpa", "try simp"])
def test_a_parenthesis_that_begins_a_line_is_the_next_tactic(tactic: str) -> None:
    assert parse_tactic(f"({tactic}\n (rfl))") == ParenStx(seq(parse_tactic(tactic), ParenStx(seq(RFL))))


def test_a_semicolon_may_end_a_block() -> None:
    assert parse_tactic("(skip; rfl;)") == ParenStx(seq(SKIP, RFL))
    assert parse_tactic("(have h : p := by skip;\n rfl;)") == ParenStx(seq(HaveStx("h", P, By(seq(SKIP))), RFL))


def test_a_less_indented_line_ends_the_block() -> None:
    text = "(have h : p := by\n    skip\n rfl)"
    assert parse_tactic(text) == ParenStx(seq(HaveStx("h", P, By(seq(SKIP))), RFL))


def test_a_nested_by_must_be_indented() -> None:
    with pytest.raises(ParseError, match="indented tactic sequence"):
        parse_tactic("(skip\n have h : p := by\n rfl)")


def test_arguments_on_later_lines_stand_to_the_right() -> None:
    assert parse_tactic("(exact h\n    x)") == ParenStx(seq(ExactStx(parse_term("h x"))))
    assert parse_tactic("(intro x\n rfl)") == ParenStx(seq(IntroStx(("x",)), RFL))


def test_alternatives_hold_blocks_and_nested_cases_give_the_outer_ones_back() -> None:
    text = """cases h with
| inl x =>
  skip
  rfl
| inr x =>
  cases k with
  | a => rfl
  | b => skip
| c => rfl"""
    nested = CasesStx((CaseTarget(K),), (InductionAlt("a", (), seq(RFL)), InductionAlt("b", (), seq(SKIP))))
    assert parse_tactic(text) == CasesStx(
        (CaseTarget(H),),
        (
            InductionAlt("inl", ("x",), seq(SKIP, RFL)),
            InductionAlt("inr", ("x",), seq(nested)),
            InductionAlt("c", (), seq(RFL)),
        ),
    )


def test_bullets_in_lines() -> None:
    text = "(constructor\n · skip\n   rfl\n · rfl)"
    assert parse_tactic(text) == ParenStx(seq(ConstructorStx(), BulletStx(seq(SKIP, RFL)), BulletStx(seq(RFL))))


def test_braces_after_by_are_the_whole_block() -> None:
    assert parse_tactic("exact by { skip; rfl }") == ExactStx(By(seq(BraceStx(seq(SKIP, RFL)))))


def test_an_empty_by_is_an_empty_block() -> None:
    assert parse_tactic("exact by") == ExactStx(By(seq()))


def test_hypothesis_names_in_scope_of_a_type_without_spaces() -> None:
    assert parse_tactic("have: p := by\n    skip\n    rfl") == HaveStx("this", P, By(seq(SKIP, RFL)))


@each("text", ["ring", "use 3", "nth_rw 1 [h]", "nlinarith", "by_contra h", "push_neg at h"])
def test_tactics_of_mathlib_are_unknown_and_named(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_tactic(text)
    assert caught.value.message == f"unknown tactic: `{text.split()[0]}` is one of Mathlib, which NanoLean lacks"


@pytest.mark.parametrize("text", ["exat 42", "refine' h", "ring3"])
def test_unknown_tactics(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_tactic(text)
    assert (caught.value.message, caught.value.line, caught.value.column) == ("unknown tactic", 1, 0)


def test_an_unknown_tactic_inside_of_a_block_is_found_there() -> None:
    with pytest.raises(ParseError) as caught:
        parse_tactic("· skip\n  foo")
    assert (caught.value.message, caught.value.line, caught.value.column) == ("unknown tactic", 2, 2)


@each(
    ("text", "message"),
    [
        ("skip; rfl", "unexpected token ';'; expected end of input"),
        ("", "unexpected end of input; expected tactic"),
        ("exact", "unexpected end of input; expected term"),
        ("rw h", "unexpected identifier 'h'; expected '['"),
        ("have h : p", "unexpected end of input; expected ':='"),
        ("suffices h : p", "unexpected end of input; expected 'from' or 'by'"),
        ("clear", "unexpected end of input; expected identifier"),
        ("rw (occs := 1) [h]", "unexpected token '1'; expected '.pos' or '.neg'"),
        ("cases h with", "unexpected end of input; expected '|'"),
        ("cases h with | inl", "unexpected end of input; expected '=>'"),
        ("simp at", "unexpected end of input; expected hypothesis, '⊢' or '*'"),
        ("revert", "unexpected end of input; expected identifier"),
        ("try", "unexpected end of input; expected tactic"),
        ("3", "unexpected token '3'; expected tactic"),
        ("rotate_left 5000", "a number of this size here is not supported"),
    ],
)
def test_errors_say_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_tactic(text)
    assert caught.value.message == message


@each(
    "text",
    [
        "exact? x",
        "simp?",
        "simp_arith",
        "if p then rfl else rfl",
        "intro (a | b)",
        "have ⟨a, -⟩ := h",
        "show p from h",
        "rw (config := {}) [h]",
        "rintro x y : p",
        "simp (config := {})",
        "simp +arith",
        "simp [↓ h]",
        "change p with q",
        "cases h with skip | a => rfl",
    ],
)
def test_what_lean_has_beyond_us_is_refused_by_name(text: str) -> None:
    with pytest.raises(ParseError, match="not supported"):
        parse_tactic(text)


CHAIN = Calc((CalcStep(parse_term("x = n"), H), CalcStep(parse_term("_ = k"), By(seq(RFL)))))


@pytest.mark.parametrize(
    "text",
    [
        "calc x = n := h\n  _ = k := by rfl",
        "calc\n  x = n := h\n  _ = k := by rfl",
        "calc\n  x = n := h\n  _ = k := by\n    rfl",
        "calc x = n :=\n      h\n     _ = k := by rfl",
    ],
)
def test_calc_is_the_same_in_terms_and_tactics(text: str) -> None:
    assert parse_term(text) == CHAIN
    assert parse_tactic(text) == CalcStx(CHAIN.steps)


def test_a_calc_may_begin_with_a_term_and_end_a_block() -> None:
    block = parse_term("by\n  calc x\n  _ = k := h\n  skip")
    steps = (CalcStep(X, None), CalcStep(parse_term("_ = k"), H))
    assert block == By(seq(CalcStx(steps), SKIP))


def test_a_step_of_calc_may_say_its_left_side() -> None:
    steps = parse_term("calc\n  x = n := h\n  n = k := h")
    assert steps == Calc((CalcStep(parse_term("x = n"), H), CalcStep(parse_term("n = k"), H)))


def test_terms_that_stand_for_tactics() -> None:
    assert parse_term("nomatch h, k") == By(seq(NomatchStx((H, K))))
    assert parse_term("fun x => nofun") == parse_term("fun x => by nofun")


def test_the_term_suffices() -> None:
    assert parse_term("suffices h : p from k; x") == parse_term("have h : p := x; k")
    assert parse_term("suffices p by rfl\nx") == parse_term("have : p := x; by rfl")


BULLETS = {
    "a full stop": "  constructor\n  . exact h.2\n  . exact h.1",
    "a full stop without a space": "  constructor\n  .exact h.2\n  .exact h.1",
    "both kinds": "  constructor\n  . exact h.2\n  · exact h.1",
    "a block in column 0": "constructor\n. exact h.2\n. exact h.1",
    "alternatives in column 0": "cases h with\n| intro a b =>\n  constructor\n  . exact b\n  . exact a",
}


@pytest.mark.parametrize("block", BULLETS.values(), ids=BULLETS.keys())
def test_older_files_write_bullets_and_columns_so(block: str) -> None:
    assert errors(f"theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := by\n{block}") == []


def test_a_block_in_a_block_is_indented() -> None:
    text = "theorem t (p : Prop) (h : p) : p := by\nhave g : p := by\nexact h\nexact g"
    assert any("indented tactic sequence" in error for error in errors(text))
