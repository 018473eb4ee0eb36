"""Going on with a run: options that are kept, that changed, and that clash; records that are made anew."""

import json
import shutil
from pathlib import Path

import pytest

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_json, read_jsonl
from nanoproof.common.retired import RETIRED
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.training.options import ModelOptions, RunOptions, StartOptions, TriggerOptions
from nanoproof.training.setup import changes, describe, drop_superseded, parse_resumable, saved_decisions
from tests.training import small

WORDS = small.tokenizer()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run directory of a model with depth 2 that was started with `--eval-every 7steps --seed 4`."""
    folder = tmp_path_factory.mktemp("run")
    save_checkpoint(folder, 3, small.model(WORDS), WORDS)
    args = vars(parser().parse_args(["--eval-every", "7steps", "--seed", "4", "--depth", "2"]))
    (folder / "args.json").write_text(json.dumps(args))
    (folder / "meta.json").write_text(json.dumps({"decisions": {"ranks": "2 (torchrun)", "device": "cpu (asked for)"}}))
    return folder


def parser():
    made = Parser()
    for group in (RunOptions, StartOptions, TriggerOptions, ModelOptions):
        add_flags(made, group)
    return made


def parse(*words):
    return parse_resumable(parser(), [str(word) for word in words])


def test_a_resumed_run_keeps_its_options_and_its_directory(run):
    args = parse("--resume-from", run)
    assert (args.eval_every, args.seed, args.depth, args.run_dir) == ("7steps", 4, 2, str(run))


@pytest.fixture
def damaged(run, tmp_path):
    """A copy of the run in which something may be damaged."""
    return Path(shutil.copytree(run, tmp_path / "run"))


@pytest.mark.parametrize("content", ["", '{"seed": 4, "eval_', "[4]", "null"])
def test_damaged_options_are_named_with_the_way_to_go_on(damaged, content):
    (damaged / "args.json").write_text(content)
    with pytest.raises(UserError, match=r"/args\.json is damaged, which holds .*; write \{\} into it"):
        parse("--resume-from", damaged)
    (damaged / "args.json").write_text("{}")
    assert parse("--resume-from", damaged, "--seed", "4").seed == 4


def test_a_seed_that_no_generator_takes_is_refused():
    with pytest.raises(UserError, match="--seed must be <= 2147483647, got 4294967296"):
        from_args(RunOptions, parse("--seed", 2**32))


def test_an_option_that_is_gone_is_ignored_where_it_was_off_and_refused_by_name_where_it_was_on(damaged):
    saved = read_json(damaged / "args.json")
    companions = {"hindsight_tactics": 7, "conjecture_window": 3}  # of what was off: their values did nothing
    atomic_write_json(damaged / "args.json", {**saved, **RETIRED, **companions, "search_algorithm": "best-first"})
    assert vars(parse("--resume-from", damaged)).keys().isdisjoint(RETIRED)
    used = {"search_reuse_proofs": True, "search_root": "halving", "search_algorithm": "ao-star"}
    for name, value in used.items():
        atomic_write_json(damaged / "args.json", {**saved, **RETIRED, name: value})
        with pytest.raises(UserError, match=rf"used --{name.replace('_', '-')} {value}, which is no more"):
            parse("--resume-from", damaged)


@pytest.mark.parametrize("flag", ["--search-reuse-proofs", "--no_search_normalize_values", "--search-root=halving"])
def test_a_flag_that_is_gone_says_so(flag, capsys):
    with pytest.raises(SystemExit):
        parse(flag)
    assert f"{flag.partition('=')[0]}" in (said := capsys.readouterr().err) and "no more" in said


@pytest.mark.parametrize("content", ["", '{"decisions": {"ra', "[4]", '{"decisions": 4}'])
def test_without_meta_the_surroundings_are_not_compared(damaged, content):
    (damaged / "meta.json").write_text(content)
    assert changes(damaged, {"seed": 5}, {"ranks": "1 (alone)"}) == {"--seed": (4, 5)}
    assert saved_decisions(damaged) is None


def test_an_option_that_is_given_wins_even_if_it_is_the_default(run):
    assert parse("--resume-from", run, "--eval-every", "200steps").eval_every == "200steps"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--resume-from", "RUN", "--depth", "26"], "--depth 26 clashes with --resume-from .*that model has 2"),
        (["--resume-from", "RUN", "--seed", "0"], "--seed 0 clashes with --resume-from .*that run has 4"),
        (["--resume-from", "RUN", "--tokenizer", "x"], "--tokenizer clashes with --resume-from"),
        (["--resume-from", "RUN", "--model-path", "x"], "--model-path .* and --resume-from .* clash"),
        (["--resume-from", "RUN", "--run-dir", "x"], "--run-dir clashes with --resume-from"),
        (["--model-path", "RUN", "--head-dim", "128"], "--head-dim 128 clashes with --model-path .*that model has 16"),
        (["--resume-from", "nowhere"], "--resume-from nowhere: nothing there"),
    ],
)
def test_options_that_clash_are_named(run, words, message):
    with pytest.raises(UserError, match=message):
        parse(*(run if word == "RUN" else word for word in words))


def test_an_option_that_says_what_the_checkpoint_says_is_fine(run):
    assert parse("--model-path", run, "--depth", "2").depth == 2
    assert parse("--resume-from", run, "--depth", "2", "--seed", "4").seed == 4


def test_a_directory_with_a_checkpoint_but_without_options_is_no_run(run, tmp_path):
    save_checkpoint(tmp_path, 1, small.model(WORDS), WORDS)
    with pytest.raises(UserError, match=r"no args\.json there"):
        parse("--resume-from", tmp_path)


def test_what_differs_from_the_last_start_is_told_in_one_line(run):
    args = vars(parse("--resume-from", run, "--eval-every", "9steps", "--loggers", "wandb"))
    changed = changes(run, args, {"ranks": "1 (started alone)", "device": "cpu (the first available)"})
    assert describe(changed) == "--loggers (nothing) -> wandb, --eval-every 7steps -> 9steps, ranks 2 -> 1"


def test_records_after_the_checkpoint_are_dropped(tmp_path):
    path = tmp_path / "metrics.jsonl"
    lines = [json.dumps({"step": step, "loss": 1.5}) + "\n" for step in (1, 2, 3, 4)]
    path.write_text("[1]\n" + "".join(lines) + '{"step": 5, "lo')
    assert drop_superseded(path, 2) == 3
    assert [record["step"] for record in read_jsonl(path)] == [1, 2]
    assert drop_superseded(path, 2) == 0


def test_a_run_without_metrics_has_nothing_to_drop(tmp_path):
    assert drop_superseded(tmp_path / "metrics.jsonl", 2) == 0
