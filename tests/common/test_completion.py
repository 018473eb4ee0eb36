"""Completion at the Tab key, in the shells themselves."""

import shutil
import subprocess

import pytest

from nanoproof.common.completion import completion
from nanoproof.common.errors import UserError

HELP = """\
usage: nanoproof repos prove [-h]
  -h, --help            show this message
  -v, --verbose         say more
  --patch FILE          where the patch goes; --patch-not is no flag
  --num-simulations N   how many
"""
COMMANDS = """\
usage: nanoproof repos
positional arguments:
  {trace,prove,list-all}
"""
ASK = f"""
nanoproof() {{
    echo x >> calls
    case "$*" in
        "repos prove --help-all") cat <<'HELP'
{HELP}HELP
        ;;
        "repos --help") cat <<'HELP'
{COMMANDS}HELP
        ;;
        *) return 2 ;;
    esac
}}
ask() {{
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nanoproof; echo "${{COMPREPLY[*]}}"
}}
"""


def answers(folder, *lines: str) -> list[str]:
    script = completion(["bash"], ["repos", "retrieval", "rl"]) + ASK + "\n".join(f"ask nanoproof {s}" for s in lines)
    run = subprocess.run(["bash", "-uc", script], cwd=folder, capture_output=True, text=True, timeout=20, check=True)
    assert run.stderr == ""
    return run.stdout.splitlines()


def test_commands_parts_and_flags_are_completed_and_a_command_is_asked_once(tmp_path) -> None:
    lines = ["re", "repos pr", "repos prove --pa", "repos prove DIR --num", "repos prove fi"]
    assert answers(tmp_path, *lines) == ["repos retrieval", "prove", "--patch", "--num-simulations", ""]
    assert (
        len((tmp_path / "calls").read_text().splitlines()) == 3
    )  # repos --help-all, repos --help, repos prove --help-all


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_reads_it(tmp_path) -> None:
    script = completion(["zsh"], ["rl"]) + "\nprint -- ${_comps[nanoproof]}"
    run = subprocess.run(["zsh", "-fc", script], capture_output=True, text=True, timeout=20, check=True)
    assert run.stderr == "" and "_nanoproof" in run.stdout


def test_another_shell_is_named() -> None:
    with pytest.raises(UserError, match="bash or zsh"):
        completion(["fish"], [])
