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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_regular
from nanoproof.lean import lexical
from nanoproof.lean.declarations import enclosed
from nanoproof.lean.lean_file import LeanFile, OpenPlace
from nanoproof.repos.source_file import MAX_BYTES, SourceFile, read_source, without_comments
from nanoproof.repos.traced_files import Provenance

LIBRARY_FOLDER = "nanolean/library"
"""What the paths of NanoLean's own library begin with."""
SKIPPED_FOLDERS = frozenset({"build", "lake-packages", "node_modules"})
"""Folders whose files are not the project's own, besides those whose name begins with a dot."""
DEEPEST = 100
"""Folders below so many others are not read: Python itself recurses over folders, in a thousand of which it fails."""
_PACKAGES = Path(".lake/packages")
_NOT_BOUND = re.compile(r"(?:\b|\bD)(?P<name>autoImplicit|relaxedAutoImplicit)\W+(?:value\W+)?false\b")
"""Matches the option in each form of both files: `⟨`autoImplicit, false⟩`, `-DautoImplicit=false`, name and value."""
_SRC_DIR = re.compile(r"srcDir\s*:=\s*\"([^\"]*)\"")

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
            # Its files have no imports; NanoLean reads them in the order of their names.
            for before, number in zip(files, range(1, len(files))):
                files[number] = replace(files[number], imports=(before.module,))
        toolchain = f"{_text_of(root / 'lean-toolchain')}\n{_text_of(root / 'lake-manifest.json')}".strip()
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
        needed = self.needed(own, provided)
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
        if by_nanolean and self.missing_library(file):
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

    def needed(self, file: SourceFile, provided: Collection[str]) -> list[SourceFile]:
        """Return the files that come before one when Lean reads it: those that it imports, but for `provided` paths."""
        return [other for other in self.closure(file) if other.path not in provided]

    @cached_property
    def _closures(self) -> list[int]:
        """The set of files that each imports, also through others: a number whose bits are their positions."""
        # Not sets: a library of thousands of files, that import most of each other, has millions of pairs.
        closures: list[int] = []
        for number, file in enumerate(self.files):
            closure = 0
            for module in file.imports:
                other = self._by_module.get(_unquoted(module), number)
                if other != number:  # imports come first, so that theirs are there already
                    closure |= 1 << other | closures[other]
            closures.append(closure)
        return closures

    def importers(self, paths: Collection[str]) -> tuple[SourceFile, ...]:
        """Return the files that import one of these, directly or not, without these themselves."""
        wanted = 0
        for path in paths:
            wanted |= 1 << self._by_path[path]
        importers = []
        for file, closure in zip(self.files, self._closures):
            if wanted & closure and file.path not in paths:
                importers.append(file)
        return tuple(importers)

    def provided_by(self, modules: Collection[str] | None) -> frozenset[str]:
        """Return the paths of the files that a server has already imported which imports these modules."""
        provided: set[str] = set()
        for module in modules or ():
            file = self.file_of(module)
            if file is not None:
                provided.add(file.path)
                provided.update(other.path for other in self.closure(file))
        return frozenset(provided)

    def external_imports(self, file: SourceFile) -> tuple[str, ...]:
        """Return the modules that a file imports directly and that are not the project's."""
        return tuple(module for module in file.imports if self.file_of(module) is None)

    def missing_library(self, file: SourceFile) -> str:
        """Return a module, not the project's nor Lean's `Init`, that a file imports, also through others; else ""."""
        found = ""
        for other in (file, *self.closure(file)):
            for module in self.external_imports(other):
                root = module.partition(".")[0]
                if root not in ("Init", "Lean", "Std"):
                    return module
                if root != "Init":  # NanoLean has parts of it: a module of another library says more
                    found = found or module
        return found

    def import_paths(self, file: SourceFile) -> tuple[str, ...]:
        """Return the paths of the files that a file imports directly, so far as they are here."""
        paths = []
        for module in file.imports:
            if (own := self.file_of(module)) is not None:
                paths.append(own.path)
            elif (path := self._library_file(module)) is not None:
                paths.append(path.relative_to(self.root).as_posix())
        return tuple(paths)

    def _library_file(self, module: str) -> Path | None:
        # Where Lake puts the packages that a project requires, each in a folder of its name with its modules below.
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
        declared: dict[str, Provenance] = {}
        library = nanolean_library()
        # The first declaration of a name counts: a project cannot declare again what a library has.
        if with_nanolean and not self.is_nanolean and library is not None:
            for path in sorted(library.glob("*.lean")):
                file = read_source(library, path, path.stem)
                _add_declared(declared, replace(file, path=f"{LIBRARY_FOLDER}/{file.path}"))
        for file in [*self._imported_library_files(), *self.files]:
            _add_declared(declared, file)
        return declared

    def _imported_library_files(self) -> Iterator[SourceFile]:
        """Read each file of a library that some file of the project imports, also through others."""
        todo: list[str] = []
        for project_file in self.files:
            todo += self.external_imports(project_file)
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


def named_path(text: str) -> Path:
    """Return the path that a user names. Raises UserError for none: as a path it is the working directory."""
    if not text.strip():
        raise UserError(
            "the name of the project is empty: give a folder, a file, or an address such as https://host/a/b"
        )
    return Path(text)


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
    ending: dict[str, list[int]] = {}
    for number, file in enumerate(files):
        parts = file.path.removesuffix(".lean").split("/")
        named[_unquoted(file.module)] = rooted[".".join(parts)] = number
        for alias in file.aliases:
            rooted.setdefault(_unquoted(alias), number)
        for start in range(1, len(parts)):
            ending.setdefault(".".join(parts[start:]), []).append(number)
    unique = {name: numbers[0] for name, numbers in ending.items() if len(numbers) == 1}
    return {**unique, **rooted, **named}


def nanolean_library() -> Path | None:
    """Return the folder of NanoLean's library; None if NanoLean is not installed."""
    # Found without an import: NanoLean may be missing, and its library is read as files here.
    spec = importlib.util.find_spec("nanolean")
    if spec is None or spec.origin is None:
        return None
    return (Path(spec.origin).parent / "library").resolve()


def _add_declared(declared: dict[str, Provenance], file: SourceFile) -> None:
    for declaration in file.declarations:
        name = declaration.full_name
        start, end = file.places.position(declaration.start), file.places.position(declaration.end)
        declared.setdefault(name, Provenance(name, file.path, start, end))


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
    needed = project.needed(file, provided)
    # Lean takes imports at the beginning of a text only.
    bodies = {other.path: lexical.without_header(texts[other.path]) for other in needed}
    return before_text(bodies, needed, opening) + lexical.without_header(texts[file.path])


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
    # Not by `os.walk`, which passes over a folder that cannot be read without a word.
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
            leads = "that leads nowhere"
            if target.exists():
                leads = f"to {target}, which is none of the project's files"
            unread.append(SourceFile(name, name, b"", error=f"is a symbolic link {leads}"))
    return sorted([*files.values(), *unread], key=lambda file: file.path)


def _read_with_imports(root: Path, only: Path, text: str | None = None) -> list[SourceFile]:
    """Read a file and those that it imports, found from Lake's folders or from a folder above the file itself.

    With `text`, that stands for the file's.
    """
    named_from = _source_folders(root)
    # A lone file may import its neighbours where no file of Lake's says from where modules are named.
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
                if imported is None:
                    continue
                target = Path(os.path.realpath(imported))
                if target.is_relative_to(root) and os.path.isfile(target):
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
    # `import «A».B` and `import A.B` are the same module to Lean.
    return module.replace("«", "").replace("»", "")


def _source_folders(root: Path) -> list[Path]:
    """List the folders that modules are named from, the deepest first: the root, and each `srcDir` of Lake's file.

    A `srcDir` out of the project names nothing here: its files are not read.
    """
    # A lakefile.lean is a program, and Lean is not run here: the usual way to write the option is looked for.
    names = re.findall(_SRC_DIR, _text_of(root / "lakefile.lean"))
    try:
        table = tomllib.loads(_text_of(root / "lakefile.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        table = {}
    # A package may have one, and each of its libraries and executables.
    for part in (table, *_tables(table.get("lean_lib")), *_tables(table.get("lean_exe"))):
        if isinstance(part.get("srcDir"), str):
            names.append(part["srcDir"])
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


def _tables(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [table for table in value if isinstance(table, dict)]


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
    read = list(files)
    index = module_index(read)
    # Once more for each circle: the sorter names one, whose files import nothing from then on.
    while True:
        sorter: TopologicalSorter[int] = TopologicalSorter()
        for number, file in enumerate(read):
            imported = dict.fromkeys(index.get(_unquoted(module), number) for module in file.imports)
            imported.pop(number, None)
            sorter.add(number, *imported)
        try:
            sorter.prepare()
        except CycleError as error:
            # The first is the last too, and each is imported by the next.
            circle = error.args[1]
            text = " -> ".join(read[number].module for number in reversed(circle))
            for number in circle[:-1]:
                read[number] = replace(read[number], error=f"imports itself: {text}", imports=())
            continue
        ordered: list[SourceFile] = []
        while sorter.is_active():
            # By path within what is ready, whatever order the file system lists: the same project reads the same.
            ready = sorted(sorter.get_ready(), key=lambda number: read[number].path)
            ordered += [read[number] for number in ready]
            sorter.done(*ready)
        return ordered
