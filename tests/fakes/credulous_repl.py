"""A REPL that answers about whole texts as a real Lean would, where a table says what it makes of a proof.

    python credulous_repl.py TABLE.json

The text of a theorem begins with `-- red team: ID`. The table holds for each id `lean` ("accepts", "errors", "sorry"),
`block` (the same for the proof between parentheses), `axioms`, `says`, `after` (see `red_team/tricks.toml`), or
`answer`, which is written as it stands, whatever is asked; `do` is one of the misbehaviours of `scripted_repl.py`.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fakes.scripted_repl import MISBEHAVIOURS

ID = re.compile(r"-- red team: ([^\n]*)\n")
QUESTION = re.compile(r"#(print axioms|check) _root_\.(\S.*)")


def message(severity: str, line: int, text: str) -> dict[str, Any]:
    """A message at the beginning of a line."""
    position = {"line": line, "column": 0}
    return {"severity": severity, "pos": position, "endPos": position, "data": text}


def statement(text: str, name: str) -> str:
    """How Lean prints a theorem, near enough: the words of its head."""
    last = re.escape(name.rpartition(".")[2])
    head = re.search(rf"(?:theorem|lemma|def)\s+\S*{last}\S*(.*?):=", text, re.DOTALL)
    return f"{name} {' '.join(head[1].split())}" if head else name


def answer(table: dict[str, Any], text: str) -> Any:
    """The answer to one command."""
    found = ID.search(text)
    entry = table[found[1]] if found else {}
    if "do" in entry:
        MISBEHAVIOURS[entry["do"]]()
    if "answer" in entry:
        return entry["answer"]
    is_given = re.search(r"(?::= by|·)\s+sorry", text) is not None and "proof" in entry and entry["proof"] not in text
    enclosed = re.search(r"\(by\n| \(\S+\n", text) is not None and not is_given
    verdict = "sorry" if is_given else entry.get("block" if enclosed and "block" in entry else "lean", "accepts")
    messages = [] if is_given else [message("info", 3, words) for words in entry.get("says", [])]
    if verdict == "errors":
        messages.append(message("error", 3, "unexpected token; expected ')'" if enclosed else "Type mismatch"))
    axioms = ["sorryAx"] if verdict == "sorry" else entry.get("axioms", [])
    if verdict == "sorry":
        messages.append(message("warning", 2, "declaration uses `sorry`"))
    for number, line in enumerate(text.split("\n"), 1):
        if question := QUESTION.fullmatch(line):
            kind, name = question.groups()
            last = name.rpartition(".")[2]
            ours = last.startswith("nanoproof_") or last == "boom"
            rests = f"depends on axioms: [{', '.join(axioms)}]" if axioms and ours else "does not depend on any axioms"
            shown = entry["after"] if "after" in entry and ours and not is_given else statement(text, name)
            words = f"'{name}' {rests}" if kind == "print axioms" else shown.replace("boom", name, 1)
            messages.append(message("info", number, words))
    place = {"pos": {"line": 2, "column": 0}, "endPos": {"line": 2, "column": 5}}
    sorries = [{**place, "goal": "⊢ False", "proofState": 0}] if verdict == "sorry" else []
    return {"env": 0, "messages": messages, "sorries": sorries}


def main() -> None:
    """Answer requests until the input ends."""
    table = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for line in sys.stdin:
        if line.strip():
            reply = answer(table, json.loads(line).get("cmd", ""))
            print(reply if isinstance(reply, str) else json.dumps(reply), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
