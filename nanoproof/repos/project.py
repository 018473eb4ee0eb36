"""What a Lean project consists of: files, modules, order of dependency, libraries, and what Lean reads of each.

A project is a folder of `.lean` files, or one file with those that it imports. Where Lake's files are there, they say
which folder modules are named from and which libraries there are (`.lake/packages`); nothing is built or downloaded.

Proofs are tried on a server that has only libraries imported (or on NanoLean, which has no files): what a file imports
from its own project is put before it, in the order of the imports, each file between `section` and `end`, so that
variables, opened namespaces, options and local notations of one file end with it, as they do for an importer.
"""

import errno
import importlib.util
import os
import re
import tomllib
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_regular
from nanoproof.lean import lexical
from nanoproof.lean.declarations import Declaration, declarations, enclosed
from nanoproof.lean.lean_file import LeanFile, OpenPlace
from nanoproof.lean.types import SourceError
from nanoproof.repos.traced_files import Position, Premise, Provenance

LIBRARY_FOLDER = "nanolean/library"
"""What the paths of NanoLean's own library begin with."""
SKIPPED_FOLDERS = frozenset({"build", "lake-packages", "node_modules"})
"""Folders whose files are not the project's own, besides those whose name begins with a dot."""
MAX_BYTES = 16_000_000
"""Larger files are not read. The largest of Mathlib is below 0.5 MB; a generated one of some MB is thinkable."""
DEEPEST = 100
"""Folders below so many others are not read: Python itself recurses over folders, in a thousand of which it fails."""
_PACKAGES = Path(".lake/packages")
_NOT_BOUND = re.compile(r"\b(?P<name>autoImplicit|relaxedAutoImplicit)\W+(?:value\W+)?false\b")
"""Matches the option in each form of both files: `⟨`autoImplicit, false⟩`, `autoImplicit = false`, name and value."""
_SRC_DIR = re.compile(r"srcDir\s*:=\s*\"([^\"]*)\"")

# -- Files -----------------------------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class SourceFile:
    """A file of a project: path from the root with `/`, module, bytes, and the modules it imports.

    `error` is why it cannot be read, or that it imports itself; then `imports` is empty.
    """

    path: str
    module: str
    data: bytes
    imports: tuple[str, ...] = ()
    error: str = ""
    aliases: tuple[str, ...] = ()
    """Modules that are this file by symbolic links to it."""

    @cached_property
    def written(self) -> str:
        """Its text as it stands in the file; empty if it cannot be read."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError:
            return ""

    @cached_property
    def text(self) -> str:
        """Its text with the line ends that Lean is sent."""
        return self.written.replace("\r\n", "\n")

    @cached_property
    def fault(self) -> str:
        """Why no proof can be put into it: its error, or a name that is ours; empty if one can."""
        try:
            LeanFile.parse(self.written)
        except SourceError as error:
            return self.error or str(error)
        return self.error

    @cached_property
    def sorries(self) -> int:
        """The number of `sorry`s in it."""
        return 0 if self.fault else len(LeanFile.parse(self.written).gaps)

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
    """Read a file; one that cannot be read has an `error` and no text."""
    name = path.relative_to(root).as_posix()
    if not _is_unicode(name):
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        return SourceFile(shown, shown, b"", error="has a name that is not UTF-8, which no module has")
    try:
        data = read_regular(path, MAX_BYTES)
        text = data.decode("utf-8")
    except OSError as error:
        return SourceFile(name, module, b"", error=f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        return SourceFile(name, module, data, error=f"is not UTF-8 text: byte {error.start} cannot be read")
    return SourceFile(name, module, data, tuple(dict.fromkeys(lexical.imported_modules(text))))


def _is_unicode(name: str) -> bool:
    """Whether a name of the file system is text: Python has other bytes as lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


# -- Projects --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Project:
    """The files of a project in order of dependency (imports first), with its toolchain and libraries.

    `is_nanolean` is true for NanoLean's own library, whose files are each read after all before, from nothing. `only`
    is the path of the one file of interest, where a file was named; its imports are there too.
    """

    root: Path
    files: tuple[SourceFile, ...]
    toolchain: str = ""
    """The text of `lean-toolchain` and of `lake-manifest.json`, without spaces around."""
    is_nanolean: bool = False
    only: str = ""
    lake_options: str = ""
    """Commands that set what Lake's file sets for the elaborator, of what decides what a statement says."""

    @classmethod
    def read(cls, path: Path) -> "Project":
        """Read the Lean files below a folder, or a file with those of its project that it imports.

        Raises UserError if it is neither, or if there is no `.lean` file.
        """
        path = path.expanduser().resolve()
        if path.is_file():
            root = project_root(path)
            only = path.relative_to(root).as_posix()
            files = _read_with_imports(root, path)
        elif path.is_dir():
            root, only = path, ""
            files = _read_all(root)
        else:
            raise UserError(f"no such folder or file: {path} (give that of a Lean project, or any with .lean files)")
        if not files:
            raise UserError(f"{root} holds no .lean file (give the folder of a Lean project)")
        is_nanolean = root == nanolean_library() and not only
        if is_nanolean:
            files = [replace(f, imports=tuple(b.module for b in files[max(0, n - 1) : n])) for n, f in enumerate(files)]
        texts = [_text_of(root / name) for name in ("lean-toolchain", "lake-manifest.json")]
        toolchain = "\n".join(texts).strip()
        return cls(root, tuple(_in_order(files)), toolchain, is_nanolean, only, _lake_options(root))

    @classmethod
    def of_file(cls, root: Path, file: Path, text: str | None = None) -> "Project":
        """Read a file below a folder, and the files below it that it imports; with `text`, that stands for the file's,
        which need not be there.

        Unlike `read`, nothing out of the folder counts, whatever marks of a project are above it. Both paths are
        resolved ones.
        """
        only = file.relative_to(root).as_posix()
        files = tuple(_in_order(_read_with_imports(root, file, text)))
        return cls(root, files, only=only, lake_options=_lake_options(root))

    def with_imports(self, provided_modules: Collection[str] | None = ()) -> LeanFile:
        """Return the one file of interest with what comes before it when Lean reads it: the files that it imports, with
        an axiom for each of their `sorry`s. Files that `provided_modules` are, or import, are left out; None stands for
        NanoLean, which has no library, and then names of a library that the file imports are not bound automatically.

        Raises UserError where one of them cannot be read, or imports itself.
        """
        own = self.file(self.only)
        provided = self.provided_by(provided_modules)
        needed = [other for other in self.closure(own) if other.path not in provided]
        if own.fault:
            raise UserError(f"{own.path}: it {own.fault}")
        texts: dict[str, str] = {}
        places: dict[str, OpenPlace] = {}
        for other in needed:
            if other.fault:
                raise UserError(f"{own.path}: it imports {other.path}, which {other.fault}")
            parsed = LeanFile.parse(other.written, path=other.path)
            texts[other.path] = parsed.imported()
            places |= parsed.places
        opening = self.opening(own, by_nanolean=provided_modules is None)
        return LeanFile.parse(own.written, before_text(texts, needed, opening), own.path, places)

    def opening(self, file: SourceFile, by_nanolean: bool) -> str:
        """Return the options to set before what Lean reads of a file: no server has those of Lake's file."""
        if by_nanolean and self.lacks_library(file):
            return self.lake_options + EXPLICIT
        return self.lake_options

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.root.name or "project"

    @cached_property
    def _by_module(self) -> dict[str, int]:
        return module_index(self.files)

    @cached_property
    def _by_path(self) -> dict[str, int]:
        return {file.path: number for number, file in enumerate(self.files)}

    def file(self, path: str) -> SourceFile:
        """Return the file with a path. Raises KeyError if there is none."""
        return self.files[self._by_path[path]]

    def file_of(self, module: str) -> SourceFile | None:
        """Return the file of a module; None for modules of libraries."""
        number = self._by_module.get(_unquoted(module))
        return None if number is None else self.files[number]

    def closure(self, file: SourceFile) -> tuple[SourceFile, ...]:
        """Return the project's files that a file imports, also through others, imports first."""
        closure = self._closures[self._by_path[file.path]]
        return tuple(other for number, other in enumerate(self.files) if closure >> number & 1)

    @cached_property
    def _closures(self) -> list[int]:
        """The set of files that each imports, also through others: a number whose bits are their positions."""
        found: list[int] = []
        for number, file in enumerate(self.files):
            direct = {self._by_module.get(_unquoted(module), number) for module in file.imports} - {number}
            closure = 0
            for other in direct:
                closure |= 1 << other | found[other]
            found.append(closure)
        return found

    def importers(self, paths: Collection[str]) -> tuple[SourceFile, ...]:
        """Return the files that import one of these, directly or not, without these themselves."""
        wanted = sum(1 << self._by_path[path] for path in set(paths))
        return tuple(
            file for file, closure in zip(self.files, self._closures) if file.path not in paths and wanted & closure
        )

    def provided_by(self, modules: Collection[str] | None) -> frozenset[str]:
        """Return the paths of the files that a server has already imported which imports these modules."""
        direct = [file for module in modules or () if (file := self.file_of(module)) is not None]
        return frozenset(each.path for file in direct for each in (file, *self.closure(file)))

    def external_imports(self, file: SourceFile) -> tuple[str, ...]:
        """Return the modules that a file imports directly and that are not the project's."""
        return tuple(module for module in file.imports if self.file_of(module) is None)

    def lacks_library(self, file: SourceFile) -> bool:
        """Tell whether a file imports, also through others, a module of neither the project nor Lean's `Init`."""
        for other in (file, *self.closure(file)):
            for module in self.external_imports(other):
                if module.partition(".")[0] != "Init":
                    return True
        return False

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
        packages = self.root / _PACKAGES
        try:
            names = sorted(os.listdir(packages))
        except OSError:
            return None
        for name in names:
            path = _path_of_module(packages / name, module)
            if path is not None and os.path.isfile(path):
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


def path_inside(root: Path, path: str) -> Path | None:
    """Return where a path leads from a folder, which is a resolved one; None if that is out of the folder."""
    if "\0" in path:
        return None
    target = Path(os.path.realpath(root / path))
    return target if target.is_relative_to(root) else None


def project_root(path: Path) -> Path:
    """Find the folder of the project that a file belongs to: the nearest above it that holds a lakefile, a
    `lean-toolchain` or a `.git`, else its own.
    """
    marks = ("lakefile.lean", "lakefile.toml", "lean-toolchain", ".git")
    for folder in path.resolve().parents:
        if any((folder / mark).exists() for mark in marks):
            return folder
    return path.resolve().parent


def module_index(files: Sequence[SourceFile]) -> dict[str, int]:
    """Map module names, without quotes, to positions in `files`: by their own name, the path from the root, else by the
    end of the path where only one file fits.

    The latter is for projects whose sources are in a folder that no file of Lake's names.
    """
    named: dict[str, int] = {}
    rooted: dict[str, int] = {}
    ending: dict[str, int | None] = {}
    for number, file in enumerate(files):
        parts = file.path.removesuffix(".lean").split("/")
        named[_unquoted(file.module)] = rooted[".".join(parts)] = number
        for alias in file.aliases:
            rooted.setdefault(_unquoted(alias), number)
        for start in range(1, len(parts)):
            name = ".".join(parts[start:])
            ending[name] = None if name in ending else number
    return {**{name: number for name, number in ending.items() if number is not None}, **rooted, **named}


def nanolean_library() -> Path | None:
    """Return the folder of NanoLean's library; None if NanoLean is not installed."""
    spec = importlib.util.find_spec("nanolean")
    return None if spec is None or spec.origin is None else (Path(spec.origin).parent / "library").resolve()


def _add_declared(found: dict[str, Provenance], file: SourceFile) -> None:
    for each in file.declarations:
        place = file.places.position
        found.setdefault(each.full_name, Provenance(each.full_name, file.path, place(each.start), place(each.end)))


# -- What Lean reads of a file ---------------------------------------------------------------------------------------


EXPLICIT = "set_option nanolean.lacksLibrary true\n"
"""Before what NanoLean reads without its libraries: their names would be bound automatically, and `(x : ENat)` become
something about all types. What the text says of `autoImplicit` does not undo it."""


def before_text(texts: Mapping[str, str], needed: Collection[SourceFile], opening: str = "") -> str:
    """Join the texts of imported files by their paths, which have no header, each a section of its own.

    `opening` sets options for them and for what comes behind.
    """
    return opening + "".join(enclosed(texts[file.path]) for file in needed)


def whole_text(
    project: Project,
    file: SourceFile,
    texts: Mapping[str, str],
    provided: Collection[str] = (),
    opening: str = "",
) -> str:
    """Return what Lean reads of a file: the texts of what it imports, then its own without imports.

    `texts` are those of all files by their paths, as they are on disk or will be; `provided` files are the server's.
    """
    needed = [other for other in project.closure(file) if other.path not in provided]
    before = before_text({other.path: lexical.without_header(texts[other.path]) for other in needed}, needed, opening)
    return before + lexical.without_header(texts[file.path])


def imported_into(path: Path, file: LeanFile, provided_modules: Collection[str] | None = ()) -> LeanFile:
    """Return a file of a project with what comes before it, as `Project.with_imports`; its own path stays unnamed."""
    read = Project.read(path).with_imports(provided_modules)
    return replace(file, before=read.before, open_before=read.open_before)


# -- Reading folders, and Lake's files -------------------------------------------------------------------------------


def _read_all(root: Path) -> list[SourceFile]:
    """Read the `.lean` files below a folder, without those of hidden folders, of builds, and Lake's own.

    A symbolic link to one of these files is another name of it; one that leads elsewhere is not followed, as what it
    leads to is none of the project's. So is one to a folder: a project may be a link's own target.
    """
    named_from = _source_folders(root)
    files: dict[Path, SourceFile] = {}
    links: list[Path] = []
    unread: list[SourceFile] = []
    todo = [root]
    while todo:
        folder = todo.pop()
        inside = folder.relative_to(root)
        try:
            if len(inside.parts) > DEEPEST:
                raise OSError(errno.ENAMETOOLONG, f"more than {DEEPEST} folders deep")
            with os.scandir(folder) as scanned:
                entries = list(scanned)
        except OSError as error:
            name = f"{inside.as_posix()}/*.lean".encode("utf-8", "backslashreplace").decode()
            unread.append(SourceFile(name, name, b"", error=f"cannot be read: {error.strerror}"))
            continue
        for entry in entries:
            path = Path(entry.path)
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED_FOLDERS:
                    todo.append(path)
            elif path.suffix == ".lean" and entry.name != "lakefile.lean":
                if entry.is_symlink():
                    links.append(path)
                else:
                    files[path] = read_source(root, path, _module_of(path, named_from))
    for link in links:
        target = Path(os.path.realpath(link))
        if target in files:
            aliases = (*files[target].aliases, _module_of(link, named_from))
            files[target] = replace(files[target], aliases=aliases)
        elif not target.is_dir():
            name = link.relative_to(root).as_posix().encode("utf-8", "backslashreplace").decode()
            leads = f"to {target}, which is none of the project's files" if target.exists() else "that leads nowhere"
            unread.append(SourceFile(name, name, b"", error=f"is a symbolic link {leads}"))
    return sorted([*files.values(), *unread], key=lambda file: file.path)


def _read_with_imports(root: Path, only: Path, text: str | None = None) -> list[SourceFile]:
    """Read a file and those that it imports, found from Lake's folders or from a folder above the file itself.

    With `text`, that stands for the file's.
    """
    named_from = _source_folders(root)
    folders = [*named_from, *(folder for folder in only.parents if folder.is_relative_to(root))]
    files: dict[Path, SourceFile] = {}
    aliases: dict[Path, dict[str, None]] = {}
    todo = [only]
    while todo:
        path = todo.pop()
        if path in files:
            continue
        module_name = _module_of(path, named_from)
        if path == only and text is not None:
            imported_modules = tuple(dict.fromkeys(lexical.imported_modules(text)))
            files[path] = SourceFile(path.relative_to(root).as_posix(), module_name, text.encode(), imported_modules)
        else:
            files[path] = read_source(root, path, module_name)
        for module in files[path].imports:
            for folder in folders:
                imported = _path_of_module(folder, module)
                target = None if imported is None else Path(os.path.realpath(imported))
                if target is not None and target.is_relative_to(root) and os.path.isfile(target):
                    todo.append(target)
                    if target != imported:
                        aliases.setdefault(target, {})[module] = None
                    break
    named = [replace(file, aliases=tuple(aliases.get(path, ()))) for path, file in files.items()]
    return sorted(named, key=lambda file: file.path)


def _path_of_module(folder: Path, module: str) -> Path | None:
    """Return where a module is below a folder; None for a name, as `«/etc/x»`, that would lead elsewhere."""
    parts = _unquoted(module).split(".")
    if not all(parts) or any("/" in part or "\0" in part for part in parts):
        return None
    return folder.joinpath(*parts[:-1], f"{parts[-1]}.lean")


def _unquoted(module: str) -> str:
    return module.replace("«", "").replace("»", "")


def _source_folders(root: Path) -> list[Path]:
    """List the folders that modules are named from, the deepest first: the root, and each `srcDir` of Lake's file.

    A `srcDir` out of the project names nothing here: its files are not read.
    """
    names = re.findall(_SRC_DIR, _text_of(root / "lakefile.lean"))
    try:
        table = tomllib.loads(_text_of(root / "lakefile.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        table = {}
    parts = [table, *(each for key in ("lean_lib", "lean_exe") for each in _tables(table.get(key)))]
    names += [part["srcDir"] for part in parts if isinstance(part.get("srcDir"), str)]
    folders = {root}
    for name in names:
        if "\0" not in name:
            folders.add(Path(os.path.realpath(root / name)))
    inside = [folder for folder in folders if folder.is_relative_to(root)]
    return sorted(inside, key=lambda folder: -len(folder.parts))


def _lake_options(root: Path) -> str:
    """Return commands for the options of Lake's file by which it forbids that names are bound automatically.

    An option that one library of several sets counts for all: what is refused then would be another statement there.
    """
    lean = without_comments(_text_of(root / "lakefile.lean"))
    toml = re.sub(r"#.*", "", _text_of(root / "lakefile.toml"))
    names = dict.fromkeys(match["name"] for match in _NOT_BOUND.finditer(f"{lean}\n{toml}"))
    return "".join(f"set_option {name} false\n" for name in names)


def _tables(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _module_of(path: Path, folders: Sequence[Path]) -> str:
    folder = next(folder for folder in folders if path.is_relative_to(folder))
    return ".".join(path.relative_to(folder).with_suffix("").parts)


def _text_of(path: Path) -> str:
    try:
        return read_regular(path, MAX_BYTES).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _in_order(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Sort files so that imports come first, else by path. Files that import themselves in a circle have an error."""
    found = list(files)
    index = module_index(found)
    while True:
        sorter: TopologicalSorter[int] = TopologicalSorter()
        for number, file in enumerate(found):
            imported = (index[name] for name in map(_unquoted, file.imports) if name in index)
            sorter.add(number, *(each for each in imported if each != number))
        try:
            sorter.prepare()
        except CycleError as error:
            circle = error.args[1]
            text = " -> ".join(found[number].module for number in reversed(circle))
            for number in circle[:-1]:
                found[number] = replace(found[number], error=f"imports itself: {text}", imports=())
            continue
        ordered: list[SourceFile] = []
        while sorter.is_active():
            ready = sorted(sorter.get_ready(), key=lambda number: found[number].path)
            ordered += [found[number] for number in ready]
            sorter.done(*ready)
        return ordered
