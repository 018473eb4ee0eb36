"""Rounds of self-play for models that write whole proofs: generate, verify, choose, train, and again.

A round that was killed goes on where it was: conjectures and attempts are logged as they come, verdicts are never asked
for twice, and what is computed from them is computed again. Whoever trains is given, so that this package stays below
the commands: `train(values)` is `python -m nanoproof.sft` in this process, with these values of its options.
"""

import argparse
import hashlib
import logging
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.distributed import DistInfo, choose_device, cleanup, init_distributed
from nanoproof.common.errors import UserError
from nanoproof.common.files import JsonlWriter, atomic_write_json, atomic_write_text, read_jsonl, read_object
from nanoproof.common.run_dir import FINISHED, RunLock, home, is_foreign, resolve_model_path
from nanoproof.data.weighted_rows import Row, read_packed_json, read_rows, write_packed_json, write_rows
from nanoproof.evaluation.command import EvalCommand, opened, repeatable
from nanoproof.evaluation.plan import EvalOptions, Target, add_eval_flags, parse_eval_args, plan
from nanoproof.evaluation.results import SETTINGS
from nanoproof.evaluation.sample_files import WholeProofOptions
from nanoproof.evaluation.statements import theorem_line
from nanoproof.inference.language_model import WHOLE_PROOF_TOKENS, GenerationOptions, LanguageModel, batches_at_once
from nanoproof.inference.model_options import HFOptions, LanguageModelOptions
from nanoproof.model.checkpoint import config_at
from nanoproof.model.checkpoint_files import find_checkpoint
from nanoproof.model.checkpoint_files import read_manifest as read_checkpoint
from nanoproof.policy.models import open_language_model
from nanoproof.policy.policy_options import TextModelOptions
from nanoproof.policy.prompt_formats import known_format
from nanoproof.selfplay import formulas
from nanoproof.selfplay.files import (
    SETTINGS_FILE,
    Prompts,
    Refusal,
    RoundFiles,
    example_to_json,
    finished_rounds,
    load_lemmas,
    load_problems,
    problem_from_json,
    problem_to_json,
    renamed,
    theorem_of,
    without_verdict,
)
from nanoproof.selfplay.formulas import HARD_END, Example, Problem, Record, Seed, State
from nanoproof.selfplay.selfplay_options import SelfPlayOptions

log = logging.getLogger(__name__)

Train = Callable[[Mapping[str, Any]], int]
OpenCommand = Callable[[argparse.Namespace, Sequence[Target]], AbstractContextManager[EvalCommand]]
"""Opens an evaluation, as `opened` does."""
Spread = Callable[[LanguageModel], AbstractContextManager[LanguageModel]]
"""Has whoever there is write the texts of a model."""
# As published (arXiv 2502.00212 and its program): seed of the training, steps, warmup, the part of a round's attempts
# that may stay without a verdict.
TRAIN_SEED = 2333
LEAST_STEPS, LEAST_STEPS_FINAL = 5, 10
WARMUP_STEPS = 5
MOST_WITHOUT_VERDICT = 0.005
BATCH = 32
"""Pairs that the conjecturer is asked about at a time."""


PATH_OPTIONS = ("model_path", "dataset_config", "theorem_dict", "sft")
"""Options whose texts may be paths, which have several spellings."""


def _same_path(one: str | None, other: str | None) -> bool:
    """Tell whether two texts name the same file or folder, each maybe behind `hf:`, or are equal."""
    if one is None or other is None or one.startswith("hf:") != other.startswith("hf:"):
        return one == other
    try:
        paths = [resolve_model_path(text.removeprefix("hf:")) for text in (one, other)]
    except UserError:  # a model of the hub, or of an endpoint
        return one == other
    return paths[0].samefile(paths[1])


# -- The experiment --------------------------------------------------------------------------------------------------


def chance(number: int, purpose: str) -> random.Random:
    """Return the generator for one purpose in a round, the same however often it is asked for."""
    # One for each purpose: a round that goes on skips what is done, and must still draw the same for the rest.
    return random.Random(f"{number} {purpose}")


def request_seed(number: int, index: int) -> int:
    """Return the seed of one request of a round."""
    # Copies of a prompt have different ones: with one seed for all, as in the published program, an engine that honours
    # it gives the same text for each.
    return int.from_bytes(hashlib.blake2b(f"{number}/{index}".encode(), digest_size=6).digest(), "little")


class Experiment:
    """An experiment in its directory. `play` goes through the rounds from where it is."""

    def __init__(
        self, options: SelfPlayOptions, train: Train, open_command: OpenCommand = opened, spread: Spread = nullcontext
    ) -> None:
        """`open_command` opens the evaluation in which the proofs of a round are written and verified, and `spread` is
        for the model that writes conjectures.
        """
        assert options.exp_dir is not None and options.dataset_config is not None
        self.options, self._train, self._open, self._spread = options, train, open_command, spread
        self.path = Path(options.exp_dir).expanduser()
        self.dataset = load_problems(Path(options.dataset_config).expanduser())
        self.keys = {problem.key for problem in self.dataset}
        self._sft = [] if options.sft is None else read_rows(Path(options.sft).expanduser())
        self._lemmas = load_lemmas(options.theorem_dict)
        self._refusal: Refusal | None = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the directory against other processes, and check that it is of these options."""
        self.path.mkdir(parents=True, exist_ok=True)
        lock = RunLock(self.path)
        try:
            self._check_settings()
            (self.path / FINISHED).unlink(missing_ok=True)  # with more rounds it goes on
            yield
        finally:
            lock.release()

    def _check_settings(self) -> None:
        file = self.path / SETTINGS_FILE
        digest = hashlib.sha256(repr([problem.key for problem in self.dataset]).encode("utf-8", "surrogatepass"))
        ours = {**self.options.decisive(), "dataset_sha256": digest.hexdigest()}
        if not file.exists():
            atomic_write_json(file, ours)
            return
        theirs = read_object(file)
        if theirs is None:
            raise UserError(f"{file} is damaged; remove it if the options are those that the experiment began with")
        for name, value in ours.items():
            if name in PATH_OPTIONS and _same_path(theirs.get(name), value):
                # In the words of the first part: the settings of an evaluation that is continued have them too.
                self.options = replace(self.options, **{name: theirs[name]})
            elif name in theirs and theirs[name] != value:  # an older version did not have all options
                flag = f"--{name.replace('_', '-')}"
                raise UserError(
                    f"{flag} {value}: the experiment in {self.path} has {theirs[name]}; use another --exp-dir"
                )

    # -- rounds ----------------------------------------------------------------------------------------------------

    def play(self) -> int:
        """Play the rounds; returns 1 if one finds nothing to learn from, and 130 after a signal."""
        state, rounds = State(), finished_rounds(self.path, self.options.rounds)
        spec = str(self.options.model_path)
        for number in range(self.options.rounds):
            files = RoundFiles.of(self.path, number)
            if number == len(rounds):
                self._generate(files, state, spec)
                rounds.append(files.read_generated())
            state = formulas.book(state, rounds[number], self.keys)
            log.info(
                "round %d: %.3f%% of %d statements proved so far",
                number,
                formulas.cumulative_rate(state, self.keys),
                len(self.keys),
            )
            if self.options.sampler == "parallel":
                continue
            if not files.train_set.exists() and not self._choose(files, state, rounds[: number + 1], spec):
                log.error("round %d has no new proofs to learn from", number)
                return 1
            start = spec
            if self.options.sampler == "expert":  # trained anew each time, on all rounds so far
                start = str(self.options.model_path)
            trained = self._finetune(files, start, LEAST_STEPS)
            if trained is None:
                return 130
            spec = trained
        log.info("all %d rounds are over; model: %s", self.options.rounds, spec)
        (self.path / FINISHED).touch()
        return 0

    def _prompts(self, spec: str) -> Prompts:
        return Prompts(spec, self._texts(spec), self.options.legacy_prompts)

    def _texts(self, spec: str) -> TextModelOptions:
        backend = LanguageModelOptions(HFOptions(dtype=self._dtype(spec)))
        return TextModelOptions(prompt_format=self._format(spec), backend=backend)

    def _dtype(self, spec: str) -> Literal["auto", "float64"]:
        """Return the type for a model of transformers: on a CPU that in which no sample depends on its batch.

        A round that goes on makes other batches, by which log-probabilities in float32 differed by up to 6e-6
        (docs/self-play.md). For networks of ours `repeatable` chooses.
        """
        on_cpu = choose_device(self.options.device_type)[0].type == "cpu"
        if on_cpu and spec.startswith("hf:") and not os.environ.get("NANOPROOF_DTYPE"):
            return "float64"
        return "auto"

    def _format(self, spec: str) -> str | None:
        if self.options.prompt_format is None and is_foreign(spec) and known_format(spec, "proof") is None:
            return "stp"
        return self.options.prompt_format

    def _tokens(self, spec: str) -> int:
        """Return the tokens of a text: unless given, those of a network of ours are at most half of what it reads."""
        most = self.options.max_tokens
        config = None if is_foreign(spec) or most != WHOLE_PROOF_TOKENS else config_at(spec)
        return most if config is None else min(most, config.sequence_len // 2)

    # -- generation ------------------------------------------------------------------------------------------------

    def _generate(self, files: RoundFiles, state: State, spec: str) -> None:
        """Make the attempts of a round, and write them with their verdicts."""
        file = files.work / "attempted.json.gz"
        if not file.exists():
            write_packed_json(file, [problem_to_json(problem) for problem in self._problems(files, state, spec)])
        # Read back also when they were written just now: the log names problems by their numbers in this file.
        problems = [problem_from_json(data) for data in read_packed_json(file)]
        if problems:
            self._attempt(files, problems, spec)
        records = files.collect(problems)
        lost = samples = 0
        for record in records:
            samples += record["multiplicity"]
            if without_verdict(record):
                lost += record["multiplicity"]
        if lost > MOST_WITHOUT_VERDICT * samples:
            raise UserError(
                f"round {files.number}: {lost} attempts have no verdict; with Lean back, the command goes on"
            )
        write_packed_json(files.generated, records)

    def _problems(self, files: RoundFiles, state: State, spec: str) -> list[Problem]:
        """Choose what a round tries, conjectures included, in random order."""
        options, number = self.options, files.number
        chosen: Sequence[Problem] = self.dataset
        if 0 < options.statements_per_round < len(self.dataset):
            chosen = chance(number, "statements").sample(self.dataset, options.statements_per_round)
        problems = list(chosen)
        if options.sampler == "expert":
            problems = formulas.attempted_by_experts(chosen, state)
        elif options.sampler == "selfplay":
            seeds = formulas.conjecture_seeds(state, self._lemmas, len(chosen), chance(number, "seeds"))
            if seeds:  # none in the first round, which tries the whole data set
                conjectures = self._conjectures(files, chosen, seeds, spec)
                problems = formulas.attempted(chosen, conjectures, state, chance(number, "again"))
        chance(number, "order").shuffle(problems)
        return problems

    def _conjectures(
        self, files: RoundFiles, chosen: Sequence[Problem], seeds: Sequence[Seed], spec: str
    ) -> list[Problem]:
        """Have conjectures written, or read those that were, and choose the new ones."""
        options = self.options
        least = options.conjecture_multiplier
        count = formulas.samples_per_pair(len(chosen), len(seeds), least)
        log.info("round %d: %d conjectures for each of %d pairs", files.number, count, len(seeds))
        path = files.work / "conjectures.jsonl"
        texts_of: dict[int, list[str]] = {}
        if path.exists():
            texts_of = {row["pair"]: row["texts"] for row in read_jsonl(path)}
        todo = [index for index in range(len(seeds)) if index not in texts_of]
        if todo:
            prompts = self._prompts(spec)
            how = GenerationOptions(count, self._tokens(spec), options.temperature, stop=(HARD_END,))
            writer = JsonlWriter(path)
            try:
                with self._opened(spec) as (model, _), self._spread(model) as spread:
                    size = BATCH * batches_at_once(spread)
                    for first in range(0, len(todo), size):
                        part = todo[first : first + size]
                        part_prompts, part_seeds = [], []
                        for index in part:
                            part_prompts.append(prompts.ask(seeds[index]))
                            part_seeds.append(request_seed(files.number, index))
                        generated = spread.generate(part_prompts, how, part_seeds)
                        for index, samples in zip(part, generated, strict=True):
                            texts_of[index] = [sample.text for sample in samples]
                            writer.write({"pair": index, "texts": texts_of[index]})
            finally:
                writer.close()
        if self._refusal is None:  # once: it reads and elaborates whole benchmarks
            self._refusal = Refusal(options.held_out, embedded=not options.lean_servers)
        reasons_before = Counter(self._refusal.reasons)
        texts = [(seed, text) for index, seed in enumerate(seeds) for text in texts_of[index]]
        conjectures, tally = formulas.new_conjectures(
            texts, self.dataset, len(chosen), chance(files.number, "conjectures"), self._refusal
        )
        reasons = self._refusal.reasons - reasons_before
        counts = []
        for name, number in tally.items():
            text = f"{number} {name}"
            if name == "refused" and reasons:
                text += f" ({', '.join(f'{number} {reason}' for reason, number in reasons.items())})"
            counts.append(text)
        log.info("round %d: conjectures: %s", files.number, ", ".join(counts))
        tally.update({f"refused: {reason}": number for reason, number in reasons.items()})
        atomic_write_json(files.work / "conjectures.json", {"pairs": len(seeds), **tally})
        return [renamed(conjecture, self._lemmas) for conjecture in conjectures]

    @contextmanager
    def _opened(self, spec: str) -> Iterator[tuple[LanguageModel, DistInfo]]:
        """Open a model, computing as evaluations do."""
        dist = init_distributed(self.options.device_type)
        try:
            dist, _ = repeatable(dist, EvalOptions(policy="uniform"))
            with open_language_model(spec, dist, self._texts(spec)) as model:
                yield model, dist
        finally:
            cleanup()

    def _attempt(self, files: RoundFiles, problems: Sequence[Problem], spec: str) -> None:
        """Have proofs of all problems written and verified; goes on with what is there."""
        theorems = files.work / "problems.jsonl"
        sources = [theorem_of(problem, str(index)) for index, problem in enumerate(problems)]
        atomic_write_text(theorems, "".join(map(theorem_line, sources)))
        parser = Parser(prog="python -m nanoproof.selfplay")
        add_eval_flags(parser)
        add_flags(parser, WholeProofOptions)
        args = parse_eval_args(parser, self._evaluation_options(files, theorems, spec))
        targets = plan(from_args(EvalOptions, args), "whole")
        with self._open(args, targets) as command:
            command.run(targets, [args.seed] * len(targets), lambda job, summary: None)

    def _evaluation_options(self, files: RoundFiles, theorems: Path, spec: str) -> dict[str, Any]:
        """Return the options of `prover_eval` with which a round is evaluated, by name."""
        options = self.options
        samples = options.samples
        if files.number == 0:
            samples = options.samples_first
        return {
            "whole_proofs": True,
            "samples": samples,
            "model_path": (spec,),
            "datasets": (str(theorems),),
            "output_dir": str(files.attempts),
            "seed": files.number,
            "proof_temperature": options.temperature,
            "proof_max_new_tokens": self._tokens(spec),
            "proof_seconds": options.timeout,
            "lean_processes": options.lean_processes,
            "lean_patience": options.lean_patience,
            "lean_servers": options.lean_servers,
            "lean_token": options.lean_token,
            "model_dtype": self._dtype(spec),
            "device_type": options.device_type,
            "prompt_format": self._format(spec),
            # Where it was begun, texts with a verdict are not verified again.
            "continue_": (files.attempts / SETTINGS).exists(),
        }

    # -- what is learned -------------------------------------------------------------------------------------------

    def _choose(self, files: RoundFiles, state: State, rounds: Sequence[Sequence[Record]], spec: str) -> bool:
        """Write the training set of a round; returns False if there are no proofs in it."""
        prompts, number = self._prompts(spec), files.number
        examples: list[Example] = []
        replayed = formulas.replay(state)
        if self.options.sampler == "expert":
            learned = formulas.final_records(rounds, self.keys, False, chance(number, "final"))
            proofs = formulas.final_rows(learned, prompts.proof)
        else:
            proofs = formulas.proof_rows(replayed, prompts.proof, self.options.time_decay)
            hard = formulas.hard_conjectures(rounds[number])
            kept = formulas.elegant(hard, state.records)
            examples = self._matched(kept, state, number, spec)
            log.info("round %d: %d hard conjectures, %d elegant, %d matched", number, *map(len, (hard, kept, examples)))
        if not proofs:
            return False
        new = [*proofs, *formulas.conjecture_rows(examples, prompts.conjecture)]
        rows = formulas.shuffled([*self._sft, *new], random.Random(TRAIN_SEED))
        write_packed_json(
            files.folder / "conjecture_examples.json.gz", [example_to_json(example) for example in examples]
        )
        _write_metrics(files.folder, rows, new, rounds[number], replayed, examples, state, self.keys)
        write_rows(files.train_set, rows)  # last: `play` takes it for the sign that all of this was written
        return True

    def _matched(self, examples: Sequence[Example], state: State, number: int, spec: str) -> list[Example]:
        """Weigh conjectures by how they match what is unproved, by the embeddings of the model that wrote them."""
        unproved, multiplicities = [], []
        for problem in self.dataset:
            if problem.key not in state.proved:
                unproved.append(problem.statement)
                multiplicities.append(problem.matching_weight)
        if not examples or not unproved:
            return list(examples)
        with self._opened(spec) as (model, _):
            conjectures_NC = np.asarray(model.embed([example.problem.statement for example in examples]))
            unproved_QC = np.asarray(model.embed(unproved))
        weights = formulas.match_weights(conjectures_NC, unproved_QC, multiplicities, chance(number, "matching"))
        return formulas.matched(examples, weights)

    def _finetune(self, files: RoundFiles, spec: str, least: int, final: bool = False) -> str | None:
        """Train on a training set; returns the SPEC of what comes of it, None if a signal ended that."""
        rows = len(read_rows(files.train_set))
        steps = max(int(self.options.epochs * rows) // self.options.batch, least)
        # `done` is what a training writes last.
        if is_foreign(spec):
            done, checkpoints = files.model / f"checkpoint-{steps}", "checkpoint-*"
            result = f"hf:{done.resolve()}"
        else:
            done, checkpoints = files.model / f"model_{steps}.json", "model_*.json"
            result = str(files.model.resolve())
        if done.exists():
            return result
        resumable = any(files.model.glob(checkpoints))
        if resumable:
            values: dict[str, Any] = {"resume_from": str(files.model)}
        else:
            values = self._training_options(files, spec, steps, rows, final)
            if files.model.exists():  # it was killed before its first checkpoint, and a run is not begun in its place
                shutil.rmtree(files.model)
        log.info("%s: %d rows, %d steps", files.model, rows, steps)
        code = self._train(values)
        if code:
            raise UserError(f"the training in {files.model} ended with code {code}")
        if not done.exists():
            return None
        return result

    def _training_options(self, files: RoundFiles, spec: str, steps: int, rows: int, final: bool) -> dict[str, Any]:
        """Return the options of `sft` with which a round is learned from, by name."""
        options = self.options
        values: dict[str, Any] = {
            "model_path": spec,
            "data": str(files.train_set),
            "run_dir": str(files.model.absolute()),
            # So many epochs that rounding up gives the steps.
            "epochs": (steps - 0.5) * options.batch / rows,
            "seed": TRAIN_SEED,
            "target_examples_per_step": options.batch,
            "eval_every": "never",
            "device_batch_size": options.device_batch_size,
            "save_every": "0:30:00",
            "warmup_frac": min(steps - 1, WARMUP_STEPS) / steps,
            "device_type": options.device_type,
            "lora": options.lora,
        }
        if is_foreign(spec):
            return {**values, **self._foreign_training_options(spec, final)}
        sequence: int = read_checkpoint(find_checkpoint(resolve_model_path(spec)))["config"]["sequence_len"]
        values |= {"row_length": min(options.max_length, sequence), "save_epochs": False}
        return {**values, "init_lr_frac": float(options.lr_frac), "warmdown_frac": 0.0}

    def _foreign_training_options(self, spec: str, final: bool) -> dict[str, Any]:
        """Return the options for models of others: a learning rate that stays, AdamW's constants as published."""
        options, lr = self.options, self.options.lr
        if lr is None and final:
            lr = 1e-4
        elif lr is None:
            lr = 5e-5
        values: dict[str, Any] = {"lr": lr, "constant_lr": True, "beta2": 0.95, "epsilon": 1e-5}
        values |= {"max_length": options.max_length, "prompt_format": self._format(spec)}
        if options.lora:
            values["lora_lr"] = lr
        return values

    # -- the final training ----------------------------------------------------------------------------------------

    def finish(self) -> int:
        """Train the base once on what the rounds of experiments have found; returns 130 after a signal."""
        files, spec = RoundFiles(self.path, -1), str(self.options.base)
        if not files.train_set.exists():
            rounds: list[list[Record]] = []
            for text in self.options.merge:
                rounds += _rounds_to_merge(text)
            random_state = random.Random(TRAIN_SEED)
            learned = formulas.final_records(rounds, self.keys, self.options.include_conjectures, random_state)
            if not learned:
                log.error("the rounds have no proofs to learn from")
                return 1
            new = formulas.final_rows(learned, self._prompts(spec).proof)
            rows = formulas.shuffled([*self._sft, *new], random_state)
            metrics = {**formulas.row_metrics(rows, "combined"), **formulas.row_metrics(new, "RL_new")}
            atomic_write_json(self.path / "metrics.json", metrics)
            write_rows(files.train_set, rows)
        trained = self._finetune(files, spec, LEAST_STEPS_FINAL, final=True)
        if trained is None:
            return 130
        log.info("trained: %s", trained)
        (self.path / FINISHED).touch()
        return 0


def _rounds_to_merge(text: str) -> list[list[Record]]:
    """Read the rounds that `--merge DIR:N` names. Raises UserError if they are not there."""
    folder, _, count = text.rpartition(":")
    if not folder or not count.isdecimal() or int(count) < 1:
        raise UserError(f"--merge {text}: expected DIR:N, an experiment and a number of its rounds")
    path = Path(folder).expanduser()
    if not path.exists():
        path = home() / folder
    rounds = finished_rounds(path, int(count))
    if len(rounds) < int(count):
        raise UserError(f"--merge {text}: {len(rounds)} rounds there are complete")
    return rounds


def _write_metrics(
    folder: Path,
    rows: Sequence[Row],
    new: Sequence[Row],
    records: Sequence[Record],
    replayed: Sequence[Record],
    examples: Sequence[Example],
    state: State,
    keys: set[formulas.Key],
) -> None:
    metrics: dict[str, Any] = {
        "succ rate": formulas.cumulative_rate(state, keys),
        **formulas.row_metrics(rows, "combined"),
        **formulas.row_metrics(new, "RL_new"),
        **formulas.round_metrics(records, replayed, examples),
        "success_rates": formulas.success_histogram(records),
    }
    atomic_write_json(folder / "metrics.json", metrics)
