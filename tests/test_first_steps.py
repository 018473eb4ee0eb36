"""What a newcomer meets in a terminal: the README does what the quickstart does, errors name what was typed."""

import re
import shlex
from pathlib import Path

import pytest

from nanoproof import sft
from nanoproof.common.config import Parser, add_flags
from nanoproof.common.errors import UserError
from nanoproof.model import checkpoint
from nanoproof.policy.factory import STEPS_OF_SMALL, follow_network
from nanoproof.rl.options import RLConfig
from nanoproof.rl.options import parse_args as parse_rl_args
from scripts import check_with_lean, small_runs
from scripts.prove import parse_args as prove_args
from scripts.quickstart import Quickstart, QuickstartOptions
from tests.training import small

ROOT = Path(__file__).resolve().parents[1]


def finetuning(words: list[str]) -> dict[str, object]:
    """What `python -m nanoproof.sft WORDS` is asked for."""
    parser = Parser()
    for each in sft.GROUPS:
        add_flags(parser, each)
    return vars(parser.parse_args(words))


def test_the_finetuning_of_the_readme_makes_as_many_updates_as_that_of_the_quickstart() -> None:
    (line,) = re.findall(
        r"^\| finetuning \| `python -m nanoproof\.sft ([^`]+)`", (ROOT / "README.md").read_text(), re.M
    )
    readme = finetuning(shlex.split(line))
    quickstart = finetuning([*small_runs.SFT, "--epochs", f"{QuickstartOptions().sft_epochs:g}"])
    for name in ("data", "epochs", "target_examples_per_step", "depth", "aspect_ratio", "head_dim"):
        assert readme[name] == quickstart[name], name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fraction-sft", "2"], "--fraction-sft must be <= 1, got 2.0"),
        (["--collect-transitions", "-1"], "--collect-transitions must be >= 0, got -1"),
        (["--mm-base-simulations", "0"], "--mm-base-simulations must be >= 1, got 0"),
        (["--search-gamma", "2"], "--search-gamma must be <= 1, got 2.0"),
    ],
)
def test_errors_of_rl_name_the_flag_and_no_field(words: list[str], said: str) -> None:
    with pytest.raises(UserError) as raised:
        RLConfig.from_args(parse_rl_args(["--model-path", "sft/RUN", "--datasets", "nanolean", *words], ""))
    assert str(raised.value) == said


def test_rl_without_a_preset_is_that_of_the_quickstart_for_a_small_network_on_nanolean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small.save_model(tmp_path)
    model = ["--model-path", str(tmp_path)]
    readme = parse_rl_args(model, "")
    assert re.search(r"^preset small: [0-9,]+ parameters, on NanoLean \(", capsys.readouterr().out)
    quickstart = Quickstart(QuickstartOptions(), tmp_path, small_runs.Commands()).rl_command(tmp_path)
    flags = [word for word in quickstart if word.startswith("--")]
    assert len(flags) < 9  # `train` adds --run-dir, and the quickstart how long it takes
    own = {flag[2:].replace("-", "_") for flag in flags}
    same = {name: value for name, value in vars(parse_rl_args(quickstart[1:], "")).items() if name not in own}
    assert same == {name: value for name, value in vars(readme).items() if name not in own}
    assert (readme.datasets, readme.eval_start, readme.search_dead_end_expansions) == (small_runs.SETS, "never", 2)
    given = parse_rl_args([*model, "--mm-trust", "7", "--eval-start"], "")
    assert (given.preset, given.mm_trust, given.mm_trust_proved, given.eval_start) == ("small", 7, 3, "now")
    others = [["--datasets", "nanolean"], ["--lean-servers", "host:1"], ["--preset", "default"]]
    monkeypatch.setattr(checkpoint, "SMALL_PARAMETERS", 100)
    assert [parse_rl_args([*model, *more], "").preset for more in [*others, []]] == ["default"] * 4
    assert parse_rl_args([*model, *others[0]], "").mm_trust == 4


def test_a_small_network_has_steps_beside_its_own_unless_the_flag_says_otherwise(tmp_path: Path) -> None:
    small.save_model(tmp_path)
    model = ["--model-path", str(tmp_path)]
    for words, steps in (
        (model, STEPS_OF_SMALL),
        ([*model, "--step-tactics", "0"], 0),
        ([*model, "--lean-servers", "host:1"], None),
        ([*model, "--whole-proof"], None),
        ([], None),
    ):
        args = prove_args(["theorem t : True", *words])
        follow_network(args)
        assert args.step_tactics == steps
    assert parse_rl_args(model, "").step_tactics is None, "RL has none"


@pytest.mark.parametrize(("words", "tokens"), [([], 64), (["--proof-max-new-tokens", "20"], 20)])
def test_whole_proofs_are_as_long_as_a_small_network_can_write(words: list[str], tokens: int, tmp_path: Path) -> None:
    small.save_model(tmp_path)
    args = prove_args(["theorem t : True", "--whole-proof", "--model-path", str(tmp_path), *words])
    follow_network(args)
    assert args.proof_max_new_tokens == tokens


def test_proofs_are_looked_for_in_the_folder_of_runs_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check_with_lean quickstart/proofs`, as the quickstart's last lines name it, from wherever one is."""
    home, here = tmp_path / "home", tmp_path / "here"
    (home / "quickstart" / "proofs").mkdir(parents=True)
    here.mkdir()
    monkeypatch.setenv("NANOPROOF_HOME", str(home))
    monkeypatch.chdir(here)
    looked: list[Path] = []

    def report(folder: Path, *_: object) -> int:
        looked.append(folder)
        return 0

    monkeypatch.setattr(check_with_lean, "report_certificates", report)
    words = ["quickstart/proofs", "--lean", "nanolean", "--certificates"]
    assert check_with_lean.main(words) == 0
    (here / "quickstart" / "proofs").mkdir(parents=True)
    assert check_with_lean.main(words) == 0
    assert looked == [home / "quickstart" / "proofs", Path("quickstart/proofs")]
