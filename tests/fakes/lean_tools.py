"""Stand-ins for elan, lake, git and curl: they note how they are called, leave the files that the real ones leave, and
fail or hang on cue.

`FAKE_FAIL` is a JSON object from the first words of a call to what it should do: a text to print before it ends with
status 1, or "hang", or "nothing" (end well without doing anything).
"""

import json
import os
import sys
import time
from pathlib import Path


def main(program: str, words: list[str]) -> int:
    """Do what the program would do."""
    call = " ".join([program, *words])
    with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as log:
        log.write(f"{call}\n")
    for start, deed in json.loads(os.environ.get("FAKE_FAIL", "{}")).items():
        if not call.startswith(start):
            continue
        if deed == "hang":
            Path(os.environ["FAKE_LOG"]).with_suffix(".pid").write_text(str(os.getpid()))
            print("at it", flush=True)
            time.sleep(600)
        elif deed != "nothing":
            print(deed, file=sys.stderr)
            return 1
        return 0
    leave(program, words)
    return 0


def leave(program: str, words: list[str]) -> None:
    """Leave behind what the call should lead to."""
    match [program, *words]:
        case ["lake", "--version"]:
            tag = Path("lean-toolchain").read_text(encoding="utf-8").strip().partition(":")[2]
            make(Path(os.environ["ELAN_HOME"], "toolchains", f"leanprover--lean4---{tag}", "bin", "lean"))
        case ["lake", "update"]:
            make(Path("lake-manifest.json"), "{}")
            if toolchain := os.environ.get("FAKE_UPDATED_TOOLCHAIN"):
                Path("lean-toolchain").write_text(toolchain)
        case ["lake", "exe", "cache", "get"]:
            make(Path(".lake/packages/mathlib/.lake/build/lib/Mathlib.olean"))
        case ["lake", "build"]:
            make(Path(".lake/build/lib/lean/LeanServers.olean"))
        case ["lake", "build", "repl"]:
            make(Path(".lake/build/bin/repl"), "#!/bin/sh\n")
            Path(".lake/build/bin/repl").chmod(0o755)
        case ["lake", "env", _]:
            print(os.environ.get("FAKE_ANSWER", '{"env": 0}'))
        case ["git", "clone", *_, "--branch", tag, url, target]:
            lean = "v4.19.0" if url.endswith("/lean-repl") else tag
            make(Path(target, "lean-toolchain"), os.environ.get("FAKE_REPL_TOOLCHAIN", f"leanprover/lean4:{lean}"))
        case ["curl", *_, "-o", script, _]:
            bin_dir = Path(os.environ["ELAN_HOME"], "bin")
            make(Path(script), f"mkdir -p {bin_dir} && cp $FAKE_LAKE {bin_dir}/elan && cp $FAKE_LAKE {bin_dir}/lake\n")
        case _:
            sys.exit(f"unexpected call: {program} {words}")


def make(path: Path, text: str = "") -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
