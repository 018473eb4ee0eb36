"""What is taken from a model's answer: thoughts, code blocks, one tactic, and the text that is a whole proof."""

import textwrap
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolean.tests.each import each
from nanoproof.lean.answers import Unreadable, read_proofs, read_tactic, without_thoughts, written_proof
from nanoproof.lean.types import Theorem

SWAP = Theorem("theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  sorry", "made", "swap")
STATED = "theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p := by"

# -- thoughts ----------------------------------------------------------------------------------------------------

TRIED = "Maybe:\n```lean4\nexact absurd\n```\nNo."
MARKED = {
    "tags": f"<think>{TRIED}</think>\n\n{{}}",
    "the opening tag was in the prompt": f"{TRIED}\n</think>\n\n{{}}",
    "thoughts in capitals": f"<Think>{TRIED}</Think>{{}}",
    "a blank in the closing tag": f"{TRIED}\n</ think >\n{{}}",
    "a tag with a name before it": f"{TRIED}\n</longcat_think>\n{{}}",
    "tags between bars": f"<|think|>{TRIED}<|/think|>\n{{}}",
    "an end between bars": f"{TRIED}<｜end▁of▁thinking｜>\n{{}}",
    "nested mention of the tag": f"<think>The tag <think> is odd. {TRIED}</think>{{}}",
    "the tag twice": f"<think>{TRIED}</think> hm </think>\n{{}}",
    "another word": f"<thinking>{TRIED}</thinking>\n{{}}",
    "Sky-T1": f"<|begin_of_thought|>{TRIED}<|end_of_thought|>\n<|begin_of_solution|>{{}}<|end_of_solution|>",
    "Magistral": f"[THINK]{TRIED}[/THINK]{{}}",
    "Apriel": f"Here are my reasoning steps:\n{TRIED}\n[BEGIN FINAL RESPONSE]\n{{}}\n[END FINAL RESPONSE]",
    "Granite": f"Here is my thought process:\n{TRIED}\nHere is my response:\n{{}}",
    "s1": f"<|im_start|>think\n{TRIED}\n<|im_start|>answer\n{{}}",
    "MedGemma": f"<unused94>thought\n{TRIED}<unused95>{{}}",
    "Hermes": f"<scratch_pad>{TRIED}</scratch_pad>\n{{}}",
    "a plan": f"<plan>{TRIED}</plan>\n{{}}",
    "Kimi": f"◁think▷{TRIED}◁/think▷{{}}",
    "Command A": f"<|START_THINKING|>{TRIED}<|END_THINKING|><|START_RESPONSE|>{{}}<|END_RESPONSE|>",
    "gpt-oss": f"<|channel|>analysis<|message|>{TRIED}<|end|><|start|>assistant"
    f"<|channel|>final<|message|>{{}}<|return|>",
    "gpt-oss without special tokens": f"analysis{TRIED}assistantfinal{{}}",
    "gpt-oss with a format": f"<|channel|>analysis<|message|>{TRIED}<|end|><|start|>assistant"
    f"<|channel|>final <|constrain|>text<|message|>{{}}",
    "Gemma 4": f"<|channel>thought\n{TRIED}<channel|>{{}}<turn|>",
    "Apertus": f"<|inner_prefix|>{TRIED}<|inner_suffix|>{{}}",
    "a page": f'<details type="reasoning" done="true"><summary>Thought for 3 s</summary>\n{TRIED}\n</details>\n{{}}',
    "folded": f"<details>\n<summary>My reasoning</summary>\n{TRIED}\n</details>\n{{}}",
    "escaped": f"&lt;think&gt;{TRIED}&lt;/think&gt;{{}}",
    "a turn of plain text": f"{{}}\n\nHuman: And this?\n{TRIED}",
    "a turn under a heading": f"<think>\nUser: a question\n{TRIED}</think>{{}}\n### Instruction:\n{TRIED}",
    "a turn of Llama's": f"{{}}<|start_header_id|>user<|end_header_id|>\n{TRIED}",
    "a turn that the model made up": f"{{}}<|im_end|>\n<|im_start|>user\nAnd this?\n{TRIED}",
    "an answer in tags": f"<think>{TRIED}</think>It is: <answer>{{}}</answer>\nGood luck!",
    "thoughts after the answer": f"{{}}\n<think>{TRIED}",
    "none": "{}",
}


@each("name", MARKED)
@each("answer", ["simp", "```lean4\nsimp\n```", "```\nsimp\n```"])
def test_no_tactic_is_taken_from_thoughts(name: str, answer: str) -> None:
    assert read_tactic(MARKED[name].format(answer)) == "simp"


@each("name", MARKED)
def test_no_proof_is_taken_from_thoughts(name: str) -> None:
    block = f"```lean4\n{STATED}\n  exact ⟨h.2, h.1⟩\n```"
    assert read_proofs(SWAP, written_proof(SWAP, MARKED[name].format(block))) == ["exact ⟨h.2, h.1⟩"]


@pytest.mark.parametrize(
    "text", ["<think>it never ends\n```lean4\nsimp\n```", "<|channel|>analysis<|message|>hm", "a</think>"]
)
def test_thoughts_without_an_answer_are_no_tactic(text: str) -> None:
    assert read_tactic(text) == "" == without_thoughts(text).strip()


# -- one tactic --------------------------------------------------------------------------------------------------

TACTICS = {
    "nothing": ("", ""),
    "alone": ("  simp ", "simp"),
    "a name with a word of a tag": ("by_contra h", "by_contra h"),
    "in words": ("Sure!\n```lean\nrw [h]\nsimp\n```\nThis works because", "rw [h]\nsimp"),
    "a fence on the line of its end": ("```\nsimp```", "simp"),
    "cut off": ("```tactic\nsimp", "simp"),
    "cut off behind words": ("Here it is\n```\nsimp", "simp"),
    "the end of a block of the prompt": ("simp\n```", "simp"),
    "words behind a block of the prompt": ("intro x\nsimp\n```\nThis works.", "intro x\nsimp"),
    "on one line": ("Take ```lean4 exact h``` here.", "exact h"),
    "on one line without a tag": ("```exact h```", "exact h"),
    "begun on the line of the fence": ("```lean4 intro x\nsimp\n```", "intro x\nsimp"),
    "one word on the line of the fence": ("```simp\n```", "simp"),
    "a tag with attributes": ('```lean4 title="x"\nsimp\n```', "simp"),
    "tildes": ("~~~lean\nsimp\n~~~", "simp"),
    "four marks around three": ("````lean\nsimp -- ```\n````", "simp -- ```"),
    "in a list": ("1. First:\n   ```lean\n   intro x\n     simp\n   ```", "intro x\n  simp"),
    "the steps after it": ("```lean4\nintro x\n```\nThen:\n```lean4\nsimp\n```", "intro x"),
    "after the state": ("```\nh : p\n⊢ q\n```\nTactic:\n```lean4\nsimp\n```", "simp"),
    "after a question to Lean": ("```lean4\n#check h\n```\n```lean4\nsimp\n```", "simp"),
    "before the output": ("```\nno goals\n```\nof\n```lean4\nsimp\n```", "simp"),
    "only a state": ("```lean\n⊢ q\n```", ""),
    "between backticks": ("The next tactic is `exact h`.", "exact h"),
    "backticks in a comment": ("simp -- `rfl` fails", "simp -- `rfl` fails"),
    "names in backticks": ("run `a and `b", "run `a and `b"),
    "a label": ("TACTIC: simp", "simp"),
    "another label": ("Assistant: simp", "simp"),
    "the by of the statement": (":= by\n  intro x\n  simp", "intro x\nsimp"),
    "by on the line of the tactic": ("```lean4\nby simp\n```", "simp"),
    "folded notes": ("```lean\nsimp\n```\n<details><summary>Notes</summary>Short.</details>", "simp"),
    "a folded answer": ("<details><summary>Proof</summary>\n\n```lean\nsimp\n```\n</details>", "simp"),
    "by_cases": ("by_cases h : p", "by_cases h : p"),
    "a talk in words": ("So:\nUser: prove it\n```lean4\nsimp\n```", "simp"),
    "a heading in a comment": ("simp /- a\n### Input\n-/", "simp /- a\n### Input\n-/"),
    "a list mark": ("- simp", "simp"),
    "a bullet of Lean": ("· simp", "· simp"),
    "a minus": ("```lean\n- simp\n```", "- simp"),
    "line ends of other systems": ("```lean\r\nsimp\r\nrfl\r\n```", "simp\nrfl"),
}


@each("name", TACTICS)
def test_the_tactic_of_an_answer(name: str) -> None:
    said, tactic = TACTICS[name]
    assert read_tactic(said) == tactic


@each(
    "tag", ["", "lean", "lean4", "Lean4", "LEAN", "text", "tactics", "tactic", "plaintext", "coq", "lean-4", " lean4 "]
)
@each("fence", ["```", "````", "~~~"])
def test_the_tag_of_a_fence_is_no_part_of_the_tactic(tag: str, fence: str) -> None:
    assert read_tactic(f"Here:\n{fence}{tag}\nexact h\n{fence}\nDone.") == "exact h"
    assert written_proof(SWAP, f"Here:\n{fence}{tag}\n  exact h\n{fence}\nDone.") == "  exact h"


CODE = st.lists(
    st.sampled_from(["simp", "rw [h]", "exact ⟨a, b⟩", "  rfl", "-- `x`", "· intro x", "", "'"]), min_size=1
)


@settings(max_examples=100)
@given(
    CODE,
    st.sampled_from(["", "lean4", "Lean", "text", "tactics"]),
    st.sampled_from(["", "Sure:\n", "\n"]),
    st.booleans(),
)
def test_what_is_in_a_block_is_read_as_it_stands(lines: list[str], tag: str, before: str, think: bool) -> None:
    code = "\n".join(["exact x", *lines, "done"])
    thought = "I try ```lean\nrfl\n```</think>" if think else ""
    answer = f"{thought}{before}```{tag}\n{code}\n```\nBye."
    assert read_tactic(answer) == code
    assert written_proof(SWAP, answer) == code


@settings(max_examples=200)
@given(st.text(alphabet="`~ \n#⊢leansorrythm:=<>/k-|«»'\"(", max_size=80))
def test_readers_take_any_text(text: str) -> None:
    read_tactic(text)
    with suppress(Unreadable):
        read_proofs(SWAP, written_proof(SWAP, text))


HEAVY = ["```\n", "`", "/- ```\n", "theorem ", "theorem a := ", "<think>", "(", "~~~\n/-- ", f"{STATED}\n", "`x` "]
HEAVY += ["<details ", "<details type=reasoning>", "<details><summary>think ", "&lt;think&gt;", "a\nUser:"]


def seconds_to_read(text: str) -> float:
    began = time.process_time()
    read_tactic(text)
    with suppress(Unreadable):
        read_proofs(SWAP, written_proof(SWAP, text))
    return time.process_time() - began


@each("text", HEAVY)
def test_a_text_of_four_times_the_length_takes_no_sixteen_times_as_long(text: str) -> None:
    short, long = (seconds_to_read(text * (length // len(text))) for length in (12_500, 50_000))
    assert long < 10 * short + 0.25


# -- which part of an answer is the proof ------------------------------------------------------------------------

WRITTEN = {
    "plain text stays": ("\n  simp\n  rfl", "\n  simp\n  rfl"),
    "a closing fence ends it": ("\n  simp\n```\nThis works because ...", "\n  simp"),
    "only the first closing fence counts": ("  simp\n```\nor:\n```lean4\nrfl\n```", "  simp"),
    "the output after a closing fence": ("  simp\n```\nLean says\n```\nno errors\n```", "  simp"),
    "a fenced block is taken out of words": ("Here it is:\n```lean4\n  simp\n```\nDone.", "  simp"),
    "a block without a tag in words": ("Here it is:\n```\nsimp\n```\nDone.", "simp"),
    "a block without a tag, at the beginning": ("```\nsimp\n```", "simp"),
    "the last block of Lean is the answer": ("```lean\nrfl\n```\nNo, rather:\n```lean\nsimp\n```\n", "simp"),
    "other blocks are no answer": ("```lean4\nsimp\n```\nwhich prints\n```text\nok\n```", "simp"),
    "output without a tag is no answer": ("```lean4\nsimp\n```\nLean prints:\n```\nno errors\n```", "simp"),
    "a question to Lean is no answer": (
        "```lean4\nsimp\n```\nCheck:\n```lean4\n#check swap\n#print axioms swap\n```",
        "simp",
    ),
    "the block that states it": (f"```lean4\n{STATED} simp\n```\nUsed:\n```lean4\nrfl\n```", f"{STATED} simp"),
    "the last block that states it": (f"```\n{STATED} rfl\n```\nNo:\n```\n{STATED} simp\n```", f"{STATED} simp"),
    "the question once more": (f"Given\n```lean4\n{STATED}\n  sorry\n```\nthe proof is\n```lean4\nsimp\n```", "simp"),
    "a block that was cut off": ("Proof:\n```lean4\nsimp\nrf", "simp\nrf"),
    "fences in a doc comment": (
        f"```lean4\n/-- As in\n```\nfoo\n```\n-/\n{STATED} simp\n```",
        f"/-- As in\n```\nfoo\n```\n-/\n{STATED} simp",
    ),
    "a file with such a comment and no fence": (
        f"/-- ```\nfoo\n``` -/\n{STATED} simp",
        f"/-- ```\nfoo\n``` -/\n{STATED} simp",
    ),
    "line ends of other systems": ("simp\r\nrfl", "simp\nrfl"),
    "a block in a quotation": (f"> Proof:\n>\n> ```lean4\n> {STATED}\n>   simp\n>\n> ```", f"{STATED}\n  simp"),
    "a text that is shown behind the proof": (
        f"```lean4\n{STATED} simp\n```\nNot:\n```text\n{STATED} rfl\n```",
        f"{STATED} simp",
    ),
    "code within a sentence": ("The proof is `by exact ⟨h.2, h.1⟩`.", "by exact ⟨h.2, h.1⟩"),
    "code within a sentence, and the theorem": (f"By `simp`:\n\n{STATED} rfl", f"{STATED} rfl"),
}


@each("name", WRITTEN)
def test_what_of_an_answer_is_lean(name: str) -> None:
    text, expected = WRITTEN[name]
    assert written_proof(SWAP, text) == expected


# -- a source that is written once more --------------------------------------------------------------------------

CONTEXT = """\
/-! # A file -/
universe u v
open Nat List in
set_option maxHeartbeats 400 in
@[simp]
theorem first : 1 = 1 := rfl
namespace A.B
section
variable {α : Type u} (x : α)
private def two : Nat := 2 -- even
end
@[inline, specialize] def helper (n : Nat := 0) : Nat :=
  n
example : True := by
  trivial
end A.B
mutual
end
namespace C
"""
DECLARATIONS = {
    "plain": "theorem t (n : Nat) : n = n := by\n  sorry",
    "an attribute on its line": "@[simp]\ntheorem t (n : Nat) : n = n := by\n  sorry",
    "an attribute beside it": "@[simp, aesop safe apply] theorem t (n : Nat) : n = n := by\n  sorry",
    "attributes with values": '@[deprecated foo (since := "2024-01-01")]\nlemma t : 1 = 1 := sorry',
    "documented": "/-- A theorem t : False := by nothing. -/\ntheorem t (n : Nat) : n = n := by\n  sorry",
    "open in": "open Nat in\ntheorem t (n : Nat) : n = n := by\n  sorry",
    "open in, beside it": "open Nat in theorem t (n : Nat) : n = n := by\n  sorry",
    "omit in": "omit [Foo α] in\nvariable (y : α) in\n@[simp] private theorem t : y = y := by\n  sorry",
    "indented": "  theorem t (n : Nat) :\n      n = n := by\n    sorry",
    "private": "protected theorem A.t.{u} (α : Sort u) : α = α := by\n  sorry",
    "let and default": "theorem t (h : 1 = 1 := by decide) : let x := 1; x = 1 := by\n  sorry",
    "an example": "example (n : Nat) : n = n := by\n  sorry",
    "a comment within": "theorem t -- all\n  /- n -/ (n : Nat) : n = n := by\n  sorry",
}  # fmt: skip


@each("declaration", DECLARATIONS)
@each("context", ["", CONTEXT])
@each("wrapped", ["{}", "Sure:\n```lean4\n{}\n```\nDone.", "<think>hm</think>```\n{}\n```"])
def test_a_source_that_is_written_once_more_states_the_theorem(declaration: str, context: str, wrapped: str) -> None:
    theorem = Theorem(context + DECLARATIONS[declaration])
    whole = theorem.source.replace("sorry", "rfl")
    forms = [
        whole,
        DECLARATIONS[declaration].replace("sorry", "rfl"),  # without what comes before
        f"import Mathlib\nimport Aesop\n\nset_option maxHeartbeats 0\nopen Real\n\n{whole}",
        f"/- Copyright -/\nmodule\n\npublic import My.Lib\nimport all B.C\n\n{whole}",
        f"{whole}\n\nend C\n" if context else whole,
        whole.replace("\n", "\n\n").replace("@[simp]\n", "@[simp] "),
    ]
    for form in forms:
        proofs = read_proofs(theorem, written_proof(theorem, wrapped.format(form)))
        assert [proof.strip() for proof in proofs] in (["rfl"], ["exact (rfl\n)"]), form


def test_a_source_may_begin_with_a_command_that_only_its_library_knows() -> None:
    theorem = Theorem('blueprint_comment "P ```"\ntheorem t : True := by\n  sorry')
    whole = theorem.source.replace("sorry", "trivial")
    assert read_proofs(theorem, written_proof(theorem, f"```lean4\n{whole}\n```")) == ["trivial"]
    # Tactics that go on with the theorem once more are tactics.
    assert read_proofs(theorem, f"  simp\n\n{whole[whole.index('theorem') :]}") == ["simp"]


@pytest.mark.parametrize(
    "extra", ["def two := 3", "axiom lie : False", 'notation "x" => 1', "end C", "@[simp] def y := 1"]
)
def test_what_the_source_does_not_hold_is_refused(extra: str) -> None:
    theorem = Theorem(CONTEXT + DECLARATIONS["plain"])
    text = CONTEXT + extra + "\n" + DECLARATIONS["plain"].replace("sorry", "rfl")
    with pytest.raises(Unreadable, match="holds more than the theorem"):
        read_proofs(theorem, written_proof(theorem, text))


def test_a_statement_may_be_repeated_with_other_forms_of_its_symbols() -> None:
    theorem = Theorem("theorem t (p q : Prop) : p /\\ q -> (q ∨ p ↔ 1 <= 2) := by\n  sorry")
    assert read_proofs(theorem, "theorem t (p q : Prop) : p ∧ q → (q \\/ p <-> 1 ≤ 2) := by\n  simp") == ["simp"]
    with pytest.raises(Unreadable, match="another theorem"):
        read_proofs(Theorem("theorem t : 1 ≠ 2 := by\n  sorry"), "theorem t : 1 != 2 := by\n  simp")
    theorem = Theorem("theorem t (s : Set ℕ) : (fun x ↦ x) = id → ∑ i ∈ s, i = 1 := by\n  sorry")
    text = "theorem t (s : Set Nat) : (λ x => x) = id → ∑ i in s, i = 1 := by\n  simp"
    assert read_proofs(theorem, text) == ["simp"]


@each("before", ["", "namespace A\n", "namespace A.B\n", "namespace A\nnamespace B\n"])
def test_namespaces_may_be_written_in_the_name(before: str) -> None:
    theorem = Theorem("namespace A.B\ntheorem t : 1 = 1 := by\n  sorry\nend A.B")
    name = ["A.B.t", "B.t", "t"][before.count("A") + before.count("B")]
    assert read_proofs(theorem, f"{before}theorem {name} : 1 = 1 := by\n  rfl") == ["rfl"]
    of_the_root = Theorem("namespace A\ntheorem _root_.t : 1 = 1 := by\n  sorry")
    assert read_proofs(of_the_root, "theorem t : 1 = 1 := by\n  rfl") == ["rfl"]


def test_a_proof_by_equations_is_a_function() -> None:
    theorem = Theorem("theorem t : ∀ n : Nat, n = n := by\n  sorry")
    text = "theorem t : ∀ n : Nat, n = n\n  | 0 => rfl\n  | n + 1 => by\n    have h : n = n := rfl\n    rfl\n\n#check t"
    (proof,) = read_proofs(theorem, text)
    assert proof.startswith("exact (fun\n  | 0 => rfl\n") and "#check" not in proof
    with pytest.raises(Unreadable, match="another theorem"):
        read_proofs(theorem, text.replace("n = n", "n ≤ n", 1))


def test_a_proof_by_fields_is_a_structure() -> None:
    theorem = Theorem("theorem «my theorem» (h : p ∧ q) : q ∧ p := by\n  sorry")
    text = "theorem «my theorem» (h : p ∧ q) : q ∧ p where\n  left := h.2\n  right := by exact h.1\n\n#check t"
    assert read_proofs(theorem, text) == ["exact ({\n\n  left := h.2\n  right := by exact h.1\n}\n)"]


@each("comment", ["/- why -/ ", "-- why\n  ", "-- why\n\n  /- and how -/ "])
def test_comments_before_a_proof_are_no_part_of_it(comment: str) -> None:
    theorem = Theorem("theorem t : 1 = 1 := by\n  sorry")
    assert read_proofs(theorem, f"theorem t : 1 = 1 := {comment}by rfl") == ["rfl"]
    (term,) = read_proofs(theorem, f"theorem t : 1 = 1 := {comment}rfl")
    assert term.split() == f"exact ({comment}rfl )".split()


def test_a_statement_may_be_repeated_without_its_universes() -> None:
    theorem = Theorem("theorem t.{u} {α : Sort u} (a : α) : a = a := by\n  sorry")
    for name in ("t", "t.{u}"):
        assert read_proofs(theorem, f"theorem {name} {{α : Sort u}} (a : α) : a = a := by\n  rfl") == ["rfl"]


def test_of_equal_statements_the_last_one_is_the_theorem() -> None:
    theorem = Theorem("example : 1 = 1 := by rfl\nexample : 1 = 1 := by\n  sorry")
    text = "example : 1 = 1 := by rfl\nexample : 1 = 1 := by\n  simp"
    assert read_proofs(theorem, text) == ["  simp".strip()]


@each(
    "answer",
    [
        "```lean4\n{}\n\n#print axioms t\n```",
        "```lean4\n{}\n\nexample : True := t\n```",
        "Here is the proof:\n\n{}\n\nThis proves it.",
        "\\begin{{lean}}\n{}\n\\end{{lean}}",
        "<lean>\n{}\n</lean>",
        "```lean4\n{}\n\n/-- Another one. -/\n@[simp] theorem u : True := t\n```",
        "{}<|im_end|>",
        "```lean4\n{}\n```<|eot_id|></s>",
        "```lean 4\n{}\n```",
        "```Lean4:\n{}\n```",
        "<final_answer>```lean4\n{}\n```</final_answer>",
        "```lean4\n{}\n```<|user|>",
        "```lean4\n{}\n```[e~[",
        "证明：\n\n{}\n\n证明完毕。",
        "````markdown\nProof:\n```lean4\n{}\n```\n````",
    ],
)
@each("form", ["{} := by\n  trivial", "{} :=\nby trivial", "private {} := by trivial"])
def test_what_a_model_writes_around_a_proof_is_no_part_of_it(answer: str, form: str) -> None:
    theorem = Theorem("theorem t : True := by\n  sorry")
    assert read_proofs(theorem, written_proof(theorem, answer.format(form.format("theorem t : True")))) == ["trivial"]


@pytest.mark.parametrize(
    "value",
    ["by\ninduction n with\n| zero => rfl", "by\nset_option x 1 in\nrfl", "by\n  rfl\n  <;> simp", "by\n  A\n\n  B"],
)
def test_lines_at_the_margin_that_are_lean_stay(value: str) -> None:
    theorem = Theorem("theorem t : True := by\n  sorry")
    assert read_proofs(theorem, f"theorem t : True := {value}") == [textwrap.dedent(value.removeprefix("by\n"))]


@each(
    ("text", "proof"),
    [
        ("  simp\n  rfl\n\ntheorem u : True := by\n  trivial", "simp\nrfl"),
        ("  simp\n\n/-- Another. -/\n@[simp]\nlemma u : True := t\n```", "simp"),
        ("  simp\n\nopen Nat\n\nend A", "simp"),
        ("  · simp\n    rfl\n", "· simp\n  rfl"),
        ("```lean4\n  calc a = b := h\n    _ = c := g\n```", "calc a = b := h\n  _ = c := g"),
        ("simp\nrfl\n\nprivate theorem u : True := t", "simp\nrfl"),
        (":= by\n  simp\n\n#print axioms t", "simp"),
        ("simp\nopen Nat in\nrfl", "simp\nopen Nat in\nrfl"),
    ],
)
def test_what_a_model_goes_on_with_behind_a_proof_alone_is_no_part_of_it(text: str, proof: str) -> None:
    theorem = Theorem("theorem t : True := by\n  sorry")
    assert read_proofs(theorem, written_proof(theorem, text)) == [proof]


def test_what_follows_the_theorem_in_its_source_is_no_part_of_the_proof() -> None:
    theorem = Theorem("namespace A\ntheorem t : True := by\n  sorry\n\nend A\n")
    assert read_proofs(theorem, "namespace A\ntheorem t : True := by\n  trivial\n\nend A") == ["trivial"]
    assert read_proofs(theorem, "theorem t : True := by\n  trivial\n\nend A") == ["trivial"]
