"""Elaboration of terms: what is accepted, what it means, and the words of refusals."""

import pytest

from nanolean.elab.api import elab_term
from nanolean.elab.session import Session
from nanolean.kernel.budget import Budget
from nanolean.meta.lctx import EMPTY_CONTEXT
from nanolean.meta.mctx import MetaContext
from nanolean.parser import parse_term
from nanolean.proof_errors import ElabError
from nanolean.tactic_state import run_block
from nanolean.tests.each import each
from nanolean.tests.library import base, errors, run


def elaborate(text: str) -> tuple[str, str]:
    """A closed term and its type, as printed."""
    session = Session(MetaContext(base().env, Budget(100_000), base().caches), base(), run_block, ("u",))
    term = elab_term(session, EMPTY_CONTEXT, parse_term(text)).term
    return session.show(term, EMPTY_CONTEXT), session.show(session.mctx.infer_type(term), EMPTY_CONTEXT)


ACCEPTED = {
    "anonymous constructors take their type from outside": "(p q : Prop) : p ∧ q → q ∧ p := fun h => ⟨h.2, h.1⟩",
    "anonymous constructors nest to the right": "(p q r : Prop) (a : p) (b : q) (c : r) : p ∧ q ∧ r := ⟨a, b, c⟩",
    "a witness is checked against its property": ": ∃ x, x + 2 = 5 := ⟨3, rfl⟩",
    "nested existentials flatten": ": ∃ x : Nat, ∃ y : Nat, x + y = 5 := ⟨3, 2, rfl⟩",
    "fields by name": "(a b c : Nat) (h : a = b) (k : b = c) : c = a := (h.trans k).symm",
    "fields by number go through several structures": "(p q r : Prop) (h : p ∧ q ∧ r) : r := h.2.2",
    "a field of a definition is found after unfolding": "(a b : Nat) (h : a < b) : a < b.succ := Nat.le.step h",
    "not is a function to false": "(p : Prop) (h : p) (n : ¬p) : False := n h",
    "unequal is symmetric by its field": "(a b : Nat) (h : a ≠ b) : b ≠ a := h.symm",
    "constructors by the expected type": (
        "(p q : Prop) (h : p ∨ q) : q ∨ p := h.elim (fun a => .inr a) (fun a => .inl a)"
    ),
    "implicit arguments from the expected type": "(a b : Nat) : a + b = b + a := Nat.add_comm _ _",
    "holes from later arguments": "(P : Nat → Prop) (h : ∀ n, P n → P (n + 1)) (h0 : P 0) : P 2 := h _ (h _ h0)",
    "named arguments in any order": (
        "(a b c : Nat) : a + b + c = a + (b + c) := Nat.add_assoc (k := c) (n := a) (m := b)"
    ),
    "named arguments before others make a function": "(a : Nat) : ∀ n, n + a = a + n := Nat.add_comm (m := a)",
    "strict implicit arguments": "(P : Nat → Prop) (h : ∀ ⦃n⦄, P n → P 0) (k : P 3) : P 0 := h k",
    "functions are composed": "(p q r : Prop) : (p → q) → (q → r) → p → r := fun f g => g ∘ f",
    # `List.map (fun x => ..) l`: when the dot is read, only what follows tells the type of `x`.
    "a field of what has no type yet": (
        "(l : List (List Nat)) : List.map (fun x => x.length.succ) l = l.map (fun x => x.length + 1) := rfl"
    ),
    "fields of what has no type yet below other forms": (
        "(l : List (List Nat)) : List.filter (fun x => !x.isEmpty && (x.map fun y => y.succ).length == 2) l"
        " = l.filter (fun x => !x.isEmpty && x.length == 2) := by simp"
    ),
    "a dot for an argument": "(f : Nat → Nat → Nat) (x : Nat) : (f · x) = fun y => f y x := rfl",
    "dots belong to the innermost parentheses": (
        "(l : List (List Nat)) : l.map ((· + 1 : Nat → Nat) ∘ (·.length)) = l.map (fun x => x.length + 1) := rfl"
    ),
    "dots for several arguments": "(a b : Nat) : (· * 2 + ·) a b = a * 2 + b := rfl",
    "behind by a dot is a bullet, also in parentheses": "(p : Prop) (h : p) : p := (by\n  · exact h)",
    "a function's argument type comes from its argument": ": (fun x => x + 1) 2 = 3 := rfl",
    "equations rewrite the expected type": "(a b : Nat) (f : Nat → Prop) (h : a = b) (k : f a) : f b := h ▸ k",
    "equations rewrite in the other direction": "(a b : Nat) (f : Nat → Prop) (h : a = b) (k : f b) : f a := h ▸ k",
    "the motive of a recursor from the expected type": (
        "(n : Nat) : 0 + n = n := Nat.rec rfl (fun _ ih => congrArg Nat.succ ih) n"
    ),
    "the motive of a recursor by name": (
        "(n : Nat) : 0 ≤ n := Nat.rec (motive := fun n => 0 ≤ n) .refl (fun _ h => .step h) n"
    ),
    "tactic blocks run after everything else": "(p q : Prop) (a : p) (b : q) : p ∧ q := ⟨by exact a, by assumption⟩",
    "have in a term": "(p : Prop) (h : p) : p := have k : p := h; k",
    "let in a term is transparent": ": (let x := 2; x + 1) = 3 := rfl",
    "show in a term": "(p : Prop) (h : p) : p := show p from h",
    "Booleans are propositions": "(b : Bool) (h : b) : b = true := h",
    "numbers compute": ": 12 * 12 + 1 = 145 := rfl",
    "successors and sums agree": "(n : Nat) : Nat.succ (n + 1) = n + 2 := rfl",
    "order unfolds": "(a b : Nat) (h : a < b) : a + 1 ≤ b := h",
    "the greater sign is the smaller sign turned": "(a b : Nat) (h : a > b) : b < a := h",
    "divisibility is an existential": ": 2 ∣ 6 := ⟨3, rfl⟩",
    "lists": ": [1, 2] ++ [3] = 1 :: 2 :: [3] := rfl",
    "universe levels are found": "(α : Type) (a : α) : a = a := @rfl α a",
    "explicit universe levels": "(α : Type) (a : α) : a = a := Eq.refl.{1} a",
    "functions of any number of arguments": (
        "(f : Nat → Nat → Nat) (h : ∀ a b, f a b = a) : f (f 1 2) 3 = 1 := (h _ _).trans (h 1 2)"
    ),
    "eta for implicit functions": "(P : Nat → Prop) (h : ∀ n, P n) : ∀ {n}, P n := fun {n} => h n",
    "implicit binders are introduced for a term": "(P : Nat → Prop) (h : ∀ n, P n) : ∀ {n}, P n := h _",
    "implicit binders are introduced for a proof by reflexivity": ": ∀ {x : Nat}, x = x := rfl",
    "implicit binders are introduced for a function of the others": (
        "(P Q : Nat → Prop) (h : ∀ x, P x → Q x) : ∀ {x}, P x → Q x := fun p => h _ p"
    ),
    "an instance is introduced for a term": "(P : Prop) : ∀ [Decidable P], P ∨ ¬P := Decidable.em P",
    "a function with all its arguments spelled out": "(P : Nat → Prop) (h : ∀ {x}, P x) : ∀ {x}, P x := @h",
    "a function of strict implicit arguments names them": ": ∀ ⦃x y : Nat⦄, x = y → y = x := fun x y h => h.symm",
    "a type for instances that unfolds": "(α : Type) [DecidableEq α] (a b : α) : a = b ∨ a ≠ b := Decidable.em _",
    "instances under a quantifier": "(P : Nat → Prop) [∀ n, Decidable (P n)] : P 3 ∨ ¬P 3 := Decidable.em _",
    "a numeral tells the type of variables": ": ∃ x y, x + y = 5 := ⟨3, 2, rfl⟩",
    "another operand tells the type of variables": "(n : Nat) : ∃ x y, n = x + y := ⟨n, 0, rfl⟩",
    "a later use tells the type of variables": "(p : Nat → Prop) : (∀ x y, x < y → p y) → True := fun _ => trivial",
    "a type is passed on between operators": ": (∀ x y z, x < y → y ≤ z → z ∣ 3) → True := fun _ => trivial",
    "a list tells the type of variables": "(l : List Nat) : ∃ a b, a ++ b = l ∨ 1 ∈ a ++ l := ⟨[], l, .inl rfl⟩",
    "an argument tells the type of a function's variable": (
        "(a b : Nat) (h : a = b) : a + a = b + b := congrArg (fun x => x + x) h"
    ),
    "an expected type tells the type of variables": "(f : Nat → Nat) : ∃ x y, f (max x y) = f 0 := ⟨0, 0, rfl⟩",
}


@each("statement", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepts(statement: str):
    assert errors("example " + statement) == []


REFUSED = {
    "a wrong type": (
        "(p q : Prop) (h : p) : q := h",
        "Type mismatch\n  h\nhas type\n  p\nbut is expected to have type\n  q",
    ),
    "a wrong argument": (
        "(p q : Prop) (f : p → p) (h : q) : p := f h",
        "Application type mismatch: The argument\n  h\nhas type\n  q",
    ),
    "an unknown name": (": True := foo", "Unknown identifier `foo`"),
    "too many arguments": ("(p : Prop) (h : p) : p := h h", "Function expected at\n  h"),
    "an unknown field": ("(p : Prop) (h : p ∧ p) : p := h.middle", "Invalid field `middle`"),
    "a field number that does not exist": ("(p : Prop) (h : p ∧ p) : p := h.3", "Invalid projection"),
    "a field of what never gets a type": (": ∃ t, t.length = 2 := sorry", "Invalid field notation"),
    "an existential has no projections": ("(P : Nat → Prop) (h : ∃ n, P n) : Nat := h.1", "Invalid projection"),
    "an anonymous constructor of two": ("(p q : Prop) (h : p) : p ∨ q := ⟨h⟩", "has more than one constructor"),
    "too few fields": ("(p q : Prop) (h : p) : p ∧ q := ⟨h⟩", "has 2 explicit field, but only 1 was provided"),
    "a hole that nothing determines": (": Nat := _", "don't know how to synthesize placeholder\ncontext:\n⊢ Nat"),
    "an implicit argument that nothing determines": (
        ": True := (fun _ => trivial) rfl",
        "don't know how to synthesize implicit argument",
    ),
    "a goal where none may stay": (": True := ?_", "don't know how to synthesize placeholder"),
    "arithmetic on other types": ("(p : Prop) : Nat := p + 1", "failed to synthesize"),
    "a term where a type is needed": ("(n : 3) : True := trivial", "type expected, got\n  (3 : Nat)"),
    "an unknown universe": (": True := (fun _ : Type v => trivial) Nat", "unknown universe level `v`"),
    "an argument name that does not exist": (": 1 = 1 := rfl (b := 2)", "Invalid argument name `b`"),
    "a function where none is expected": (": Nat := fun x => x", "Type mismatch"),
    "a name of Lean's core, which is not bound automatically": ("(n : Int) : n = n := rfl", "Unknown identifier `Int`"),
    "a variable that is a function": ("(h : p 1) : True := trivial", "The identifier `p` is unknown"),
    "a false equation": (": 2 + 2 = 5 := rfl", "Type mismatch"),
    "an explicit function for implicit binders": (
        "(P : Nat → Prop) (h : ∀ n, P n) : ∀ {n}, P n := h",
        "Type mismatch\n  h\nhas type\n  ∀ (n : Nat), P n",
    ),
    "an explicit theorem for implicit binders": (": ∀ {a b : Nat}, a + b = b + a := Nat.add_comm", "Type mismatch"),
    "a function that skips strict implicit binders": (": ∀ ⦃x y : Nat⦄, x = y → y = x := fun h => h.symm", "symm"),
    "a function that skips implicit binders between others": (
        ": ∀ (x : Nat) {y : Nat}, x = y → y = x := fun x h => h.symm",
        "symm",
    ),
    "a binder for an instance that is introduced": (
        "(P : Prop) : ∀ [Decidable P], P ∨ ¬P := fun _ => Decidable.em P",
        "Type mismatch",
    ),
    "strict implicit binders behind implicit ones": (
        "(P : Nat → Nat → Prop) (h : ∀ {x} ⦃y⦄, P x y) : ∀ {x} ⦃y⦄, P x y := h",
        "not supported",
    ),
    "a proposition as an instance": ("(p : Prop) [hp : p] : p := hp", "invalid binder annotation"),
    "an equation as an instance": ("[h : 1 = 1] : 1 = 1 := h", "invalid binder annotation"),
    "a proposition as an instance in a function": (": ∀ [1 = 1], True := trivial", "invalid binder annotation"),
    "a sum of anything": (": ∀ x y, x + y = y + x := Nat.add_comm", "is stuck"),
    "an order of anything": (
        ": ∃ x y, x < y := ⟨0, 1, Nat.le.refl⟩",
        "is stuck, it is often due to metavariables\n  LT",
    ),
    "an order of anything in a binder": ("{x y} (h : x < y) : True := trivial", "is stuck"),
    "a test of anything": ("(h : ∀ x y, x == y) : True := trivial", "is stuck"),
    "a power of anything": ("(h : ∀ x, x ^ 2 = x * x) : True := trivial", "is stuck"),
    "a maximum of anything": ("(h : ∀ x y, max x y = max y x) : True := trivial", "is stuck"),
    "the union of anything": ("(h : ∀ x y, (x ++ y).length = 0) : True := trivial", "is stuck"),
    "membership in anything": ("(h : ∀ x l, x ∈ l → x = 0) : True := trivial", "is stuck"),
    "a result that tells nothing of the operands": ("(h : ∀ x y z, x + y = z) : True := trivial", "is stuck"),
    "a sum of anything in a tactic": (
        ": True := by have h : ∀ x y, x * y = y * x := Nat.mul_comm; trivial",
        "is stuck",
    ),
    "an open block": ("(p : Prop) : p ∧ True := ⟨by skip, trivial⟩", "unsolved goals\np : Prop\n⊢ p"),
}


@each(("statement", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses(statement: str, message: str):
    found = errors("example " + statement)
    assert len(found) == 1
    assert message in found[0]


@each(
    ("text", "printed", "type_"),
    [
        ("fun x => x + 1", "fun x => x + 1", "Nat → Nat"),
        ("∀ x y, x = y + 0", "∀ (x y : Nat), x = y + 0", "Prop"),
        ("∃ x, x > 3 ∧ x ≠ 5", "∃ x, x > 3 ∧ x ≠ 5", "Prop"),
        ("Nat → Prop", "Nat → Prop", "Type"),
        ("@id.{u} ", "@id", "{α : Sort u} → α → α"),
        ("Type u", "Type u", "Type (u + 1)"),
        ("¬(1 = 2 ∨ False)", "¬(1 = 2 ∨ False)", "Prop"),
        ("true && !false", "true && !false", "Bool"),
    ],
)
def test_terms_and_their_types(text: str, printed: str, type_: str):
    assert elaborate(text) == (printed, type_)


def test_opened_namespaces_and_the_current_one_are_searched():
    assert errors("open Nat in\nexample (a : Nat) : a ≤ succ a := le_succ a") == []
    assert errors("namespace Nat\nexample (a : Nat) : a ≤ succ a := le_succ a\nend Nat") == []


def test_a_dotted_declaration_sees_its_own_namespace():
    assert errors("theorem Nat.foo (a : Nat) : a ≤ succ a := le_succ a") == []


def test_an_ambiguous_name_is_decided_by_its_type():
    text = "def A.f : Nat := 1\ndef B.f : Prop := True\nopen A B\n"
    assert errors(text + "example : Nat := f") == []
    assert errors(text + "example : Prop := f") == []


def test_a_local_hides_a_constant():
    assert errors("example (rfl : 1 = 2) : 1 = 2 := rfl") == []


def test_errors_know_their_place():
    result = run("example (p q : Prop) (h : p) :\n    p ∧ q := ⟨h, h⟩")
    assert [(message.pos, message.end) for message in result.messages] == [(48, 49)]


def test_deep_terms_are_refused_and_not_fatal():
    deep = "(" * 3000 + "1" + ")" * 3000
    assert len(errors(f"example : Nat := {deep}")) <= 1
    long_sum = " + ".join(["1"] * 3000)
    assert len(errors(f"example : {long_sum} = 3000 := rfl")) <= 1


def test_elaboration_leaves_no_goal_behind_in_refine_but_its_own():
    session = Session(MetaContext(base().env, Budget(100_000), base().caches), base(), run_block)
    term = parse_term("(And.intro ?_ (And.intro ?x trivial) : 1 = 1 ∧ 2 = 2 ∧ True)")
    found = elab_term(session, EMPTY_CONTEXT, term, holes="goals")
    assert [session.mctx.decl(goal).user_name for goal in found.goals] == ["", "x"]


def test_running_out_of_steps_is_an_error_with_a_message():
    session = Session(MetaContext(base().env, Budget(5)), base(), run_block)
    with pytest.raises(Exception, match="maximum number of steps exceeded"):
        elab_term(session, EMPTY_CONTEXT, parse_term("1 + 2 * 3 = 7 ∧ 2 = 3"))


def test_an_undetermined_type_is_an_error():
    session = Session(MetaContext(base().env, Budget(10_000)), base(), run_block)
    with pytest.raises(ElabError):
        elab_term(session, EMPTY_CONTEXT, parse_term("fun x => x"))


@pytest.mark.parametrize("name", ["ℝ", "Real", "ℕ", "Int"])
def test_types_that_only_mathlib_or_the_core_has_are_not_bound(name: str) -> None:
    assert any("nknown identifier" in error for error in errors(f"theorem t (x : {name}) : x = x := rfl"))


def test_no_theorem_tells_the_type_of_a_section_variable() -> None:
    assert errors("variable (h : x = x)\ntheorem t : x = x := rfl") == []
    assert errors("variable (h : x = x)\ntheorem t : x = 3 → x = 3 := id") != []


@pytest.mark.parametrize("name", ["ENat", "Polynomial", "goldenRatio", "Foo_bar"])
def test_a_name_like_that_of_a_constant_is_not_bound(name: str) -> None:
    assert any("looks like a constant" in error for error in errors(f"theorem t (x : {name}) : x = x := rfl"))


@pytest.mark.parametrize("name", ["A", "Δ₁", "P'", "foo", "α"])
def test_other_names_are_bound(name: str) -> None:
    assert errors(f"theorem t (x : {name}) : x = x := rfl") == []


def test_no_option_binds_names_of_a_missing_library() -> None:
    lacking = "set_option nanolean.lacksLibrary true\nset_option autoImplicit true\n"
    assert any("a library is missing" in error for error in errors(f"{lacking}theorem t (x : foo) : x = x := rfl"))
    assert any("only be set to" in error for error in errors("set_option nanolean.lacksLibrary false"))
