"""How proof states and statements are written for a model, and what is read from its answer: formats by name.

One renderer for training and sampling: `PromptFormat.prompt` is the text a model continues, and `example` gives it with
the text to learn. A format of kind `tactic` goes from a proof state to one tactic, one of kind `proof` from a statement
to what completes it. Where it was published is said at each; `tests/policy/test_prompt_formats.py` has texts of all.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_object
from nanoproof.lean.answers import read_tactic
from nanoproof.lean.lexical import mask, without_header
from nanoproof.lean.types import Theorem
from nanoproof.policy.prompt import before_state, prefix_text, statement_to_prove

Kind = Literal["tactic", "proof"]

TRAINED_FILE = "nanoproof.json"
"""File in the folder of a model of transformers that was trained here: with which prompt format, and how far."""

LEAN_HEADER = (
    "import Mathlib\nimport Aesop\n\nset_option maxHeartbeats 400000\n\nopen BigOperators Real Nat Topology Rat\n\n"
)
"""What DeepSeek-Prover-V1.5 wants to read before a statement."""
STP_HEADER = "import Mathlib\nimport Aesop\nset_option maxHeartbeats 0\nopen BigOperators Real Nat Topology Rat\n\n"
"""What STP wants to read before a statement, and what a row of its data sets means that has no header."""
_COMPLETE = "Complete the following Lean 4 code:\n\n```lean4\n"
# The word, and not the end of a name such as `h.by`.
_ENDS_WITH_BY = re.compile(r"(?<![\w.'])by\Z")
_MARK = re.compile(r"</?a>")


@dataclass(frozen=True)
class PromptFormat:
    """A way to ask a model: `prompt` writes the question, `answer` reads what it wrote.

    `prompt` takes a proof state (kind `tactic`) or a statement up to and with its `:=` or `:= by` (kind `proof`), and
    the texts of premises that may help, the best first. A sample ends before the first of `stop`. With `chat` the
    prompt is a message, which the model's own template wraps, behind a message `system` if that is given. With
    `special` it has a marker of our tokenizer, which an endpoint reads as such only when it is asked to. With `marked`
    the names of premises are to be between marks. `opening` and `header` are what comes before theorems without a
    header of their own: the imports and limits of the model's training, but no `open`, as Lean checks what the
    theorem's source says. With `as_written` a row of a data set is shown as it is there, also where it ends in `:=`.
    """

    name: str
    kind: Kind
    prompt: Callable[[str, Sequence[str]], str]
    answer: Callable[[str], str] = str.strip
    stop: tuple[str, ...] = ()
    chat: bool = False
    system: str = ""
    target: Callable[[str], str] = str
    special: bool = False
    marked: bool = False
    opening: str = ""
    header: str = ""
    as_written: bool = False

    @property
    def takes_premises(self) -> bool:
        """Whether the prompt has a place for premises."""
        # Asked of the renderer itself: a field that says it could be forgotten.
        return self.prompt("", ["\N{NULL}"]) != self.prompt("", ())

    def example(self, text: str, wanted: str, premises: Sequence[str] = ()) -> tuple[str, str]:
        """Return prompt and continuation to train on; after the continuation follows the model's own end of a text.

        What `answer` reads from the continuation is `wanted`, or its first line in a format of single lines.
        """
        return self.prompt(text, premises), self.target(wanted)


# -- state -> tactic -------------------------------------------------------------------------------------------------


def _own(state: str, premises: Sequence[str]) -> str:
    return f"{prefix_text(state)}<|tactic|>"


def _bfs_prover(state: str, premises: Sequence[str]) -> str:
    return f"{state}:::"


def _reprover(state: str, premises: Sequence[str]) -> str:
    return before_state(premises, state)


def _llmstep(state: str, premises: Sequence[str]) -> str:
    return f"[GOAL]{state}[PROOFSTEP]"


def _real_prover(state: str, premises: Sequence[str]) -> str:
    helpful = "\n\n".join(premises)
    return (
        "User: Please generate a tactic in lean4 to solve the state.\nHere're some theorems that may be helpful:\n"
        f"{helpful}\nSTATE:\n{state}\nTACTIC:\n\n\nAssistant:"
    )


def _reap(state: str, premises: Sequence[str]) -> str:
    helpful = "\n".join(premises)
    return (
        "User: Please generate a tactic in lean4 to solve the state.\nHere're some theorems that may be helpful:\n"
        f"{helpful}\nSTATE:\n{state}\nTACTIC:\n\nAssistant:"
    )


def _helpful(premises: Sequence[str]) -> str:
    """Return the paragraph that offers premises to a chat model; empty without any."""
    if not premises:
        return ""
    return "These theorems may help:\n" + "\n".join(premises) + "\n\n"


def _chat(state: str, premises: Sequence[str]) -> str:
    return (
        f"Here is a proof state of Lean 4.\n\n```lean4\n{state}\n```\n\n{_helpful(premises)}"
        "Answer with the next tactic, in a code block and without explanation. Do not use sorry."
    )


_LEANDOJO_SYSTEM = (
    "You are a Lean 4 tactic generator. Given a goal state, output exactly ONE Lean tactic that advances or solves the "
    "goal.\nRules:\n- Output only the tactic text; no prose or code fences.\n- Single line only; no `by` "
    "blocks.\n- Never use `sorry` or `admit`.\n"
)
# Its prover forbids quotes too, which its trainers do not.
_LEANDOJO_RULES = _LEANDOJO_SYSTEM.replace("no prose or code fences", "no prose, quotes, or code fences")


def _leandojo(state: str, premises: Sequence[str]) -> str:
    return state.strip()


def _leandojo_text(state: str, premises: Sequence[str]) -> str:
    return f"### System:\n{_LEANDOJO_RULES}### User:\n{state}\n\n### Assistant:\n"


def _taught_line(tactic: str) -> str:
    return tactic.strip().partition("\n")[0].rstrip()


def _taught_part(tactic: str) -> str:
    return _taught_line(tactic).partition("<;>")[0].rstrip()


def first_line(text: str) -> str:
    """Return the first line of an answer: what LeanDojo-v2 teaches of a tactic."""
    return read_tactic(text).partition("\n")[0].strip()


def before_combinator(text: str) -> str:
    """Return the first line of an answer, up to a `<;>`: what LeanDojo-v2's prover takes as the tactic."""
    return first_line(text).partition("<;>")[0].strip()


def without_marks(text: str) -> str:
    """Remove the marks `<a>` and `</a>` around names of premises, as ReProver's tactics have them."""
    return _MARK.sub("", read_tactic(text)).strip()


# -- Headers ---------------------------------------------------------------------------------------------------------


def header_text(header: str | None) -> str:
    """Return the header of a row: its own, or the default one where it has none (None, as in STP's data sets)."""
    # An empty header says that there is none, a missing one (null in the row) that it is the usual one.
    if header is None:
        return STP_HEADER
    return header


def theorem_under(header: str | None, statement: str, dataset: str = "", theorem_id: str = "") -> Theorem:
    """Return the theorem of a row: its statement, up to `:=` or `:= by`, under its header.

    A header of None is the default one, `STP_HEADER`. From here come both what Lean checks and, with the imports that
    are a server's own, what prompts show: so a name that is right in one is right in the other.
    """
    statement = statement.strip()
    above = header_text(header)
    if header is None and has_header(statement):
        above = ""
    if above and not above.endswith("\n"):
        above += "\n\n"
    # What Lean checks has no imports; those that stand in the statement go as well.
    before = without_header(above).strip()
    source = statement
    if before:
        source = f"{before}\n\n{statement}"
    source = without_header(source).lstrip()
    gap = " sorry"
    if _ENDS_WITH_BY.search(source):
        gap = "\n  sorry"
    return Theorem(source + gap, dataset, theorem_id, above + statement)


def question(theorem: Theorem, how: PromptFormat, refused: str = "") -> str:
    """Return the prompt for a whole proof of a theorem, behind what is said of a `refused` one."""
    if not how.header:
        return how.prompt(refused + statement_to_prove(theorem), ())
    shown = theorem.as_written or how.header + statement_to_prove(theorem)
    # STP's prompts end where the row does, at `:=` or `:= by`, without a blank; others always go on below a `by`.
    if how.as_written:
        shown = shown.rstrip()
    elif theorem.as_written:
        shown = _ENDS_WITH_BY.sub("", shown).rstrip().removesuffix(":=").rstrip() + " := by\n"
    return how.opening + refused + shown


# -- statement -> proof ----------------------------------------------------------------------------------------------


def has_header(statement: str) -> bool:
    """Tell whether a statement brings imports of its own."""
    return re.search(r"^\s*import\s", mask(statement), re.MULTILINE) is not None


def _deepseek(statement: str, premises: Sequence[str]) -> str:
    if not has_header(statement):
        statement = LEAN_HEADER + statement
    return _COMPLETE + statement


def _deepseek_cot(statement: str, premises: Sequence[str]) -> str:
    return _deepseek(statement, premises).replace(
        "Lean 4 code:", "Lean 4 code with explanatory comments preceding each line of code:", 1
    )


def _stp(statement: str, premises: Sequence[str]) -> str:
    shown = statement.strip()
    if not has_header(statement):
        shown = STP_HEADER + shown
    return _COMPLETE + shown


def _own_proof(statement: str, premises: Sequence[str]) -> str:
    return f"{prefix_text(statement)}<|proof|>"


def _chat_proof(statement: str, premises: Sequence[str]) -> str:
    return (
        f"Complete the following Lean 4 code:\n\n```lean4\n{statement.rstrip()}\n  sorry\n```\n\n"
        f"{_helpful(premises)}"
        "Answer with the whole theorem and its proof in a code block. Do not use sorry or axioms."
    )


def whole_text(text: str) -> str:
    """Return a proof as it was written, without blanks at its end: those at the beginning are its indentation."""
    return text.rstrip()


def _completion(
    name: str, prompt: Callable[[str, Sequence[str]], str], default: str, as_written: bool = False
) -> PromptFormat:
    """Return a format whose prompts end within a code block: the proof goes on in it, and ends with it.

    `default` is the header of published prompts.
    """
    # A statement with imports of its own is shown as it is, so what is in front of those is the format's opening.
    opening, _, _ = prompt("import X", ()).partition("import X")
    limits = default.partition("open ")[0]
    end, target = ("\n```",), "{}\n```".format
    return PromptFormat(
        name, "proof", prompt, whole_text, end, target=target, opening=opening, header=limits, as_written=as_written
    )


FORMATS: dict[str, PromptFormat] = {
    prompt_format.name: prompt_format
    for prompt_format in (
        # Networks of this project: the state's text, a line break and the marker, as `encode_transitions` trains it.
        PromptFormat("nanoproof", "tactic", _own, special=True),
        # BFS-Prover (Xin et al. 2025, arXiv 2502.03438), the card of ByteDance-Seed/BFS-Prover-V1-7B: state, `:::`.
        PromptFormat("bfs-prover", "tactic", _bfs_prover, read_tactic),
        # ReProver of LeanDojo (Yang et al. 2023, arXiv 2306.15626), `generator/model.py`: the state alone, or premises
        # before it, the best last; names of premises come in marks.
        PromptFormat("reprover", "tactic", _reprover, without_marks, marked=True),
        # LLMSTEP (Welleck and Saha 2023, arXiv 2310.18457), `python/server.py` of wellecks/llmstep.
        PromptFormat("llmstep", "tactic", _llmstep, read_tactic),
        # REAL-Prover (arXiv 2505.20613), `PromptManage.build_local_prompt_str` with the template `deepseek`.
        PromptFormat("real-prover", "tactic", _real_prover, read_tactic, target=" {}".format),
        # The tactic `reap` of frenzymath/reap, `mkPrompt` of `Reap/Tactic/Generator.lean`: REAL-Prover as a chat.
        PromptFormat("reap", "tactic", _reap, read_tactic, chat=True),
        PromptFormat("chat", "tactic", _chat, read_tactic, chat=True, target="```lean4\n{}\n```".format),
        # LeanDojo-v2, `trainer/sft_trainer.py` and `grpo_trainer.py`: what its models of transformers were trained on.
        PromptFormat(
            "leandojo", "tactic", _leandojo, first_line, chat=True, system=_LEANDOJO_SYSTEM, target=_taught_line
        ),
        # LeanDojo-v2, `prover/hf_prover.py`: rules, state and answer under headings in one text.
        PromptFormat("leandojo-text", "tactic", _leandojo_text, before_combinator, target=_taught_part),
        # Networks of this project that were finetuned for whole proofs.
        PromptFormat("nanoproof-proof", "proof", _own_proof, whole_text, special=True),
        # DeepSeek-Prover-V1.5 (Xin et al. 2024, arXiv 2408.08152): its card's prompt, and that for chains of thought.
        # A proof goes on in the code block, and ends with it.
        _completion("deepseek-v1.5", _deepseek, LEAN_HEADER),
        _completion("deepseek-v1.5-cot", _deepseek_cot, LEAN_HEADER),
        # STP (Dong and Ma 2025, arXiv 2502.00212): the same words, another header, blanks around the statement removed.
        _completion("stp", _stp, STP_HEADER, as_written=True),
        PromptFormat("chat-proof", "proof", _chat_proof, read_tactic, chat=True, target="```lean4\n{}\n```".format),
    )
}


def find_format(name: str, kind: Kind) -> PromptFormat:
    """Find a format by name. Raises UserError with the names of this kind for another."""
    prompt_format = FORMATS.get(name)
    if prompt_format is not None and prompt_format.kind == kind:
        return prompt_format
    problem = "is unknown"
    if prompt_format is not None and prompt_format.kind == "tactic":
        problem = "is for tactics"
    elif prompt_format is not None:
        problem = "is for whole proofs"
    raise UserError(f"--prompt-format {name} {problem}; of this kind there are {', '.join(formats_of(kind))}")


def formats_of(kind: Kind) -> tuple[str, ...]:
    """Return the names of all formats of a kind."""
    return tuple(name for name, prompt_format in FORMATS.items() if prompt_format.kind == kind)


# Names of published models, or parts of them, and the format that they were trained with.
_KNOWN: tuple[tuple[str, dict[Kind, str]], ...] = (
    ("bfs-prover", {"tactic": "bfs-prover"}),
    ("leandojo-lean4-tacgen", {"tactic": "reprover"}),
    ("leandojo-lean4-retriever-tacgen", {"tactic": "reprover"}),
    ("llmstep", {"tactic": "llmstep"}),
    ("real-prover", {"tactic": "real-prover"}),
    ("deepseek-prover-v1.5", {"proof": "deepseek-v1.5"}),
    ("stp_model", {"proof": "stp"}),
)


def known_format(spec: str, kind: Kind) -> PromptFormat | None:
    """Return the format that a model was trained with, by its SPEC: as published, or as the folder says; or None."""
    trained = None
    if spec.startswith("hf:"):
        trained = read_object(Path(spec.removeprefix("hf:")) / TRAINED_FILE)
    # Before the name of the model: who finetunes `BFS-Prover` on chats has a chat model in a folder of that name.
    name = None if trained is None else trained.get("prompt_format")
    if isinstance(name, str) and name in FORMATS and FORMATS[name].kind == kind:
        return FORMATS[name]
    for part, names in _KNOWN:
        if part in spec.lower() and kind in names:
            return FORMATS[names[kind]]
    return None
