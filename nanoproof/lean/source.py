"""The text of theorems: where its statement ends, what it is called, and how a proof takes the place of its `sorry`."""

import hashlib
import re
import textwrap
from dataclasses import dataclass

from nanoproof.lean.errors import SourceError
from nanoproof.lean.gaps import IN_FRONT, SORRY, fill
from nanoproof.lean.lexical import find_top_level, mask, misplaced_header
from nanoproof.lean.theorem import Theorem

ALLOWED_AXIOMS = frozenset({"propext", "Classical.choice", "Quot.sound"})
EXPLICIT = "set_option autoImplicit false in\n"
"""What `negate` puts before a theorem: names that the statement does not bind are no variables."""

NAME = r"(?:«[^»\n]*»|[^\s:({\[⦃⟨.«]+)(?:\.(?:«[^»\n]*»|[^\s:({\[⦃⟨.«]+))*"
_DECLARATION = re.compile(
    rf"^(?P<before>[ \t]*(?:{IN_FRONT}[ \t]+)*)"
    r"(?P<modifiers>(?:@\[[^\]]*\]\s*|(?:private|protected|public|meta|noncomputable|nonrec|unsafe)\s+)*)"
    r"(?P<keyword>theorem|lemma|example|def)(?![\w.'])"
    rf"(?:\s+(?P<name>{NAME})(?:\.\{{[^}}]*\}})?)?",
    re.MULTILINE,
)
_SCOPE = re.compile(
    r"^[ \t]*(?P<keyword>namespace|(?:(?:public|meta|noncomputable)[ \t]+)*section|end)(?![\w.'])[ \t]*(?P<name>\S*)",
    re.MULTILINE,
)
_CONTEXT = re.compile(r"^[ \t]*(?:variable|include)(?![\w.'])", re.MULTILINE)
_WHERE = re.compile(r"(?<![\w.'«])where(?![\w.'»])")
_UNIVERSES = re.compile(r"\.\{(?P<names>[^}]*)\}$")
_NEXT_COMMAND = re.compile(r"^(?!(?:where|termination_by|decreasing_by)\b)[a-zA-Z@#]", re.MULTILINE)
_LAST_PART = re.compile(r"(?:«[^»\n]*»|(?<![^.«»])[^.«»]+)\Z")
_IN_FRONT = re.compile(rf"^[ \t]*{IN_FRONT}\s*\Z", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parts:
    """Offsets into a source: declaration `[start, sorry_end)`, its keyword, the end of its name, its `:=`.

    `whole` says that the `sorry` is all of the proof, and not one inside of it.
    """

    start: int
    keyword: int
    head_end: int
    assign: int
    sorry_start: int
    sorry_end: int
    indent: str
    name: str | None
    whole: bool


def parts(source: str, whole: bool = True) -> Parts:
    """Take a theorem's source apart; `SourceError` says what is wrong with it.

    The `sorry` has to be the whole proof, or with `whole` false to stand somewhere in it.
    """
    masked = mask(source)
    if words := misplaced_header(masked):
        raise SourceError(f"a theorem's source holds no imports, got {words!r}")
    gaps = list(SORRY.finditer(masked))
    if len(gaps) != 1:
        raise SourceError(f"a theorem's source needs exactly one sorry, got {len(gaps)} in {_shown(source)}")
    gap = gaps[0]
    declaration = None
    for match in _DECLARATION.finditer(masked, 0, gap.start()):
        declaration = match
    if declaration is None:
        raise SourceError(f"no theorem, lemma, example or def comes before the sorry in {_shown(source)}")
    is_example = declaration["keyword"] == "example"
    if not is_example and declaration["name"] is None:
        raise SourceError(f"the {declaration['keyword']} has no name in {_shown(source)}")
    head_end = declaration.end("keyword") if is_example else declaration.end()
    assign = find_top_level(masked, ":=", head_end)
    is_whole = (
        0 <= assign < gap.start()
        and masked[assign + 2 : gap.start()].strip() in ("", "by")
        and not _WHERE.search(masked, head_end, assign)
    )
    if assign < 0 or assign > gap.start() or (whole and not is_whole):
        raise SourceError(f"the sorry is not the whole proof (`:= sorry` or `:= by sorry`) in {_shown(source)}")
    return Parts(
        start=declaration.end("before"),
        keyword=declaration.start("keyword"),
        head_end=head_end,
        assign=assign,
        sorry_start=gap.start(),
        sorry_end=gap.end(),
        indent=_indentation(source, declaration.start("keyword")),
        name=None if is_example else declaration["name"],
        whole=is_whole,
    )


def statement_of(source: str) -> str:
    """The text of the declaration before its `:=`, without what comes before it in the source."""
    found = parts(source, whole=False)
    return source[found.start : found.assign].rstrip()


def theorem_name(source: str) -> str | None:
    """The name as written in the declaration; None for an `example`."""
    return parts(source).name


def unforeseeable_name(*texts: str) -> str:
    """A name that depends on all of the texts, so that none of them can hold it; the same for the same texts."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"nanoproof_{digest[:24]}"


def renamed(source: str, name: str) -> str:
    """The source up to the end of the theorem, with another last part of its name and without its attributes.

    An `example` becomes a theorem. What comes behind may speak of the theorem by its old name, and is left out.
    """
    found = parts(source, whole=False)
    behind = _NEXT_COMMAND.search(mask(source), found.sorry_end)
    end = len(source) if behind is None else behind.start()
    return source[: found.start] + _head(source, found, name) + source[found.head_end : end].rstrip()


def _head(source: str, found: Parts, name: str) -> str:
    if found.name is None:
        return f"theorem {name}"
    declared = source[found.keyword : found.head_end]
    universes = match.group() if (match := _UNIVERSES.search(declared)) else ""
    noncomputable = "noncomputable " if "noncomputable" in source[found.start : found.keyword] else ""
    return f"{noncomputable}{declared.split()[0]} {_LAST_PART.sub(name, found.name)}{universes}"


def splice(theorem: Theorem | str, proof: str) -> str:
    """Put a tactic proof in place of the `sorry`: `:= by`, then the lines of `proof` indented below the declaration.

    Inside of a longer proof its lines stand where the `sorry` stood.
    """
    source = theorem.source if isinstance(theorem, Theorem) else theorem
    return put_proof(source, parts(source, whole=False), proof)


def put_proof(source: str, found: Parts, proof: str) -> str:
    """What `splice` does, where the parts of the source are known."""
    lines = textwrap.dedent(proof.strip("\n").expandtabs(2)).rstrip()
    if not lines.strip():
        raise SourceError(f"an empty proof cannot be spliced into {_shown(source)}")
    if not found.whole:
        return fill(source, mask(source), found.sorry_start, found.sorry_end, lines)
    body = textwrap.indent(lines, found.indent + "  ")
    return f"{assigned(source, found)}by\n{body}{source[found.sorry_end :]}"


def assigned(source: str, found: Parts) -> str:
    """The source up to and including its `:= `, behind the statement, or below it where that ends in a comment."""
    head = source[: found.assign].rstrip()
    commented = "--" in source[len(mask(source)[: found.assign].rstrip()) : len(head)].rpartition("\n")[2]
    return f"{head}\n{found.indent}  := " if commented else f"{head} := "


def before_declaration(source: str) -> str:
    """What comes before the declaration with the `sorry` and everything that belongs to it, as `open Nat in` does.

    What is left of the source is one command. Raises `SourceError` where `parts` does.
    """
    masked = mask(source)
    end = masked.rfind("\n", 0, parts(source, whole=False).start) + 1
    while match := _IN_FRONT.search(masked, 0, end):
        end = match.start()
    return source[: len(masked[:end].rstrip())]


def negate(theorem: Theorem) -> Theorem:
    """The theorem that the statement is false: `¬ (∀ binders, claim)` under the name with `_negated` appended.

    Names that Lean would bind by itself are errors in it: they would stand outside the negation, which would then say
    more than that the statement is false. Raises `SourceError` where the text has no negation: where `variable` lines
    take part in the statement, for a `def`, and where no type is stated.
    """
    source = theorem.source
    found = parts(source)
    masked = mask(source)
    if _CONTEXT.search(masked, 0, found.start):
        raise SourceError(f"cannot negate a statement that depends on `variable` lines: {_shown(source)}")
    if masked.startswith("def", found.keyword):
        raise SourceError(f"cannot negate a definition: {_shown(source)}")
    colon = find_top_level(masked, ":", found.head_end)
    if colon < 0 or colon > found.assign:
        raise SourceError(f"cannot negate a declaration without a stated type: {_shown(source)}")
    binders = _before_closing(source[found.head_end : colon])
    claim = _before_closing(source[colon + 1 : found.assign])
    negated = f"¬ (∀ {binders}, {claim})" if binders else f"¬ ({claim})"
    head = "example"
    if found.name is not None:
        universes = _UNIVERSES.search(source, found.keyword, found.head_end)
        quote = "»" if found.name.endswith("»") else ""
        head = f"theorem {found.name.removesuffix(quote)}_negated{quote}{universes.group() if universes else ''}"
    before = _without_documentation(source[: found.start], masked)
    text = f"{before}{EXPLICIT}{found.indent}{head} : {negated} := by\n{found.indent}  sorry"
    return Theorem(text + source[found.sorry_end :], theorem.dataset, f"{theorem.id}#negated")


def _before_closing(text: str) -> str:
    """A part of a statement that something is to follow: on a new line if a comment ends it."""
    text = text.strip()
    return text + "\n " if "--" in text.rpartition("\n")[2] else text


def _without_documentation(before: str, masked: str) -> str:
    """What comes before a declaration, less its documentation: that may not be parted from it."""
    code = len(masked[: len(before)].rstrip())
    documented = before.find("/--", code)
    return before if documented < 0 else before[:documented]


def name_examples(source: str, prefix: str = "_nanoproof_check") -> str:
    """Give each `example` of the text a theorem name, so that its axioms can be printed."""
    masked = mask(source)
    pieces: list[str] = []
    position = 0
    for number, match in enumerate(_DECLARATION.finditer(masked)):
        if match["keyword"] == "example":
            pieces += [source[position : match.start("keyword")], f"theorem {prefix}_{number}"]
            position = match.end("keyword")
    return "".join([*pieces, source[position:]])


def declared_names(source: str) -> list[str]:
    """Full names of the theorems, lemmas and defs of the text, in order, enclosing namespaces included."""
    return [name for _, name in declared_in(source)]


def declared_in(source: str, heads: re.Pattern[str] = _DECLARATION) -> list[tuple[str, str]]:
    """Keywords and full names of the declarations whose `heads` (with groups for both) are in the text, in order."""
    masked = mask(source)
    events = sorted([*heads.finditer(masked), *_SCOPE.finditer(masked)], key=lambda match: match.start())
    scopes: list[str] = []
    found: list[tuple[str, str]] = []
    for event in events:
        keyword = event["keyword"]
        if keyword == "namespace":
            scopes.append(event["name"])
        elif keyword.endswith("section"):
            scopes.append("")
        elif keyword == "end":
            if scopes:
                scopes.pop()
        elif event["name"] and keyword != "example":
            name = event["name"]
            rooted = name.startswith("_root_.")
            full = name.removeprefix("_root_.") if rooted else ".".join([*filter(None, scopes), name])
            found.append((keyword, full))
    return found


def _indentation(source: str, position: int) -> str:
    line = source[source.rfind("\n", 0, position) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _shown(source: str) -> str:
    text = " ".join(source.split())
    return repr(text if len(text) <= 120 else text[:117] + "...")
