"""Attempts to get something false past the prover by names: shadowing, capture, redefinition, hidden commands."""

import pytest

from nanolean.kernel.expr import Const, collect_consts
from nanolean.tests.attacks import contradictions, refused, rests_on, unproved
from nanolean.tests.each import each
from nanolean.tests.library import base, run
from nanolean.tests.test_attacks_text import attack

REDEFINED = {
    "a theorem of the library": "theorem Nat.add_comm : False := sorry",
    "a theorem of the library inside of its namespace": "namespace Nat\ntheorem add_comm : False := sorry\nend Nat",
    "a theorem of the library by _root_": "namespace A\ntheorem _root_.Nat.add_comm : False := sorry\nend A",
    "a theorem of the library as an axiom": "axiom Nat.add_comm : False",
    "an allowed axiom": "axiom propext : False",
    "an allowed axiom inside of its namespace": "namespace Classical\naxiom choice : False\nend Classical",
    "an allowed axiom by _root_": "namespace A\naxiom _root_.propext : False\nend A",
    "the axiom of quotients": "axiom Quot.sound : False",
    "negation": "def Not (p : Prop) : Prop := True",
    "equality": "inductive Eq : Prop where\n  | refl : Eq",
    "falsehood": "inductive False : Prop where\n  | intro : False",
    "a constructor of falsehood": "axiom False.intro : False\ntheorem boom : False := trivial",
    "the numbers": "inductive Nat : Type where\n  | zero : Nat",
    "zero": "theorem Nat.zero : True := trivial",
    "addition": "def Nat.add (a b : Nat) : Nat := 0",
    "a recursor": "def Nat.rec : Nat := 0",
    "order": "def Nat.le (a b : Nat) : Prop := True",
    "its own name twice": "theorem t : True := trivial\ntheorem t : False := t\ntheorem boom : False := t",
    "its own constructor": "inductive T : Type where\n  | boom : T\naxiom T.boom : T",
    "its own recursor": "inductive T : Type where\n  | rec : T",
    "a constructor twice": "inductive T : Type where\n  | a : T\n  | a : T",
    "sorry itself": "theorem sorryAx : True := trivial",
}


@attack(REDEFINED)
def test_names_that_are_taken_stay_what_they_are(text):
    refused(text)


SHADOWED = {
    "negation in a namespace": (
        "namespace A\ndef Not (p : Prop) : Prop := True\ntheorem boom : ¬ True := trivial\nend A",
        "A.boom",
    ),
    "equality in a namespace": (
        "namespace A\ndef Eq {α : Type} (a b : α) : Prop := True\ntheorem boom : 1 = 2 := trivial\nend A",
        "A.boom",
    ),
    "addition in a namespace": (
        "namespace A\ndef Nat.add (a b : Nat) : Nat := 0\ntheorem boom : 1 + 1 = 0 := rfl\nend A",
        "A.boom",
    ),
    "order in a namespace": (
        "namespace A\ndef Nat.le (a b : Nat) : Prop := True\ntheorem boom : 2 ≤ 1 := trivial\nend A",
        "A.boom",
    ),
    "conjunction in a namespace": (
        "namespace A\ndef And (p q : Prop) : Prop := True\ntheorem boom : True ∧ False := trivial\nend A",
        "A.boom",
    ),
    "existence in a namespace": (
        "namespace A\ndef Exists {α : Type} (p : α → Prop) : Prop := True\n"
        "theorem boom : ∃ n : Nat, n = n + 1 := trivial\nend A",
        "A.boom",
    ),
    "divisibility by opening": (
        "namespace A\ndef Nat.dvd (a b : Nat) : Prop := True\nend A\nopen A\ntheorem boom : 0 ∣ 1 := trivial",
        "boom",
    ),
    "equality by opening": (
        "namespace A\ndef Eq {α : Type} (a b : α) : Prop := True\nend A\nopen A in\ntheorem boom : 1 = 2 := trivial",
        "boom",
    ),
    "truth as a section variable": (
        "section\nvariable (True : Prop)\ntheorem boom : True := trivial\nend",
        "boom",
    ),
    "a lemma as a hypothesis of the same name": (
        "theorem boom (n : Nat) : n = n + 1 := by\n  have Nat.lt_irrefl := rfl\n  exact Nat.lt_irrefl",
        "boom",
    ),
    "a local function called like a lemma": (
        "theorem boom (a b : Nat) : a = b := (fun (rfl : a = b) => rfl) rfl",
        "boom",
    ),
    "the proposition as a binder": (
        "theorem boom : ∀ p : Prop, p := fun p => (fun (p : Prop) (h : p → p) => h) True id",
        "boom",
    ),
    "a hypothesis that hides another": (
        "theorem boom (p q : Prop) (h : p) : q := by\n  have h : q := h\n  exact h",
        "boom",
    ),
    "a variable that hides another in a goal": (
        "theorem boom : ∀ p q : Prop, p → q := by\n  intro p p h\n  exact h",
        "boom",
    ),
    "a variable that takes the name of the next": (
        "theorem boom : ∀ p q : Prop, p → q := by\n  intro q p h\n  exact h",
        "boom",
    ),
}


@each(("text", "name"), SHADOWED.values(), ids=SHADOWED.keys())
def test_shadowing_does_not_change_what_is_claimed(text, name):
    refused(text, name=name)


def test_false_in_a_namespace_is_another_proposition():
    result = run("namespace A\ninductive False : Prop where\n  | intro : False\ntheorem boom : False := .intro\nend A")
    assert not result.messages and not contradictions(result.state)
    assert result.state.env["A.boom"].type is Const("A.False")
    refused(
        "namespace A\ninductive False : Prop where\n  | intro : False\nend A\ntheorem boom : False := A.False.intro"
    )


def test_a_type_in_a_namespace_does_not_get_the_literals():
    refused(
        "namespace Nat\ninductive Nat : Type where\n  | zero : Nat\ntheorem boom : (1 : Nat) = Nat.zero := rfl\nend Nat"
    )


def test_a_statement_with_its_own_false_says_so():
    result = run("theorem boom (False : Prop) (h : False) : False := h\n#check @boom")
    assert [m.text for m in result.messages] == ["boom : ∀ (False : Prop), False → False"]
    assert "False" not in collect_consts(result.state.env["boom"].type)
    refused("theorem lie (False : Prop) (h : False) : False := h\ntheorem boom : False := lie False")


def test_section_variables_of_a_theorem_cannot_be_left_out_by_its_users():
    refused("section\nvariable (h : 1 = 2)\ntheorem lie : 1 = 2 := by exact h\nend\ntheorem boom : 1 = 2 := lie")


def test_a_hypothesis_in_a_section_is_not_a_fact():
    refused("section\nvariable (h : False)\ntheorem boom : False := h\nend")


def test_binders_under_binders_keep_their_variables():
    refused("theorem boom : ∀ f : Nat → Nat → Nat, (fun x y => f x y) = (fun y x => f x y) := fun f => rfl")
    refused("theorem boom : ∀ f : Nat → Nat → Nat, (∀ x, ∃ y, f x y = y) → ∃ y, ∀ x, f x y = y := fun f h => h")
    assert not run("example : ∀ f : Nat → Nat → Nat, (fun x y => f x y) = (fun y x => f y x) := fun f => rfl").messages


def test_substitution_does_not_capture():
    refused("theorem boom (n : Nat) : (fun x => fun n : Nat => x) n = (fun n : Nat => n) := rfl")
    refused("theorem boom : ∀ n : Nat, (∀ m : Nat, ∃ n : Nat, n = m) → ∃ k : Nat, ∀ m : Nat, k = m := fun n h => h n")
    unproved("(n : Nat) (h : ∀ m : Nat, ∃ n : Nat, n = m + 1) : ∃ n : Nat, n = n + 1", "exact h n")


def test_rewriting_does_not_go_under_binders_with_bound_variables():
    unproved("(a : Nat) (h : ∀ x : Nat, x + 0 = x) : (fun x : Nat => x + 1) = (fun x => x)", "rw [h]", "rfl")


def test_names_made_by_tactics_do_not_meet_names_of_the_user():
    unproved("(a a_1 : Prop) (h : a) : a_1", "intros", "cases h", "assumption")
    unproved(": ∀ a b : Prop, a → b", "intros a", "intro", "intro a_1", "exact a_1")
    unproved("(n : Nat) (n_ih : n = 0) : n = 0 + n + 1", "induction n", "rfl", "exact n_ih")
    unproved("(p : Prop) (this : p → p) : p", "have := this", "exact this")


@pytest.mark.parametrize("name", ["x✝", "a✝¹", "✝", "h✝.left", "_x✝"])
def test_inaccessible_names_cannot_be_written(name):
    refused(f"theorem boom ({name} : Nat) : False := trivial")
    unproved(": ∀ p q : Prop, p → q", "intro", "intro", "intro", f"exact {name}")


HIDDEN = {
    "an unfinished comment": "/- theorem boom : False := trivial",
    "a comment that closes itself too often": "theorem boom : False := trivial -/ -/",
    "a comment in a comment": "/- /- -/ theorem boom : False := trivial",
    "a letter of another alphabet": "theorem boom : F\u0430lse := trivial",
    "an invisible character": "theorem boom : Fal\u200bse := trivial",
    "a direction mark": "theorem boom : \u202eeslaF := trivial",
    "a space that is none": "theorem boom :\u00a0False := trivial",
    "another colon": "theorem boom \uff1a False := trivial",
    "a null character": "theorem boom : \0False := trivial",
    "a quoted name": "theorem «boom» : «False» := trivial",
    "a string": 'theorem boom : "False" := "trivial"',
    "an end without a beginning": "end\ntheorem t : True := trivial\nend A",
    "an end of another name": "namespace A\nend B\ntheorem boom : True := trivial",
    "an end inside of a proof": "theorem boom : False := by\nend",
    "a second theorem inside of a proof": "theorem boom : False := by\n  theorem t : True := trivial\n  exact t",
    "no checking please": "set_option debug.skipKernelTC true\ntheorem boom : False := trivial",
    "no checking please in one command": "set_option debug.skipKernelTC true in\ntheorem boom : False := trivial",
    "no limits": "set_option maxRecDepth 1000000 in\ntheorem boom : False := by exact boom",
    "automatic variables": "set_option autoImplicit true\ntheorem boom (h : p) : q := h",
    "a notation": 'notation "False" => True\ntheorem boom : False := trivial',
    "a local notation": 'local notation "1" => 2\ntheorem boom : 1 = 2 := rfl',
    "an infix": 'infix:50 " = " => fun a b => True\ntheorem boom : 1 = 2 := trivial',
    "a macro": 'macro "rfl" : tactic => `(tactic| sorry)\ntheorem boom : 1 = 2 := by rfl',
    "a syntax": 'syntax "boom" : tactic\ntheorem boom : False := by boom',
    "an instance": "instance : Decidable False := .isTrue trivial\ntheorem boom : False := by decide",
    "an opaque constant": "opaque boom : False",
    "a constant": "constant boom : False",
    "an import": "import Mathlib\ntheorem boom : False := trivial",
    "a prelude": "prelude\ntheorem boom : False := trivial",
    "run_cmd": "run_cmd Lean.addDecl boom\ntheorem boom : False := trivial",
    "eval": "#eval False.elim\ntheorem boom : False := trivial",
    "native computation": "theorem boom : False := by native_decide",
    "a compiled implementation": "@[implemented_by Nat.zero] def boom : False := trivial",
    "an extern implementation": '@[extern "boom"] def boom : False := trivial',
    "a csimp lemma": "@[csimp] theorem boom : False := trivial",
    "an instance by attribute": "@[instance] theorem boom : False := trivial",
    "a macro attribute": "@[macro_inline] theorem boom : False := trivial",
    "another name for a definition": "alias boom := False.elim\ntheorem t : False := boom",
    "an export": "namespace A\naxiom boom : False\nend A\nexport A (boom)\ntheorem t : False := sorry",
    "deriving": "inductive T : Type where\n  | a : T\n  deriving Inhabited\ntheorem boom : False := trivial",
    "a where clause": "theorem boom : False := h\nwhere h : False := h",
    "a name that is a keyword": "theorem theorem : False := trivial\ntheorem boom : False := theorem",
    "a name with an empty part": "theorem boom. : False := trivial",
}


@attack(HIDDEN)
def test_nothing_is_hidden_in_the_text(text):
    refused(text)


def test_what_stands_in_a_comment_is_not_run():
    result = run(
        "-- axiom boom : False\n/- axiom boom : False -/\n/-- axiom boom : False -/ theorem t : True := trivial"
    )
    assert not result.messages and "boom" not in result.state.env


MEANINGS = {
    "a false lemma for simp": "@[simp] theorem lie (h : False) : 1 = 2 := h.elim\ntheorem boom : 1 = 2 := by simp",
    "a lemma for simp with a hypothesis of its own kind": (
        "@[simp] theorem lie (n : Nat) (h : n = n + 1) : n = 0 := by cases n <;> simp_all\n"
        "theorem boom (n : Nat) : n = 0 := by simp"
    ),
    "a definition made reducible": (
        "@[reducible] def Claim (p : Prop) : Prop := True\ntheorem boom (p : Prop) : p := (trivial : Claim p)"
    ),
    "a definition made irreducible": ("@[irreducible] def one : Nat := 1\ntheorem boom : one = 2 := rfl"),
    "an attribute for falsehood": "attribute [simp] False\ntheorem boom : False := by simp",
    "an attribute taken away": "attribute [-simp] Nat.add_zero\ntheorem boom : 1 + 0 = 0 := by simp",
    "refl for an order": (
        "@[refl] theorem lie (a b : Nat) (h : a ≤ b) : a ≤ b := h\ntheorem boom (a b : Nat) : a ≤ b := by rfl"
    ),
    "trans for an order": (
        "@[trans] theorem lie {a b c : Nat} (h : a ≤ b) (k : b ≤ c) : a ≤ c := Nat.le_trans h k\n"
        "theorem boom (a b : Nat) : a ≤ b := by apply lie"
    ),
    "symm for an order": "@[symm] theorem boom {a b : Nat} (h : a ≤ b) : b ≤ a := h",
    "an eliminator of its own": (
        "@[elab_as_elim] theorem lie {p : Nat → Prop} (n : Nat) (z : p 0) (s : ∀ n, p n → p n) : p n := by\n"
        "  induction n\n  · exact z\n  · exact s _ z"
    ),
    "induction with a false principle": ("theorem boom (n : Nat) : n = 0 := by induction n using Nat.noConfusion"),
}


@attack(MEANINGS)
def test_attributes_do_not_make_anything_true(text):
    refused(text)


AXIOMS = {
    "an axiom": ("axiom lie : False\ntheorem boom : False := lie", "lie"),
    "an axiom by its allowed last name": (
        "namespace A\naxiom propext : False\ntheorem boom : False := propext\nend A",
        "A.propext",
    ),
    "an axiom in a namespace called like an allowed one": (
        "axiom propext.sound : False\ntheorem boom : False := propext.sound",
        "propext.sound",
    ),
    "choice in another namespace": (
        "axiom A.Classical.choice : False\ntheorem boom : False := A.Classical.choice",
        "A.Classical.choice",
    ),
    "an axiom with another letter case": ("axiom Propext : False\ntheorem boom : False := Propext", "Propext"),
    "a private axiom": ("private axiom lie : False\ntheorem boom : False := lie", "lie"),
    "an axiom through a definition": (
        "axiom lie : False\ndef alias : False := lie\ntheorem boom : False := alias",
        "lie",
    ),
    "an axiom through the type of a definition": (
        "axiom T : Type\naxiom t : T\ndef f (_ : T) : Prop := True\ntheorem boom : f t := trivial",
        "t",
    ),
    "an axiom through a constructor": (
        "axiom T : Type\ninductive W : Type where\n  | mk : T → W\ntheorem boom : W = W := rfl",
        "T",
    ),
    "an axiom through a structure": (
        "axiom lie : 1 = 2\nstructure S : Type where\n  h : 1 = 2\ndef s : S := ⟨lie⟩\ntheorem boom : 1 = 2 := s.h",
        "lie",
    ),
    "an axiom through a simp lemma": (
        "axiom lie : False\n@[simp] theorem bad : 1 = 2 := lie.elim\ntheorem boom : 1 = 2 := by simp",
        "lie",
    ),
    "an axiom through assumption": (
        "axiom lie : False\ntheorem boom : 1 = 2 := by\n  have h : False := lie\n  contradiction",
        "lie",
    ),
    "an axiom through an opened namespace": (
        "namespace A\naxiom lie : False\nend A\nopen A in\ntheorem boom : False := lie",
        "A.lie",
    ),
    "an axiom in an argument that is thrown away": (
        "axiom lie : False\ntheorem boom : True := (fun _ => trivial) lie",
        "lie",
    ),
    "an axiom that is an implication": (
        "axiom lie : ∀ p : Prop, p\ntheorem boom : 1 = 2 := lie _",
        "lie",
    ),
}


@each(("text", "axiom"), AXIOMS.values(), ids=AXIOMS.keys())
def test_every_axiom_is_seen(text, axiom):
    name = "A.boom" if text.startswith("namespace A\naxiom propext") else "boom"
    rests_on(text, axiom, name)


def test_the_library_itself_proves_nothing_false_and_has_only_known_axioms():
    env = base().env
    axioms = {info.name for info in env if info.kind == "axiom"}
    assert axioms <= {"propext", "Classical.choice", "Quot.sound", "sorryAx"}
    assert not [info.name for info in env if info.kind == "theorem" and "sorryAx" in info.mentions]
