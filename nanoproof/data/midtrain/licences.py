"""Licence files of a repository: which files are licences, and which licence a text is."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

NO_LICENSE = "NO_LICENSE"
UNKNOWN = "unknown"

_FILE = re.compile(r"(?:(?:un)?licen[cs]e|copying|notice|copyright)(?:[-_.].*)?$", re.IGNORECASE)
_NOTICE = re.compile(r"notice|copyright", re.IGNORECASE)
_CODE = (".lean", ".py", ".c", ".h", ".rs", ".ts", ".js", ".toml", ".json", ".sh", ".yml", ".yaml")

# What the beginning of a licence says; the first that fits counts.
_TITLES = (
    ("AGPL-3.0", r"gnu affero general public license.{0,80}?version 3"),
    ("LGPL-3.0", r"gnu lesser general public license.{0,80}?version 3"),
    ("LGPL-2.1", r"gnu lesser general public license.{0,80}?version 2\.1"),
    ("GPL-3.0", r"gnu general public license.{0,80}?version 3"),
    ("GPL-2.0", r"gnu general public license.{0,80}?version 2"),
    ("Apache-2.0", r"apache license,?.{0,40}?version 2\.0"),
    ("MPL-2.0", r"mozilla public license,?.{0,20}?(?:version )?2\.0"),
    ("CC0-1.0", r"cc0 1\.0|creative commons zero"),
    ("CC-BY-NC-SA-4.0", r"attribution-noncommercial-sharealike 4\.0"),
    ("CC-BY-NC-ND-4.0", r"attribution-noncommercial-noderivatives 4\.0"),
    ("CC-BY-NC-4.0", r"attribution-noncommercial 4\.0"),
    ("CC-BY-SA-4.0", r"attribution-sharealike 4\.0"),
    ("CC-BY-ND-4.0", r"attribution-noderivatives 4\.0"),
    ("CC-BY-4.0", r"attribution 4\.0"),
    ("EUPL-1.2", r"european union public licen[cs]e.{0,20}?1\.2"),
    ("Unlicense", r"free and unencumbered software released into the public domain"),
    ("0BSD", r"bsd zero clause license|zero-clause bsd"),
    ("MIT", r"permission is hereby granted, free of charge|\bmit license\b"),
    ("ISC", r"permission to use, copy, modify, and(?:/or)? distribute this software"),
    ("BSD-3-Clause", r"redistribution and use in source and binary forms.*neither the names? of"),
    ("BSD-2-Clause", r"redistribution and use in source and binary forms"),
)
_HEAD_CHARACTERS = 3000


def is_licence_file(path: str) -> bool:
    """Whether a file is a licence or a notice by its name: LICENSE, LICENCE.md, COPYING, NOTICE-x, .."""
    name = PurePosixPath(path).name
    return _FILE.match(name) is not None and not name.lower().endswith(_CODE)


def guess(text: str) -> str:
    """The SPDX identifier of a licence by its beginning; "unknown" if it is none of the common ones."""
    head = " ".join(text[:_HEAD_CHARACTERS].lower().split())
    return next((name for name, pattern in _TITLES if re.search(pattern, head)), UNKNOWN)


class Licences:
    """The licences of a repository's folders."""

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._of: dict[str, set[str]] = {}
        for path, text in files:
            if _NOTICE.match(PurePosixPath(path).name) is None:
                self._of.setdefault(str(PurePosixPath(path).parent), set()).add(guess(text))

    def of(self, path: str) -> str:
        """The licence of a file: that of the nearest folder above it which has one, `NO_LICENSE` if none has.

        Where a folder has several, all are named.
        """
        for folder in PurePosixPath(path).parents:
            if str(folder) in self._of:
                return " OR ".join(sorted(self._of[str(folder)]))
        return NO_LICENSE
