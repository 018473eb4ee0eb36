"""Check exported proofs in a process that sees nothing but the files.

    python -m scripts.check_with_lean DIR                        with the `lean` on the PATH
    python -m scripts.check_with_lean DIR --lean "lake env lean" --cwd PROJECT --header "import Mathlib"
    python -m scripts.check_with_lean DIR --lean nanolean        with the embedded prover
    python -m scripts.check_with_lean DIR --certificates --checker "nanoda_bin {config}"
    python -m scripts.check_with_lean DIR --lean HOST:PORT       with a Lean server, at its word

Every `.lean` file of the folder must be plain (theorems and definitions, no command that runs code), and hold without
an error, without `sorry`, without a word that no proof may hold, and on the three axioms of Lean's library alone; and
what it declares must be one theorem. A file does not say which theorem was to be proved. The `results.jsonl` of the
evaluation that made the proofs does: it is taken if it lies where an evaluation puts it, or with `--results`. Then the
folder must hold the proofs on record and nothing else, and each goes up the whole ladder of the final check, against
the statement as it was given; see docs/checking.md.
"""

import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_jsonl
from nanoproof.common.run_dir import home
from nanoproof.evaluation.results import PROOFS, RESULTS, proof_names
from nanoproof.evaluation.summary import by_theorem, theorem_key
from nanoproof.lean.certificates import check_certificates
from nanoproof.lean.forbidden import IMPORTS, banned_reason, banned_word, block_reason, declarations, plain_reason
from nanoproof.lean.lexical import find_top_level, mask
from nanoproof.lean.source import EXPLICIT, blank_sorries, name_examples, negate
from nanoproof.lean.types import LeanError, Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.check import Texts, check_proof, foreign_axioms
from scripts.lean_command import Declared, Reader, open_reader
from scripts.viewing import write_json_option

MAX_FILE_BYTES = 10_000_000
_DECLARATIONS = re.compile(
    r"\A\s*/-(?P<comment>.*?)^Declarations: (?P<names>[^\n]*)\.$(?P<after>.*?)-/", re.DOTALL | re.M
)
_BROUGHT = re.compile(r"^Brought along[^:\n]*: (?P<names>[^\n]*)\.$", re.M)
_NAMESPACE = "NanoLean."
"""Where `nanolean export` puts what it exports."""


@validated("check")
class CheckOptions:
    """Check."""

    lean: str = opt("lean", "Command that checks a file, `nanolean`, or a Lean server's host:port.")
    cwd: str | None = opt(None, "Folder to run it in (a Lean project for `lake env lean`).")
    header: str = opt("", "Text to put before each file, such as `import Mathlib`.")
    results: str | None = opt(
        "auto",
        "`results.jsonl` whose proofs these are; auto: the one in the folder, or beside a folder `proofs`; none: no "
        "record, every file stands for itself.",
    )
    several: bool = opt(False, "Without a record: files may declare more than one theorem.")
    imports: tuple[str, ...] = opt(IMPORTS, "Modules that a file may import, with those below them.", metavar="MODULE")
    allow: tuple[str, ...] = opt((), "Further words that may begin commands, as `notation`.", metavar="WORD")
    sandbox: str = opt("auto", "What --lean runs in: bwrap, docker:IMAGE or none; auto: bwrap where it works.")
    timeout: float = opt(300.0, "Seconds for one file.", above=0)
    json: str | None = opt(None, "File to write the result to.")
    certificates: bool = opt(False, "Check the certificates beside the files, instead of the files.")
    checker: str | None = opt(
        None, "Command that checks one, with {file} or {config} in it, or lean-kernel[:PATH]; without it NanoLean."
    )
    jobs: int = opt(os.cpu_count() or 1, "Certificates that are checked at once.", min=1)


def main(argv: list[str] | None = None) -> int:
    """Check the files, or their certificates: exit code 0 if everything holds, 1 if not."""
    parser = Parser(prog="python -m scripts.check_with_lean", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dir", help="Folder with .lean files (searched recursively), here or in $NANOPROOF_HOME.")
    add_flags(parser, CheckOptions)
    args = parser.parse_args(argv)
    options = from_args(CheckOptions, args)
    folder = Path(args.dir)
    if not folder.exists() and (home() / args.dir).is_dir():  # where the commands that made it named it from
        folder = home() / args.dir
    if options.certificates:
        return report_certificates(folder, options)
    case = CheckedFolder.of(folder, options)
    with closing(open_reader(options.lean, options.cwd, options.header, options.timeout, options.sandbox)) as reader:
        refused, wrong_attempts = check_all(case, reader, options)
        proved: dict[str, dict[str, str]] = {}
        for file, text in case.texts.items():
            if file not in refused:
                proved[str(file)] = dict(reader.check(text).statements)
    print_verdicts(case, refused, wrong_attempts, options)
    print(f"checked by {reader.believed}; {case.compared}")
    if options.json is not None:
        total = len(case.texts)
        result: dict[str, Any] = {"files": total, "accepted": total - len(refused), "lean": options.lean}
        result["believed"] = reader.believed
        result["refused"] = {str(file): reason for file, reason in refused.items()}
        result["proved"] = proved
        if case.results is not None:
            accepted = len(case.attempts) - len(wrong_attempts)
            result["results"] = {"proofs": len(case.attempts), "accepted": accepted, "refused": wrong_attempts}
        write_json_option(options.json, result)
    if refused or wrong_attempts:
        return 1
    return 0


def print_verdicts(
    case: "CheckedFolder", refused: dict[Path, str], wrong_attempts: dict[str, str], options: CheckOptions
) -> None:
    """Print what was refused, with the reasons, and how many files and results on record hold."""
    for file, reason in refused.items():
        print(f"refused: {file}: {reason}")
    for theorem, reason in wrong_attempts.items():
        print(f"refused: {theorem} in {case.results}: {reason}")
    files, attempts = len(case.texts), len(case.attempts)
    print(f"{files - len(refused)} of {files} proofs hold ({options.lean})")
    if case.results is not None:
        print(f"{attempts - len(wrong_attempts)} of {attempts} results hold against the statements as given")


def report_certificates(folder: Path, options: CheckOptions) -> int:
    """Check certificates and say what came of it, also in a file of JSON; 0 if all are accepted, else 1.

    Raises UserError as `check_certificates` does, and if the file cannot be written.
    """
    result = check_certificates(folder, options.checker, options.timeout, options.jobs)
    print(result)
    if options.json is not None:
        write_json_option(options.json, result.as_json())
    return int(not result.ok)


# -- Files and record --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CheckedFolder:
    """The files of a folder with their texts (and why some cannot be read), and the record of what they should be.

    `attempts` are those on record that count as proofs, `names` the files that proofs should be in.
    """

    texts: dict[Path, str]
    unreadable: dict[Path, str]
    results: Path | None
    attempts: list[Attempt]
    names: dict[str, Attempt]

    @classmethod
    def of(cls, folder: Path, options: CheckOptions) -> "CheckedFolder":
        """Look at a folder. Raises UserError if there is nothing to check, or if the record cannot be read."""
        texts: dict[Path, str] = {}
        unreadable: dict[Path, str] = {}
        for file in lean_files(folder):
            texts[file], trouble = read_source(file)
            if trouble:
                unreadable[file] = trouble
        results = find_record(folder, options.results)
        records: list[Attempt] = []
        if results is not None:
            records = read_results(results)
        attempts = [attempt for attempt in records if attempt.outcome in ("proven", "disproven")]
        if not texts and not attempts:
            raise UserError(f"{folder} holds no .lean file")
        # Of all that was tried, as the names of files were made: two theorems of one id have names with numbers.
        file_names = proof_names([attempt.theorem for attempt in records])
        names: dict[str, Attempt] = {}
        for attempt in attempts:
            if attempt.outcome == "proven":
                names[file_names[theorem_key(attempt.theorem)]] = attempt
        return cls(texts, unreadable, results, attempts, names)

    @property
    def compared(self) -> str:
        """What the files were compared with."""
        if self.results is not None:
            return f"compared with {self.results}"
        return "no record says what the files had to prove (--results)"


def lean_files(folder: Path) -> Iterator[Path]:
    """List what is called `*.lean` in a folder and those below it, in order, and links that lead to other folders.

    Raises UserError where a folder cannot be read: there is no telling what it holds.
    """

    def refuse(error: OSError) -> None:
        raise UserError(f"cannot read {error.filename}: {error.strerror}") from error

    for path, folders, files in os.walk(folder, onerror=refuse):
        folders.sort()
        for name in sorted([*folders, *files]):
            entry = Path(path) / name
            # `os.walk` does not go into links: what lies behind one would be a folder of proofs that nobody checked.
            if name.endswith(".lean") or (name in folders and entry.is_symlink()):
                yield entry


def read_source(file: Path) -> tuple[str, str]:
    """Read a regular file: its text, or why there is none. Nothing else is opened: reading a pipe would block."""
    try:
        # Neither through a link, to a file that may change after the check, nor waiting for the writer of a pipe.
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if file.is_symlink():
            return "", "it is a link"
        return "", f"it cannot be read: {error.strerror}"
    with open(handle, "rb") as source:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return "", "it is no regular file"
        data = source.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        return "", f"it is larger than {MAX_FILE_BYTES // 1_000_000} MB"
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        return "", f"it is no text: {error.reason} at byte {error.start}"


def find_record(folder: Path, asked: str | None) -> Path | None:
    """Return the record to compare with; `auto` finds it where an evaluation puts it."""
    if asked is None:
        return None
    if asked != "auto":
        return Path(asked)
    places = [folder / RESULTS]
    # `results.jsonl` beside a folder of any other name may be of something else.
    if folder.resolve().name == PROOFS:
        places.append(folder.resolve().parent / RESULTS)
    return next((file for file in places if file.is_file()), None)


def read_results(file: Path) -> list[Attempt]:
    """Read the attempts of a file, one for each theorem; raises UserError if they cannot be read."""
    try:
        attempts = [Attempt.from_json(record) for record in read_jsonl(file)]
        return list(by_theorem(attempts).values())
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"--results {file}: {error}") from error


# -- Checks ------------------------------------------------------------------------------------------------------------


def check_all(case: CheckedFolder, reader: Reader, options: CheckOptions) -> tuple[dict[Path, str], dict[str, str]]:
    """Return the files that do not hold and the theorems on record whose proofs do not, each with the reason.

    Nobody reads a text before it was found to be plain, and the one on record. Raises UserError without a record where
    nobody can say what a file declares.
    """
    if case.results is None and not reader.lists_declarations:
        raise UserError(
            f"--lean {options.lean}: a server does not say what a file declares; give --results, or a command"
        )
    # First what the texts alone show: what runs code, or is none of the record's, must not reach Lean.
    refused: dict[Path, str] = {}
    wrong_attempts: dict[str, str] = {}
    to_read: list[str] = []
    for file, text in case.texts.items():
        reason = text_problem(file, text, case, options)
        if reason:
            refused[file] = reason
        else:
            to_read.append(text)
    plain_files = [file for file in case.texts if file not in refused]
    for attempt in case.attempts:
        reason = missing_file(attempt, case) or record_problem(attempt, options)
        if reason:
            wrong_attempts[attempt.theorem.id] = reason
    plain_attempts = [attempt for attempt in case.attempts if attempt.theorem.id not in wrong_attempts]
    for attempt in plain_attempts:
        to_read += _lean_texts(attempt)

    # All texts at once: NanoLean starts a process and reads its library once for them.
    reader.read(to_read)
    for attempt in plain_attempts:
        reason = check_attempt(reader, attempt)
        if reason:
            wrong_attempts[attempt.theorem.id] = reason
    for file in plain_files:
        reason = check_text(reader, case.texts[file], case, options)
        # A file that holds by itself is no proof of its theorem if the attempt on record is none.
        if not reason and case.results is not None:
            reason = wrong_attempts.get(case.names[file.name].theorem.id, "")
        if reason:
            refused[file] = reason
    return {file: refused[file] for file in case.texts if file in refused}, wrong_attempts


def text_problem(file: Path, text: str, case: CheckedFolder, options: CheckOptions) -> str:
    """Return why a file cannot hold, judged by its text and the record alone; empty if it may."""
    if file in case.unreadable:
        return case.unreadable[file]
    if case.results is not None and (reason := record_mismatch(file, text, case)):
        return reason
    # EXPLICIT is put there by `negate`; no proof may set an option of its own.
    return plain_reason(text, options.imports, options.allow) or banned_word(text.replace(EXPLICIT, "")) or ""


def record_mismatch(file: Path, text: str, case: CheckedFolder) -> str:
    """Return why a file is not the one on record; empty if it is."""
    record = case.names.get(file.name)
    if record is None:
        return f"{case.results} has no proof for a file of this name"
    # In folders below each other: one of them would pass for the other's.
    if sum(path.name == file.name for path in case.texts) > 1:
        return "there are several files of this name"
    if text.rstrip() == record.source.rstrip():
        return ""
    for attempt in case.attempts:
        if attempt.source.rstrip() == text.rstrip():
            return f"it is the proof of {attempt.theorem.id}, and not of {record.theorem.id}"
    ours, recorded = declarations(text), declarations(record.source)
    if ours != recorded:
        return f"it declares {_name_declarations(ours)}, and the proof on record {_name_declarations(recorded)}"
    if _without_proof(text) != _without_proof(record.source):
        return "its statement is not the one on record"
    return "its proof is not the one on record"


def _name_declarations(named: list[tuple[str, str]]) -> str:
    return ", ".join(f"{keyword} {name}" for keyword, name in named) or "nothing"


def _without_proof(text: str) -> str:
    """Return a text up to the `:=` of its first theorem; all of it where there is none."""
    masked = mask(text)  # a theorem in a comment is none
    start = re.search(r"^[^\n]*?(?<![\w.'])(?:theorem|lemma)\s", masked, re.M)
    if start is not None:
        # The first `:=` in no bracket: a binder may have one, `(n : Nat := 0)`.
        end = find_top_level(masked, ":=", start.end())
        if end >= 0:
            text = text[:end]
    return " ".join(text.split())


def missing_file(attempt: Attempt, case: CheckedFolder) -> str:
    """Return that the proof on record is not in the folder; empty if it is, and for disproofs, which have no files."""
    file_names = {file.name for file in case.texts}
    for name, recorded in case.names.items():
        if recorded is attempt and name not in file_names:
            return f"its proof, {name}, is not in the folder"
    return ""


def record_problem(attempt: Attempt, options: CheckOptions) -> str:
    """Return why the texts on record must not be given to Lean; empty if they may."""
    try:
        source = _proved_theorem(attempt).source
        _lean_texts(attempt)
    except LeanError as error:
        return str(error)
    # The statement is left open, with the one `sorry` that belongs there.
    in_statement = banned_word(blank_sorries(mask(source.replace(EXPLICIT, ""))))
    if attempt.text:
        in_proof = banned_word(attempt.proof)
    else:
        in_proof = banned_reason(attempt.proof)
    plain = plain_reason(source, options.imports, options.allow)
    return plain or in_statement or block_reason(attempt.proof) or in_proof or ""


def check_text(reader: Reader, text: str, case: CheckedFolder, options: CheckOptions) -> str:
    """Check a file's text with Lean; return why it does not hold, empty if it does."""
    try:
        report = reader.check(text)
        if report.errors:
            return report.errors[0]
        if report.sorries:
            return "it uses sorry"
        reason = foreign_axioms(report) or declaration_mismatch(text, reader.declared(text), options.allow)
    except LeanError as error:
        return str(error)
    # With a record it is known what the file must prove; without, it has to be plain to see.
    if not reason and case.results is None:
        reason = theorem_count_problem(text, options)
    return reason


def declaration_mismatch(text: str, declared: Declared | None, allowed: Collection[str]) -> str:
    """Return how Lean's declarations differ from those of the text; empty if they agree or are unknown.

    What comes along with a declaration has a name that begins with the other's, or with an underscore.
    """
    if declared is None:
        return ""
    expected = {_bare(name): keyword for keyword, name in declarations(name_examples(text))}
    kinds = {_bare(name): kind for kind, name in declared}
    for name, kind in kinds.items():
        if kind == "axiom" and kind not in allowed:
            return f"it declares the axiom {name}"
        # `T.rec` and `T.mk` come with an inductive `T`, `_private...` and `t._proof_1` with any declaration.
        parts = name.split(".")
        comes_along = any(part.startswith("_") for part in parts)
        for count in range(1, len(parts)):
            comes_along = comes_along or ".".join(parts[:count]) in expected
        # A user who allows `notation` or `macro` may declare with words of their own.
        if name not in expected and not comes_along and not allowed:
            return f"it declares the {kind} {name}, which its text does not seem to"
    for name, keyword in expected.items():
        if keyword in ("theorem", "lemma") and kinds.get(name) != "theorem":
            return f"it declares no theorem {name}, which its text seems to"
    return ""


def _bare(name: str) -> str:
    return re.sub("[«»]", "", name)


def theorem_count_problem(text: str, options: CheckOptions) -> str:
    """Return why it is not clear what a file proves: it must hold one theorem, or those that its header lists."""
    declared = declarations(name_examples(text))
    theorems = [name for keyword, name in declared if keyword in ("theorem", "lemma")]
    if not theorems:
        return "it holds no theorem"
    if header := _DECLARATIONS.match(text):
        if options.allow:
            return ""
        return header_mismatch(header, [name.removeprefix(_NAMESPACE) for _, name in declared])
    if len(theorems) == 1 or options.several:
        return ""
    return f"it declares {len(theorems)} theorems, {', '.join(theorems)}; --several takes such files"


def header_mismatch(header: "re.Match[str]", declared: Sequence[str]) -> str:
    """Return a name about which the header of `nanolean export` and the declarations differ; empty if there is none."""
    listed = header["names"].split(", ")
    known = set(listed)
    if brought := _BROUGHT.search(header["after"]):
        known |= set(brought["names"].split(", "))
    surplus = [name for name in declared if name not in known]
    missing = [name for name in listed if name not in declared]
    if surplus or missing:
        return f"its header and its text do not agree about {[*surplus, *missing][0]}"
    return ""


def check_attempt(reader: Reader, attempt: Attempt) -> str:
    """Run the final check on the proof of an attempt; return why it does not hold, empty if it does."""
    try:
        verdict = check_proof(reader, _proved_theorem(attempt), attempt.proof)
    except LeanError as error:
        return str(error)
    if not verdict.accepted:
        return verdict.reason
    # The text that people read must be what was checked, and not only prove the same.
    if verdict.source != attempt.source:
        return "the text that was exported is another one"
    return ""


def _lean_texts(attempt: Attempt) -> list[str]:
    """Return what Lean reads about the proof of an attempt."""
    texts = Texts.of(_proved_theorem(attempt).source, attempt.proof)
    return [texts.whole, texts.enclosed, texts.given]


def _proved_theorem(attempt: Attempt) -> Theorem:
    """Return the theorem that was proved: where an attempt disproves, the negation."""
    if attempt.outcome == "disproven":
        return negate(attempt.theorem)
    return attempt.theorem


if __name__ == "__main__":
    run_main(main)
