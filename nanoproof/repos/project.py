"""What a Lean project consists of: files, modules, imports, order of dependency, libraries, and what each declares.

A project is a folder of `.lean` files. Where Lake's files are there, they say which folder modules are named from and
which libraries there are (`.lake/packages`); nothing is built or downloaded. Declarations are found from the text, as
Lean names them: in their namespaces, with the ones that are open there.
"""

import importlib.util
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.lean import lexical
from nanoproof.lean.source import COMMAND, NAME
from nanoproof.repos import sources
from nanoproof.repos.traced_files import Position, Premise, Provenance

LIBRARY_FOLDER = "nanolean/library"
"""What the paths of NanoLean's own library begin with."""
_PACKAGES = Path(".lake/packages")
_SRC_DIR = re.compile(r"srcDir\s*:=\s*\"([^\"]*)\"")
_NAMED = re.compile(rf"\s+(?P<name>{NAME})")
_SCOPE = re.compile(
    r"^[ \t]*(?:(?P<kind>namespace|(?:(?:public|meta|noncomputable)[ \t]+)*section|mutual|end)(?![\w.'])[ \t]*"
    r"(?P<name>[^\s]*)|open(?:[ \t]+scoped)?(?P<opened>[ \t]+(?:[^\n]|\n[ \t]+(?=\S))*))",
    re.MULTILINE,
)
_OPEN_IN = re.compile(r"(?<![\w.'])open(?:\s+scoped)?\s(?P<names>[^()]*?)\s(?:hiding\s|renaming\s|in(?![\w.']))")
_BEFORE_NEXT = re.compile(r"(?<![\w.'])in\s*\Z")
_ARM = re.compile(r"\n[ \t]*\|")
_WHERE = re.compile(r"(?<![\w.'])where(?![\w.'])")

# -- Declarations of a text ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration of a text: its keyword, name and place as offsets, and in what it stands."""

    keyword: str
    full_name: str
    start: int
    end: int
    statement_end: int
    """Where the `:=` of its proof or value begins, or the first arm; `end` if it has neither."""
    namespaces: tuple[str, ...]
    """The namespaces around it as full names, innermost first."""
    opens: tuple[str, ...]
    """The names that `open` lines gave before it."""


def open_scopes(masked: str, end: int) -> tuple[list[str], tuple[str, ...]]:
    """Return the scopes that are open at an offset, outermost first, and the namespaces opened in them.

    A scope is a component of a namespace's name, or empty for a section; `mutual` counts as one.
    """
    stack: list[tuple[str, list[str]]] = [("", [])]
    for match in _SCOPE.finditer(masked, 0, end):
        kind, name = match["kind"], match["name"]
        if kind is None:
            words = re.split(r"\s(?:in|hiding|renaming)\s|\(", f"{match['opened']} ")[0]
            if not re.search(r"\sin\s", f"{match['opened']} "):
                stack[-1][1].extend(words.split())
        elif kind == "end":
            del stack[max(1, len(stack) - max(1, len([part for part in name.split(".") if part]))) :]
        else:
            parts = name.split(".") if name else [""]
            stack += [(part if kind == "namespace" else "", []) for part in (parts if kind != "mutual" else [""])]
    return [scope for scope, _ in stack[1:]], tuple(name for _, names in stack for name in names)


def close_scopes(text: str) -> str:
    """Append an `end` for each scope that a text leaves open."""
    ends = (f"end {name}".rstrip() for name in reversed(sources.open_scopes(text)))
    return "\n".join([text.rstrip("\n"), *ends, ""])


def declarations(text: str) -> list[Declaration]:
    """List the declarations of a text that have a name, in order."""
    masked = lexical.mask(text)
    commands = list(COMMAND.finditer(masked))
    ends = [*(command.start() for command in commands[1:]), len(masked)]
    found = []
    begins = 0
    for number, (command, end) in enumerate(zip(commands, ends)):
        if not number or not _BEFORE_NEXT.search(masked[commands[number - 1].start() : command.start()]):
            begins = command.start()  # else it belongs to `open .. in` and the like, on lines of their own
        named = _NAMED.match(masked, command.end(), end) if command["declaration"] else None
        keyword = command["declaration"]
        if named is None or keyword is None or keyword == "example" or named["name"] in (":", "where"):
            continue
        name = re.sub(r"\.\{[^}]*\}?\Z", "", named["name"]).rstrip(".")
        scopes, opens = open_scopes(masked, command.start())
        before = masked[begins : command.start("declaration")]
        opens += tuple(name for match in _OPEN_IN.finditer(before) for name in match["names"].split())
        spaces = [".".join(filter(None, scopes[: count + 1])) for count, scope in enumerate(scopes) if scope]
        rooted = name.startswith("_root_.")
        full_name = name.removeprefix("_root_.") if rooted or not spaces else f"{spaces[-1]}.{name}"
        start = begins + len(masked[begins:end]) - len(masked[begins:end].lstrip())
        end = command.start() + len(masked[command.start() : end].rstrip())
        stop = _statement_end(masked[:end], named.end())
        found.append(Declaration(keyword, full_name, start, end, stop, tuple(reversed(spaces)), opens))
    return found


def _statement_end(masked: str, start: int) -> int:
    """Find where the statement of a declaration ends whose name ends at `start`, in a text that ends with it."""
    assign = lexical.find_top_level(masked, ":=", start)
    stops = [assign] if assign >= 0 else []
    for pattern in (_ARM, _WHERE):
        if match := pattern.search(masked, start, min(stops, default=len(masked))):
            stops.append(match.start())
    return min(stops, default=len(masked))


def without_comments(text: str) -> str:
    """Remove the comments of a text, and lines that are empty then."""
    pieces, position = [], 0
    for kind, start, end in lexical.spans(text):
        if kind in ("line", "block"):
            pieces.append(text[position:start])
            position = end
    lines = "".join([*pieces, text[position:]]).split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip())


class Places:
    """Offsets of a text as positions, and the other way round."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def position(self, offset: int) -> Position:
        """Return the position of an offset, from 1 on."""
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line (from 1) and column (from 0), as Lean gives them."""
        return self._starts[min(max(line, 1), len(self._starts)) - 1] + column


# -- Files -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceFile:
    """A file of a project: path from the root with `/`, module, text with line feeds, and the modules it imports.

    `problem` is why it cannot be read at all; empty for the others.
    """

    path: str
    module: str
    text: str
    imports: tuple[str, ...]
    problem: str = ""

    @cached_property
    def declarations(self) -> tuple[Declaration, ...]:
        """What it declares under a name."""
        return tuple(declarations(self.text))

    @cached_property
    def places(self) -> Places:
        """Offsets and positions of its text."""
        return Places(self.text)

    @property
    def is_module(self) -> bool:
        """Whether its header begins with `module`."""
        return any(match["words"] == "module" for match in lexical.header(lexical.mask(self.text)))

    def premises(self) -> tuple[Premise, ...]:
        """Return its declarations as premises: of theorems the statement, of others all, without comments."""
        found = []
        for each in self.declarations:
            end = each.statement_end if each.keyword in ("theorem", "lemma") else each.end
            code = without_comments(self.text[each.start : end]).rstrip()
            place = self.places.position
            found.append(Premise(each.full_name, code, place(each.start), place(each.end), each.keyword))
        return tuple(found)


def read_source(root: Path, path: Path, module: str) -> SourceFile:
    """Read a file; one that cannot be read has a `problem` and no text."""
    name = path.relative_to(root).as_posix()
    try:
        text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        return SourceFile(name, module, "", (), f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        return SourceFile(name, module, "", (), f"is not UTF-8 (byte {error.start})")
    return SourceFile(name, module, text, tuple(lexical.imported_modules(text)))


@dataclass(frozen=True)
class Project:
    """The files of a project in order of dependency (imports first), with its toolchain and libraries.

    `is_nanolean` is true for NanoLean's own library, whose files are each read after all before, from nothing.
    """

    root: Path
    files: tuple[SourceFile, ...]
    toolchain: str = ""
    """The text of `lean-toolchain` and of `lake-manifest.json`, without spaces around."""
    is_nanolean: bool = False
    _order: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def read(cls, root: Path) -> "Project":
        """Read a folder. Raises UserError if it is none, or holds no `.lean` file."""
        root = root.expanduser().resolve()
        if not root.is_dir():
            raise UserError(f"no such folder: {root} (give that of a Lean project, or any with .lean files)")
        folders = _source_folders(root)
        paths = sorted(_lean_files(root))
        if not paths:
            raise UserError(f"{root} holds no .lean file (give the folder of a Lean project)")
        is_nanolean = root == nanolean_library()
        files = [read_source(root, path, _module_of(path, folders)) for path in paths]
        if is_nanolean:
            files = [replace(f, imports=tuple(b.module for b in files[max(0, n - 1) : n])) for n, f in enumerate(files)]
        texts = [_text_of(root / name) for name in ("lean-toolchain", "lake-manifest.json")]
        ordered = _in_order(files)
        order = {file.module: number for number, file in enumerate(ordered)}
        return cls(root, tuple(ordered), "\n".join(texts).strip(), is_nanolean, order)

    def file_of(self, module: str) -> SourceFile | None:
        """Return the file of a module; None for modules of libraries."""
        number = self._order.get(module)
        return None if number is None else self.files[number]

    def closure(self, file: SourceFile) -> tuple[SourceFile, ...]:
        """Return the project's files that a file imports, also through others, imports first."""
        found: set[str] = set()
        todo = list(file.imports)
        while todo:
            module = todo.pop()
            if module in found or module == file.module or (imported := self.file_of(module)) is None:
                continue
            found.add(module)
            todo += imported.imports
        return tuple(self.files[number] for number in sorted(self._order[module] for module in found))

    def external_imports(self, file: SourceFile) -> tuple[str, ...]:
        """Return the modules that a file imports directly and that are not the project's."""
        return tuple(module for module in file.imports if module not in self._order)

    def import_paths(self, file: SourceFile) -> tuple[str, ...]:
        """Return the paths of the files that a file imports directly, so far as they are here."""
        paths = []
        for module in file.imports:
            if (own := self.file_of(module)) is not None:
                paths.append(own.path)
            elif (found := self._library_file(module)) is not None:
                paths.append(found.relative_to(self.root).as_posix())
        return tuple(paths)

    def _library_file(self, module: str) -> Path | None:
        parts = module.replace("«", "").replace("»", "").split(".")
        packages = self.root / _PACKAGES
        for package in sorted(packages.iterdir()) if packages.is_dir() else ():
            path = package.joinpath(*parts).with_suffix(".lean")
            if path.is_file():
                return path
        return None

    def declared(self, with_nanolean: bool) -> dict[str, Provenance]:
        """Map the names that the project, and the libraries it imports, declare to where that is.

        `with_nanolean` adds NanoLean's library, which is there without being imported.
        """
        found: dict[str, Provenance] = {}
        library = nanolean_library()
        if with_nanolean and not self.is_nanolean and library is not None:
            for path in sorted(library.glob("*.lean")):
                file = read_source(library, path, path.stem)
                _add_declared(found, replace(file, path=f"{LIBRARY_FOLDER}/{file.path}"))
        for file in [*self._imported_library_files(), *self.files]:
            _add_declared(found, file)
        return found

    def _imported_library_files(self) -> Iterator[SourceFile]:
        """Read each file of a library that some file of the project imports, also through others."""
        todo = [module for file in self.files for module in self.external_imports(file)]
        seen: set[str] = set()
        while todo:
            module = todo.pop()
            if module in seen:
                continue
            seen.add(module)
            if (path := self._library_file(module)) is not None:
                file = read_source(self.root, path, module)
                todo += file.imports
                yield file


def nanolean_library() -> Path | None:
    """Return the folder of NanoLean's library; None if NanoLean is not installed."""
    spec = importlib.util.find_spec("nanolean")
    return None if spec is None or spec.origin is None else (Path(spec.origin).parent / "library").resolve()


def _add_declared(found: dict[str, Provenance], file: SourceFile) -> None:
    for each in file.declarations:
        place = file.places.position
        found.setdefault(each.full_name, Provenance(each.full_name, file.path, place(each.start), place(each.end)))


def _lean_files(folder: Path) -> Iterator[Path]:
    """Yield the `.lean` files below a folder, without those of hidden folders, of builds, and Lake's own."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            if not path.name.startswith(".") and path.name not in sources.SKIPPED_FOLDERS:
                yield from _lean_files(path)
        elif path.suffix == ".lean" and path.name != "lakefile.lean" and path.is_file():
            yield path


def _source_folders(root: Path) -> list[Path]:
    """List the folders that modules are named from, the deepest first: the root, and each `srcDir` of Lake's file."""
    found = {root}
    for name in re.findall(_SRC_DIR, _text_of(root / "lakefile.lean")):
        found.add((root / name).resolve())
    try:
        table = tomllib.loads(_text_of(root / "lakefile.toml"))
    except tomllib.TOMLDecodeError:
        table = {}
    parts = [table, *(each for key in ("lean_lib", "lean_exe") for each in _tables(table.get(key)))]
    for part in parts:
        if isinstance(name := part.get("srcDir"), str):
            found.add((root / name).resolve())
    return sorted(found, key=lambda folder: -len(folder.parts))


def _tables(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _module_of(path: Path, folders: Sequence[Path]) -> str:
    folder = next(folder for folder in folders if path.is_relative_to(folder))
    return ".".join(path.relative_to(folder).with_suffix("").parts)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _in_order(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Sort files so that imports come first, else by path. Files that import themselves in a circle have a problem."""
    by_module = {file.module: file for file in files}
    while True:
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for file in by_module.values():
            sorter.add(file.module, *(each for each in file.imports if each in by_module and not file.problem))
        try:
            sorter.prepare()
        except CycleError as error:
            circle = error.args[1]
            for module in circle[:-1]:
                text = f"imports itself: {' -> '.join(reversed(circle))}"
                by_module[module] = replace(by_module[module], problem=text, imports=())
            continue
        ordered: list[SourceFile] = []
        while sorter.is_active():
            ready = sorted(sorter.get_ready(), key=lambda module: by_module[module].path)
            ordered += [by_module[module] for module in ready]
            sorter.done(*ready)
        return ordered
