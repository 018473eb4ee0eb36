"""A small search tree as an SVG picture, light or dark as the reader's screen is."""

from html import escape

from nanoproof.search.node import Kind, Node, walk
from nanoproof.search.render import shorten

WIDTH, HEIGHT, ROW, COLUMN, MARGIN = 172, 40, 50, 208, 14
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


def tree_picture(root: Node) -> str:
    """The tree from left to right, one row per leaf.

    A box shows the tactic that leads to its node and what is left to prove there, above that visits and value; ✓ and a
    thick frame mark what is solved, a dashed frame branches that are all needed, thicker lines more visits.
    """
    places = _places(root)
    right = max(x for x, _ in places.values()) + WIDTH + MARGIN
    bottom = max(y for _, y in places.values()) + HEIGHT + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom}" width="{right}" height="{bottom}">',
        f"<style>{_STYLE}</style>",
    ]
    for node in places:
        parts += [_line(root, node, child, places) for child in node.children]
    parts += [_box(node, parent, *places[node]) for node, parent in _with_parents(root)]
    return "\n".join([*parts, "</svg>\n"])


def _places(root: Node) -> dict[Node, tuple[int, int]]:
    """Columns by depth; leaves in rows from the top, each other node in the middle of its children."""
    depths = {root: 0}
    for node in walk(root):
        depths.update((child, depths[node] + 1) for child in node.children)
    rows: dict[Node, float] = {}
    leaves = [node for node in walk(root) if not node.children]
    rows.update((node, float(row)) for row, node in enumerate(leaves))
    for node in reversed(list(walk(root))):
        if node.children:
            rows[node] = (rows[node.children[0]] + rows[node.children[-1]]) / 2
    return {node: (MARGIN + COLUMN * depths[node], MARGIN + round(ROW * rows[node])) for node in walk(root)}


def _with_parents(root: Node) -> list[tuple[Node, Node | None]]:
    return [(root, None), *((child, node) for node in walk(root) for child in node.children)]


def _line(root: Node, parent: Node, child: Node, places: dict[Node, tuple[int, int]]) -> str:
    (x0, y0), (x1, y1) = places[parent], places[child]
    x0, y0, y1 = x0 + WIDTH, y0 + HEIGHT // 2, y1 + HEIGHT // 2
    middle = (x0 + x1) // 2
    kind = "proof" if parent.solved and child.solved else "" if child.visits else "untried"
    width = 1 + 6 * (max(child.visits, child.solved) / max(1, root.visits)) ** 0.5
    curve = f"M{x0},{y0} C{middle},{y0} {middle},{y1} {x1},{y1}"
    return f'<path class="{kind}" stroke-width="{width:.1f}" d="{curve}"/>'


def _box(node: Node, parent: Node | None, x: int, y: int) -> str:
    name = "the theorem" if parent is None else node.tactic or f"branch {parent.children.index(node) + 1}"
    left = {Kind.CLOSED: "nothing left", Kind.AND: f"{len(node.children)} branches"}.get(node.kind) or shorten(
        node.state
    )
    mark = '<tspan class="mark">✓ </tspan>' if node.solved else ""
    numbers = f"{node.visits}× {-node.value:.1f}" if node.visits else ""
    frame = " ".join(word for word, on in (("and", node.kind is Kind.AND), ("solved", node.solved)) if on)
    return (
        f'<g transform="translate({x},{y})"><rect class="{frame}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        f'<text x="9" y="16">{mark}{escape(_cut(name, 13))}</text>'
        f'<text x="{WIDTH - 8}" y="16" class="small right">{numbers}</text>'
        f'<text x="9" y="32" class="small">{escape(_cut(left, 22))}</text></g>'
    )


def _cut(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
