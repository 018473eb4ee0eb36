"""Search trees for people: as text, as an HTML file with the monitor's page in it, as an SVG picture."""

import base64
import gzip
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.search.node import Kind, Node, walk

_STATE_WIDTH = 72  # letters of a state that are shown as text
WIDTH, HEIGHT, ROW, COLUMN, MARGIN = 172, 40, 50, 208, 14  # of a box and its place in the picture, in pixels
_STYLE = """
svg { background: #ffffff; --text: #1b1f24; --muted: #5b6470; --box: #f6f7f9; --line: #b9c1ca; --solved: #14713a; }
@media (prefers-color-scheme: dark) {
  svg { background: #12151a; --text: #e7eaee; --muted: #9ba6b3; --box: #1b2027; --line: #515c69; --solved: #63d18c; }
}
text { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--text); }
.small { font-size: 11px; fill: var(--muted); }
.right { text-anchor: end; }
rect { fill: var(--box); stroke: var(--line); }
.and { stroke-dasharray: 5 3; }
.solved { stroke: var(--solved); stroke-width: 2.5; }
.mark { fill: var(--solved); font-weight: bold; }
path { fill: none; stroke: var(--line); }
path.proof { stroke: var(--solved); }
path.untried { stroke-dasharray: 2 4; }
"""


# -- text --------------------------------------------------------------------------------------------------------------


def render_tree(root: Node, max_nodes: int = 200) -> str:
    """Render the tree as text, solved and most visited children first.

    ✓ marks what is solved; unvisited leaves are only counted. N is the number of visits, V the mean
    value (minus the tactics still needed), P the share of its siblings' priors.
    """
    lines: list[str] = []
    stack: list[tuple[Node, Node | None, str, str]] = [(root, None, "", "")]
    hidden = 0
    while stack:
        node, parent, lead, indent = stack.pop()
        if len(lines) >= max_nodes:
            hidden += 1
            continue
        lines.append(lead + _describe(node, parent))
        # All branches of an AND node are needed, so that all are shown; of tactics only those that were worked on.
        shown = list(node.children)
        if node.kind is Kind.OR:
            shown = [child for child in node.children if child.visits or child.solved]
            shown.sort(key=lambda child: (-child.solved, -child.visits))
        if len(shown) < len(node.children):
            lines[-1] += f"  (+{len(node.children) - len(shown)} untried)"
        # The stack is read from its end: the child to be shown first is put there last.
        below = ("└─ ", "   ")
        for child in reversed(shown):
            stack.append((child, node, indent + below[0], indent + below[1]))
            below = ("├─ ", "│  ")
    if hidden:
        lines.append(f"... and {hidden} more branches of the tree")
    return "\n".join(lines)


def _describe(node: Node, parent: Node | None) -> str:
    """Describe a node in one line, with the edge that leads to it."""
    parts = ["·"]
    if node.solved:
        parts = ["✓"]
    if node.tactic is not None:
        tactic = " ".join(node.tactic.split())
        if node.finisher:
            tactic += " [finisher]"
        parts += [tactic, "→"]
    elif parent is not None:
        parts.append(f"branch {parent.children.index(node) + 1}")

    if node.kind is Kind.CLOSED:  # it is never visited, so that there are no numbers to show
        return " ".join([*parts, "closed"])
    if node.kind is Kind.AND:
        parts.append(f"all {len(node.children)} branches")
    else:
        parts.append(shorten(node.state))
    numbers = f" [N={node.visits}"
    if node.visits:
        numbers += f" V={node.value:.2f}"
    if parent is not None and parent.prior_sum:
        numbers += f" P={node.prior / parent.prior_sum:.2f}"
    return " ".join([*parts, numbers + "]"])


def shorten(state: str) -> str:
    """Shorten a state to one line: its targets, without hypotheses."""
    targets = []
    for goal in state.split("\n\n"):
        if "⊢" in goal:
            targets.append(" ".join(goal[goal.index("⊢") :].split()))
    text = "  ".join(targets) or " ".join(state.split())
    if len(text) > _STATE_WIDTH:
        text = text[: _STATE_WIDTH - 1] + "…"
    return text


# -- a page ------------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).resolve().parents[1] / "monitor" / "static" / "page"
"""The monitor's page as it was built; one file has all of it, and shows one kind of data or another."""
_SCRIPT = re.compile(r'<script type="module"[^>]* src="\./([^"]+)"></script>')
_PRELOAD = re.compile(r'<link rel="modulepreload"[^>]*>')
_STYLES = re.compile(r'<link rel="stylesheet"[^>]* href="\./([^"]+)">')
_TITLE = re.compile(r"<title>.*?</title>")
_IMPORT_PREFIX = "nanoproof/"
_LOADER = """
<script type="text/plain" id="nanoproof-data">{data}</script>
<script type="text/plain" id="nanoproof-page">{page}</script>
<script>
  (async function () {{
    async function unpack(id) {{
      var text = atob(document.getElementById(id).textContent);
      var bytes = Uint8Array.from(text, function (letter) {{ return letter.charCodeAt(0); }});
      return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    }}
    window.nanoproof = JSON.parse(await unpack("nanoproof-data"));
    var scripts = JSON.parse(await unpack("nanoproof-page"));
    var names = {{ imports: {{}} }};
    for (var name in scripts) {{
      names.imports[name] = URL.createObjectURL(new Blob([scripts[name]], {{ type: "text/javascript" }}));
    }}
    var map = document.createElement("script");
    map.type = "importmap";
    map.textContent = JSON.stringify(names);
    document.head.append(map);
    await import("{first}");
  }})().catch(function (error) {{
    document.getElementById("root").textContent = "This file needs a browser of 2023 or newer. " + error;
  }});
</script>
"""


@dataclass(frozen=True)
class SearchView:
    """One search to look at: a title, a line about it, how it ended, and its tree as `tree_to_json` writes it."""

    title: str
    facts: str
    outcome: str
    tree: Mapping[str, Any]


def tree_page(searches: Iterable[SearchView]) -> str:
    """Render an HTML page that shows these searches, one at a time. Raises UserError as `standalone_page` does."""
    views = [asdict(view) for view in searches]
    return standalone_page(views[0]["title"] if views else "Search trees", {"kind": "trees", "searches": views})


def standalone_page(title: str, data: Mapping[str, Any]) -> str:
    """Render the monitor's page as one HTML file that needs no server and no network, with its `data` inside.

    Scripts and data are compressed: about 220 kB without data. Raises UserError if the page was not built.
    """
    try:
        index = (PAGE / "index.html").read_text(encoding="utf-8")
        script, styles = _SCRIPT.search(index), _STYLES.search(index)
        if script is None or styles is None:
            raise FileNotFoundError
        css = (PAGE / styles[1]).read_text(encoding="utf-8")
        scripts = _scripts((PAGE / script[1]).parent)
    except OSError as error:
        raise UserError(f"{PAGE} does not hold the page: `cd web && npm ci && npm run build` makes it") from error
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    first = _IMPORT_PREFIX + Path(script[1]).name
    loader = _LOADER.format(data=_packed(text), page=_packed(json.dumps(scripts)), first=first)
    index = _PRELOAD.sub("", index.replace(script[0], "")).replace(styles[0], f"<style>{css}</style>")
    index = _TITLE.sub(lambda _: f"<title>{escape(title)}</title>", index, count=1)
    return index.replace("</body>", loader + "</body>")


def _scripts(folder: Path) -> dict[str, str]:
    """Return the page's scripts by the names that they have for each other.

    They import each other as "./NAME", which means a file beside the importing one. Inside of one HTML file there is
    none beside, so that they get names that an import map can give addresses to.
    """
    files = sorted(folder.glob("*.js"))
    scripts: dict[str, str] = {}
    for file in files:
        code = file.read_text(encoding="utf-8")
        for other in files:
            code = code.replace(f"./{other.name}", _IMPORT_PREFIX + other.name)
        scripts[_IMPORT_PREFIX + file.name] = code
    return scripts


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)).decode()


# -- a picture ---------------------------------------------------------------------------------------------------------


def tree_picture(root: Node) -> str:
    """Draw the tree as SVG from left to right, one row per leaf.

    A box shows the tactic that leads to its node and what is left to prove there, above that visits and value; ✓ and a
    thick frame mark what is solved, a dashed frame branches that are all needed, thicker lines more visits.
    """
    coordinates = _coordinates(root)
    right, bottom = 0, 0
    for x, y in coordinates.values():
        right, bottom = max(right, x + WIDTH + MARGIN), max(bottom, y + HEIGHT + MARGIN)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom}" width="{right}" height="{bottom}">',
        f"<style>{_STYLE}</style>",
    ]
    # Lines first: what is drawn later lies above it.
    boxes = [_box(root, None, *coordinates[root])]
    for node in coordinates:
        for child in node.children:
            parts.append(_line(root, node, child, coordinates))
            boxes.append(_box(child, node, *coordinates[child]))
    return "\n".join([*parts, *boxes, "</svg>\n"])


def _coordinates(root: Node) -> dict[Node, tuple[int, int]]:
    """Place columns by depth; leaves in rows from the top, each other node in the middle of its children."""
    nodes = list(walk(root))
    depths = {root: 0}
    rows: dict[Node, float] = {}
    num_leaves = 0
    for node in nodes:
        for child in node.children:
            depths[child] = depths[node] + 1
        if not node.children:
            rows[node] = num_leaves
            num_leaves += 1
    for node in reversed(nodes):  # children before their parents
        if node.children:
            rows[node] = (rows[node.children[0]] + rows[node.children[-1]]) / 2
    return {node: (MARGIN + COLUMN * depths[node], MARGIN + round(ROW * rows[node])) for node in nodes}


def _line(root: Node, parent: Node, child: Node, coordinates: dict[Node, tuple[int, int]]) -> str:
    """Draw an edge as a curve, the wider the more of the root's visits went through it."""
    (x0, y0), (x1, y1) = coordinates[parent], coordinates[child]
    x0, y0, y1 = x0 + WIDTH, y0 + HEIGHT // 2, y1 + HEIGHT // 2
    middle = (x0 + x1) // 2
    kind = ""
    if parent.solved and child.solved:
        kind = "proof"
    elif not child.visits:
        kind = "untried"
    # The square root lets an edge of one visit in a hundred be seen. A closed node has no visits and counts as one.
    width = 1 + 6 * (max(child.visits, child.solved) / max(1, root.visits)) ** 0.5
    curve = f"M{x0},{y0} C{middle},{y0} {middle},{y1} {x1},{y1}"
    return f'<path class="{kind}" stroke-width="{width:.1f}" d="{curve}"/>'


def _box(node: Node, parent: Node | None, x: int, y: int) -> str:
    """Draw a node as a box of two lines: how it was reached, and what is left to prove there."""
    if parent is None:
        reached = "the theorem"
    else:
        reached = node.tactic or f"branch {parent.children.index(node) + 1}"
    left = {Kind.CLOSED: "nothing left", Kind.AND: f"{len(node.children)} branches"}.get(node.kind)
    if left is None:
        left = shorten(node.state)
    classes, mark, numbers = [], "", ""
    if node.kind is Kind.AND:
        classes.append("and")
    if node.solved:
        classes.append("solved")
        mark = '<tspan class="mark">✓ </tspan>'
    if node.visits:
        numbers = f"{node.visits}× {-node.value:.1f}"
    return (
        f'<g transform="translate({x},{y})">'
        f'<rect class="{" ".join(classes)}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        f'<text x="9" y="16">{mark}{escape(_cut(reached, 13))}</text>'
        f'<text x="{WIDTH - 8}" y="16" class="small right">{numbers}</text>'
        f'<text x="9" y="32" class="small">{escape(_cut(left, 22))}</text></g>'
    )


def _cut(text: str, limit: int) -> str:
    """Put a text on one line of at most `limit` letters."""
    line = " ".join(text.split())
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return line
