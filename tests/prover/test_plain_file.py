"""What a file of somebody else may hold: plain declarations, and no command that runs code or changes what is read."""

from nanolean.tests.each import each
from nanoproof.lean.forbidden import declarations, plain_reason

GOOD = "theorem good (p : Prop) (h : p) : p := by\n  exact h\n"


@each(
    "text",
    [
        GOOD,
        "",
        "/- a file -/\nimport Mathlib.Order.Basic -- why\nimport Lean\n\n" + GOOD,
        "-- a theorem\n/-- its documentation, with `axiom` -/\n@[simp] protected theorem a : True := trivial\n",
        "@[simp, ext]\nnoncomputable def f : Nat := 1\n\nabbrev g := f\n\nexample : g = 1 := rfl\n",
        "namespace A\nsection\nvariable (n : Nat)\nuniverse u\ninclude n\ntheorem a : n = n := rfl\nend\nend A\n",
        "noncomputable section\n" + GOOD + "end\n",
        "open Nat in\nset_option maxRecDepth 1000 in\n" + GOOD,
        "open Nat in " + GOOD,
        "theorem a : True := by\n  open Nat in\n    set_option maxRecDepth 99 in\n    trivial\n",
        "def f : Nat → Nat\n  | 0 => 0\n  | n + 1 => f n\ntermination_by n => n\ndecreasing_by omega\n",
        "theorem a (end' : Prop) (h : List.end = instance.macro) : end' := h.elab\n",
        'theorem a : "axiom #eval" = "axiom #eval" := rfl -- axiom\n',
        "theorem «the axiom» : True := trivial\n",
        "open Finset in\ntheorem a (s : Finset Nat) : #s = #univ := by simp [#s]\n",
        "theorem a : True := trivial\r\ntheorem b : True := trivial\r\n",
    ],
)
def test_a_plain_file_may_be_read(text: str) -> None:
    assert plain_reason(text) is None


@each(
    ("text", "word"),
    [
        ("axiom lie : False\n", "axiom"),
        ("theorem a : True := trivial axiom lie : False\n", "axiom"),
        ('#eval IO.println "hi"\n', "#eval"),
        ('theorem a : True := trivial #eval IO.println "hi"\n', "#eval"),
        ("#my_library_command\n", "#my_library_command"),
        ("  #loogle\n", "#loogle"),
        ("instance : OfNat Nat 5 := ⟨4⟩\n", "instance"),
        ("local instance : Inhabited Nat := ⟨1⟩\n", "local instance"),
        ('notation "1 = 2" => True\n', "notation"),
        ('scoped[A] notation "x" => 1\n', "scoped[A] notation"),
        ("macro_rules | `(1) => `(2)\n", "macro_rules"),
        ('macro "x" : term => `(1)\n', "macro"),
        ('elab "x" : command => pure ()\n', "elab"),
        ("initialize do IO.println 1\n", "initialize"),
        ("builtin_initialize do IO.println 1\n", "builtin_initialize"),
        ("run_cmd pure ()\n", "run_cmd"),
        ("run_meta pure ()\n", "run_meta"),
        ("simproc f (1) := fun _ => pure .continue\n", "simproc"),
        ("inductive T where | a\n", "inductive"),
        ("structure T where\n  a : Nat\n", "structure"),
        ("opaque x : Nat\n", "opaque"),
        ("unsafe def f : Nat := 1\n", "unsafe"),
        ("partial def f : Nat := f\n", "partial"),
        ("private theorem a : True := trivial\n", "private"),
        ("mutual\ntheorem a : True := b\ntheorem b : True := a\nend\n", "mutual"),
        ("attribute [instance] foo\n", "attribute"),
        ("attribute [simp] foo in\n" + GOOD, "attribute"),
        ("def f := 1 deriving Repr\n", "deriving"),
        ("export Nat (add)\n", "export"),
        ("alias b := a\n", "alias"),
        ("add_decl_doc Nat.add\n", "add_decl_doc"),
        ("register_simp_attr foo\n", "register_simp_attr"),
        ("module\n" + GOOD, "module"),
        ("public import Lean\n", "public"),
        (GOOD + "import Lean\n", "import"),
        ("import Lean import Evil\n", "import"),
        ("unif_hint foo where\n", "unif_hint"),
    ],
)
def test_what_is_no_plain_declaration_is_refused_wherever_it_stands(text: str, word: str) -> None:
    assert plain_reason(text) == f"`{word}` begins a command that is no plain declaration"


@each(
    ("text", "reason"),
    [
        ("theorem a : True := trivial theorem b : True := trivial\n", "`theorem` stands behind something else"),
        ("namespace B theorem b : True := trivial\n", "`theorem` stands behind something else"),
        ("end B theorem b : True := trivial\n", "`theorem` stands behind something else"),
        ("theorem a : True := trivial end\n", "`end` stands behind something else"),
        ("theorem a : True := trivial variable (h : False)\n", "`variable` stands behind something else"),
        ("section variable (h : False)\n", "`variable` stands behind something else"),
        ("@[implemented_by f] def g : Nat := 1\n", "the attribute `implemented_by`"),
        ("@[simp, instance] def g : Nat := 1\n", "the attribute `instance`"),
        ("@[simp, macro foo]\ntheorem a : True := trivial\n", "the attribute `macro`"),
        ("theorem a : True := by simp @[simp]\n", "`@[` begins a command"),
        ("import Evil\n", "it imports Evil, which is none of Init, Std, Lean, Batteries, Mathlib"),
        ("import Lean\nimport Mathlibs.Evil\n", "it imports Mathlibs.Evil"),
        ("/- a comment\n" + GOOD, "a comment has no end"),
        (GOOD + '"\naxiom lie : False\n', "a string has no end"),
        ('theorem a : r#""# = "" := rfl\n', "a literal hides where it ends"),
        ("theorem «a\nb» : True := trivial\n", "a quoted name has no end"),
        ("theo\u200brem a : True := trivial\n", "U+200B is a character that cannot be seen"),
        ("-/ theorem a : True := trivial\n", "`-/` ends a comment that was not begun"),
    ],
)
def test_the_reason_says_what_is_wrong(text: str, reason: str) -> None:
    found = plain_reason(text)
    assert found is not None and found.startswith(reason)


def test_words_and_modules_may_be_allowed() -> None:
    text = 'import Mine.Notation\nlocal notation "x" => 1\n' + GOOD
    assert plain_reason(text, ("Mine",)) is not None
    assert plain_reason(text, ("Mine",), ("local",)) is None
    assert plain_reason(text, ("Mine",), ("local notation",)) is None


def test_declarations_are_found_with_their_namespaces() -> None:
    text = "namespace A\nopen Nat in\n@[simp] theorem a : True := d\nabbrev _root_.b := 1\nend A\nlemma c : True := d\n"
    assert declarations(text) == [("theorem", "A.a"), ("abbrev", "b"), ("lemma", "c")]
