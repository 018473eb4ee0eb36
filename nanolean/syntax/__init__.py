"""The syntax tree of NanoLean: what the parser makes and what the elaborator and the tactics read.

Every node is a frozen dataclass that spans `source[node.pos:node.end]` (character offsets). Positions take no part in
equality, so two parses of differently spaced texts compare equal. Names are plain strings with dots (`Nat.add_comm`);
`h.left` is one `Ident`, because only the elaborator knows whether `h` is a local hypothesis.
"""

from nanolean.syntax.commands import *  # noqa: F403 (all of them are nodes)
from nanolean.syntax.context_tactics import *  # noqa: F403
from nanolean.syntax.tactics import *  # noqa: F403
from nanolean.syntax.terms import *  # noqa: F403
