"""How dense code is: comments, conditional expressions, comprehensions, names without meaning."""

import ast
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers import parsed

VAGUE = frozenset({"found", "each", "told", "made", "held", "one", "words"})
"""Names that say nothing of what they name: they were 6.6% of all bindings once."""
STRING_OR_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*''', re.DOTALL
)
"""A comment, or a string, in which # begins none. `tokenize` finds the same, and takes fourteen times as long."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NO_COMMENT = ("# --", "# noqa", "# type:")
"""What begins like a comment and explains nothing: rulers, and orders to tools."""


@dataclass
class Density:
    """Counts of some files. `per_1000` is of their non-blank lines."""

    lines: int = 0
    comments: int = 0
    conditional_expressions: int = 0
    comprehensions: int = 0
    bindings: int = 0
    vague: list[str] = field(default_factory=list)
    long_functions: list[str] = field(default_factory=list)

    def per_1000(self, count: int) -> float:
        """Return a count for each thousand lines."""
        return 1000 * count / max(1, self.lines)


def density(files: Iterable[Path], longest_function: int = 60) -> Density:
    """Measure files."""
    counts = Density()
    for file in files:
        source = file.read_text(encoding="utf-8")
        counts.lines += sum(1 for line in source.splitlines() if line.strip())
        for text in STRING_OR_COMMENT.findall(source):
            counts.comments += text.startswith("#") and not text.startswith(NO_COMMENT)
        nodes = list(ast.walk(parsed(file)))
        kinds = Counter(map(type, nodes))
        counts.conditional_expressions += kinds[ast.IfExp]
        counts.comprehensions += sum(kinds[kind] for kind in COMPREHENSIONS)
        for function in [node for node in nodes if isinstance(node, FUNCTIONS)]:
            length = (function.end_lineno or function.lineno) - function.lineno + 1
            if length > longest_function:
                counts.long_functions.append(f"{file.name}:{function.name}")
        names = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        names += [node.arg for node in nodes if isinstance(node, ast.arg)]
        counts.bindings += len(names)
        counts.vague += [f"{file.name}: {name}" for name in names if name in VAGUE]
    return counts
