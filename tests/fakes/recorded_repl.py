"""A program that answers requests as a real Lean REPL was recorded to: `recorded_repl.py CONVERSATION.json [LOG]`.

The file holds a list of `{"request", "response"}`; a request that is not in it is answered as Lean answers a number
that it does not know. Keys of a request that the official REPL ignores do not matter. Each request is appended to LOG.
"""

import json
import sys

KNOWN = ("cmd", "env", "allTactics", "rootGoals", "tactic", "proofState")


def key(request):
    return json.dumps({name: request[name] for name in KNOWN if name in request}, sort_keys=True)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        answers = {key(each["request"]): each["response"] for each in json.load(file)}
    lines = []
    for line in sys.stdin:
        if line.strip():
            lines.append(line)
            continue
        request = json.loads("".join(lines))
        lines = []
        with open(sys.argv[2], "a", encoding="utf-8") as log:
            log.write(json.dumps(request) + "\n")
        unknown = "Unknown proof state." if "tactic" in request else "Unknown environment."
        answer = {"env": 0} if request.get("cmd") == "" else answers.get(key(request), {"message": unknown})
        print(json.dumps(answer, ensure_ascii=False), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
