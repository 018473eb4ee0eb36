"""The Lean files of a project, which of them import which, and the text that Lean reads of one with its imports.

A file is checked alone on a server that has only libraries imported (or NanoLean, which has no files): what it imports
from its own project is put before it, in the order of the imports, each file between `section` and `end`, so that
variables, opened namespaces, options and local notations of one file end with it, as they do for an importer.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.lean.lean_file import LeanFile
from nanoproof.lean.lexical import NAME_REST, imported_modules, mask, without_header
from nanoproof.lean.types import SourceError

SKIPPED_FOLDERS = frozenset({"build", "lake-packages", "node_modules"})
"""Folders whose files are not the project's own, besides those whose name begins with a dot."""
_LAKEFILES = ("lakefile.lean",)
_SCOPE_EDGE = re.compile(
    r"^[ \t]*(?:(?:@\[[^\]]*\]|public|meta|noncomputable)[ \t]+)*(?P<word>namespace|section|mutual|end)"
    rf"(?![{NAME_REST}.])[ \t]*(?P<name>«[^»\n]*»(?:\.\S+)?|[^\s]*)",
    re.MULTILINE,
)
_NOT_A_NAME = re.compile(r"namespace|section|mutual|end|theorem|lemma|def|open|variable|--.*")


@dataclass(frozen=True)
class SourceFile:
    """A file of a project: its path within it (with `/`), its bytes, and the modules that it imports.

    `error` is why it cannot be read as Lean text; then `text` is empty.
    """

    path: str
    data: bytes
    text: str
    modules: tuple[str, ...] = ()
    error: str = ""

    @cached_property
    def sorries(self) -> int:
        """The number of `sorry`s in it."""
        return 0 if self.error else len(LeanFile.parse(self.text).gaps)


@dataclass(frozen=True)
class Project:
    """The files of a folder by their path, those that are imported before those that import them.

    `imports` maps a file to the files of the project that it imports directly, `foreign` to other modules.
    """

    root: Path
    files: Mapping[str, SourceFile]
    imports: Mapping[str, tuple[str, ...]]
    foreign: Mapping[str, tuple[str, ...]]
    only: str = ""
    """The one file of interest, where a file was named; its imports are there too."""
    _closures: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.root.name or "project"

    def needed(self, path: str) -> tuple[str, ...]:
        """Return the files that a file imports, directly or not, in an order in which Lean can read them."""
        closure = self._closure(path)
        return tuple(other for other in self.files if other in closure)

    def importers(self, paths: Collection[str]) -> tuple[str, ...]:
        """Return the files that import one of these, directly or not, without these themselves."""
        wanted = set(paths)
        return tuple(path for path in self.files if path not in wanted and wanted & self._closure(path))

    def _closure(self, path: str) -> frozenset[str]:
        """All that a file imports. Files are in order, so those that it imports have been through here before."""
        if path not in self._closures:
            found: set[str] = set()
            for other in self.imports[path]:
                found |= {other, *self._closure(other)}
            self._closures[path] = frozenset(found)
        return self._closures[path]

    def provided_by(self, modules: Collection[str]) -> frozenset[str]:
        """Return the files that a server has already imported which imports these modules."""
        known = module_index(self.files)
        direct = {known[name] for name in map(_unquoted, modules) if name in known}
        return frozenset(direct.union(*(self._closure(path) for path in direct)))


def read_project(path: Path) -> Project:
    """Read the Lean files below a folder, or a file with those of its project that it imports.

    The root of a file's project is the nearest folder above it that holds a lakefile, a `lean-toolchain` or a `.git`,
    else its own folder. Raises UserError where there is no Lean file, or if files import each other in a circle.
    """
    path = path.resolve()
    if path.is_dir():
        return _order(path, {each.path: each for each in _read_folder(path)}, "")
    if not path.is_file():
        raise UserError(f"{path}: no such folder or file")
    root = project_root(path)
    only = path.relative_to(root).as_posix()
    return _order(root, _read_with_imports(root, only), only)


def project_root(path: Path) -> Path:
    """Find the folder of the project that a file belongs to; its own folder if none is one."""
    marks = ("lakefile.lean", "lakefile.toml", "lean-toolchain", ".git")
    for folder in path.resolve().parents:
        if any((folder / mark).exists() for mark in marks):
            return folder
    return path.resolve().parent


def read_source(root: Path, path: str) -> SourceFile:
    """Read one file of a project; what is wrong with it is its `error`."""
    try:
        data = (root / path).read_bytes()
    except OSError as error:
        return SourceFile(path, b"", "", error=f"cannot be read: {error.strerror}")
    try:
        text = data.decode("utf-8")
        LeanFile.parse(text)
    except UnicodeDecodeError as error:
        return SourceFile(path, data, "", error=f"is not UTF-8 text: byte {error.start} cannot be read")
    except SourceError as error:
        return SourceFile(path, data, "", error=str(error))
    return SourceFile(path, data, text, tuple(dict.fromkeys(imported_modules(text))))


def module_index(paths: Collection[str]) -> dict[str, str]:
    """Map module names to files: by the path from the root, else by the end of the path where only one file fits.

    The latter is for projects whose sources are in a folder of their own (`srcDir`).
    """
    index: dict[str, str] = {}
    shorter: dict[str, str] = {}
    for path in paths:
        parts = path.removesuffix(".lean").split("/")
        index[".".join(parts)] = path
        for start in range(1, len(parts)):
            name = ".".join(parts[start:])
            shorter[name] = "" if name in shorter else path
    return {**{name: path for name, path in shorter.items() if path}, **index}


def _unquoted(module: str) -> str:
    return module.replace("«", "").replace("»", "")


def enclosed(text: str) -> str:
    """Put the text of an imported file between `section` and `end`, with an `end` for each scope that it leaves open.

    `text` has no header. What the file opens, declares as variable or sets as option ends with it.
    """
    ends = "".join(f"end {name}".rstrip() + "\n" for name in reversed(open_scopes(text)))
    return f"section\n{text.rstrip()}\n{ends}end\n"


def open_scopes(text: str) -> list[str]:
    """Return the names of the scopes that are open at the end of a text, outermost first; empty for nameless ones."""
    scopes: list[str] = []
    for edge in _SCOPE_EDGE.finditer(mask(text)):
        name = "" if _NOT_A_NAME.fullmatch(edge["name"]) else edge["name"]
        parts = _name_parts(name)
        if edge["word"] in ("section", "namespace"):
            scopes += parts or [""]
        elif edge["word"] == "mutual":
            scopes.append("")
        else:
            del scopes[max(0, len(scopes) - max(1, len(parts))) :]
    return scopes


def _name_parts(name: str) -> list[str]:
    return re.findall(r"«[^»]*»|[^.«»]+", name)


def before_text(texts: Mapping[str, str], needed: Collection[str]) -> str:
    """Join the texts of imported files, which have no header, each a section of its own."""
    return "".join(enclosed(texts[path]) for path in needed)


def whole_text(project: Project, path: str, texts: Mapping[str, str], provided: Collection[str] = ()) -> str:
    """Return what Lean reads of a file: the texts of what it imports, then its own without imports.

    `texts` are those of all files, as they are on disk or will be; `provided` files are the server's.
    """
    needed = [other for other in project.needed(path) if other not in provided]
    before = before_text({other: without_header(texts[other]) for other in needed}, needed)
    return before + without_header(texts[path])


def _read_with_imports(root: Path, only: str) -> dict[str, SourceFile]:
    """Read a file and those that it imports, found from the root or from a folder above the file itself."""
    files: dict[str, SourceFile] = {}
    folders = [root, *(folder for folder in (root / only).parents if folder.is_relative_to(root))]
    todo = [only]
    while todo:
        path = todo.pop()
        if path in files:
            continue
        files[path] = read_source(root, path)
        for module in files[path].modules:
            name = _unquoted(module).replace(".", "/") + ".lean"
            found = next((folder / name for folder in folders if (folder / name).is_file()), None)
            todo += [] if found is None else [found.relative_to(root).as_posix()]
    return files


def imported_text(path: Path, provided_modules: Collection[str] = ()) -> str:
    """Return what comes before a file of a project when Lean reads it: the files that it imports, with the axiom for
    their `sorry`s. Files that `provided_modules` are, or import, are left out.
    """
    project = read_project(path)
    needed = [other for other in project.needed(project.only) if other not in project.provided_by(provided_modules)]
    return before_text({other: LeanFile.parse(project.files[other].text).imported() for other in needed}, needed)


def _read_folder(root: Path) -> Iterator[SourceFile]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if each not in SKIPPED_FOLDERS and not each.startswith("."))
        for name in sorted(names):
            if name.endswith(".lean") and name not in _LAKEFILES and not name.startswith("."):
                yield read_source(root, (Path(folder) / name).relative_to(root).as_posix())


def _order(root: Path, files: dict[str, SourceFile], only: str) -> Project:
    """Sort files by their imports. With `only` those that it does not need are left out."""
    if not files:
        raise UserError(f"{root} holds no .lean file")
    index = module_index(files)
    imports = {
        path: tuple(
            dict.fromkeys(index[module] for module in file.modules if module in index and index[module] != path)
        )
        for path, file in files.items()
    }
    ordered: dict[str, SourceFile] = {}
    for start in [only] if only else sorted(files):
        stack = [(start, iter(imports[start]))]
        on_way = [start] if start not in ordered else []
        while stack and on_way:
            path, rest = stack[-1]
            other = next((each for each in rest if each not in ordered), None)
            if other is None:
                ordered[path] = files[path]
                stack.pop()
                on_way.pop()
            elif other in on_way:
                raise UserError(
                    f"{root}: files import each other: {' -> '.join([*on_way[on_way.index(other) :], other])}"
                )
            else:
                stack.append((other, iter(imports[other])))
                on_way.append(other)
    foreign = {
        path: tuple(module for module in file.modules if _unquoted(module) not in index)
        for path, file in ordered.items()
    }
    return Project(root, ordered, {path: imports[path] for path in ordered}, foreign, only)
