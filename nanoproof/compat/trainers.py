"""Trainers with the constructors that LeanDojo's users know.

from nanoproof.compat.trainers import RetrievalTrainer, SFTTrainer
SFTTrainer(model_name="FOLDER", output_dir="outputs").train(repos, database, "raid/data/merged")
RetrievalTrainer({"model_name": "FOLDER"}).train(repos, database, "raid/data/merged")
"""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from nanoproof.common.distributed import choose_device
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_json, read_jsonl
from nanoproof.common.run_dir import FINISHED
from nanoproof.model.lora import LoraOptions
from nanoproof.repos.leandojo import CORPUS
from nanoproof.repos.premise_data import read_source
from nanoproof.retrieval.encoders import ENCODER_FOLDER, RETRIEVER_FILE, open_encoder, retriever_folder
from nanoproof.retrieval.index import INDEX_FOLDER
from nanoproof.retrieval.scores import EncoderRanks, evaluate
from nanoproof.retrieval.training import TrainOptions, train_retriever
from nanoproof.training.hub_finetuning import OPTIMIZER_FILE, PREFIX, checkpoint_steps, hub_main, last_checkpoint

PASSES = "passes"
"""Folder of the output that has a run directory for each repository of the curriculum."""


class Database(Protocol):
    """What a trainer asks of a database of repositories."""

    def export_merged_data(self, repositories: list[Any], output_path: Path) -> object:
        """Write the data of these repositories to a folder, in place of what is there."""
        ...


class SFTTrainer:
    """Finetunes a model of transformers on the tactics of repositories, one more repository in each pass."""

    def __init__(
        self,
        model_name: str,
        output_dir: str | Path = "outputs",
        epochs_per_repo: float = 1,
        batch_size: int = 1,
        lr: float = 2e-5,
        lora_config: Any = None,
        prompt_format: str | None = None,
    ) -> None:
        """`model_name` is a folder or an id of the hub; `lora_config` a `peft.LoraConfig`, whose r, lora_alpha,
        target_modules and lora_dropout count, or `LoraOptions`. `prompt_format` is as of `--prompt-format`.
        """
        self.model_name, self.output_dir = model_name, Path(output_dir).expanduser()
        self.epochs_per_repo, self.batch_size, self.lr = epochs_per_repo, batch_size, lr
        self.lora_config, self.prompt_format = lora_config, prompt_format

    def train(self, repos: Sequence[Any], database: Database | None, data_path: str | Path) -> dict[str, float]:
        """Train on the repositories in their order: in each pass on all so far, exported to `data_path`.

        Without a database a single pass is made on the export that is there. What is trained is in `output_dir` after
        each pass, as transformers (or peft) loads it; returns the metrics of the last one. A call that was killed goes
        on where it was. Raises UserError for data and models that cannot be used, and if a signal ended a pass.
        """
        data = Path(data_path).expanduser()
        if database is not None and not repos:
            raise UserError("there are no repositories to train on: set one up first")
        source, run = self.model_name, self.output_dir
        for number in range(1 if database is None else len(repos)):
            name = "data" if database is None else _name(repos[number])
            run = self.output_dir / PASSES / f"{number:03d}_{name}"
            if not (run / FINISHED).exists():
                if database is not None:
                    database.export_merged_data(list(repos[: number + 1]), data)
                hub_main(self._words(source, run, data), "Finetune a model of transformers.")
            if not (run / FINISHED).exists():
                raise UserError(f"{run}: stopped before its end; call train again to go on")
            checkpoint = last_checkpoint(run)
            publish(checkpoint, self.output_dir)
            source = str(checkpoint)
        metrics: dict[str, float] = {}
        for record in read_jsonl(run / "metrics.jsonl"):
            metrics |= {name: value for name, value in record.items() if isinstance(value, (int, float))}
        return metrics

    def _words(self, source: str, run: Path, data: Path) -> list[str]:
        """The command line of a pass: a new one, or the rest of one that was killed."""
        if run.is_dir() and checkpoint_steps(run):
            return ["--resume-from", str(run.absolute())]
        shutil.rmtree(run, ignore_errors=True)  # killed before its first checkpoint: nothing is lost
        words = ["--model-path", PREFIX + source, "--data", str(data), "--run-dir", str(run)]
        words += ["--epochs", str(self.epochs_per_repo), "--lr", str(self.lr)]
        words += ["--target-examples-per-step", str(self.batch_size), "--device-batch-size", str(self.batch_size)]
        words += ["--prompt-format", self.prompt_format] if self.prompt_format else []
        return words + _lora_words(self.lora_config, self.lr)


def _lora_words(config: Any, lr: float) -> list[str]:
    if config is None:
        return []
    if isinstance(config, LoraOptions):
        rank, alpha, targets, dropout = config.lora, config.lora_alpha, config.lora_targets, config.lora_dropout
    else:
        modules = config.target_modules or "q,k,v,o"
        targets = modules if isinstance(modules, str) else ",".join(sorted(modules))
        rank, alpha, dropout = config.r, config.lora_alpha, config.lora_dropout
    words = ["--lora", str(rank), "--lora-alpha", str(alpha), "--lora-targets", targets]
    return [*words, "--lora-dropout", str(dropout), "--lora-lr", str(lr)]


def _name(repo: Any) -> str:
    """A name for a folder: of a repository's name, or of its URL."""
    found = repo.get("name") or repo.get("url") if isinstance(repo, dict) else None
    found = found or getattr(repo, "name", None) or getattr(repo, "url", None) or str(repo)
    return re.sub(r"[^\w.-]+", "_", str(found)).strip("._")[-80:] or "repository"


def publish(checkpoint: Path, output_dir: Path) -> None:
    """Copy a checkpoint to the output folder without the optimizer's state, each file whole or not at all."""
    output_dir.mkdir(parents=True, exist_ok=True)
    for file in sorted(checkpoint.iterdir()):
        if file.is_file() and file.name != OPTIMIZER_FILE:
            fresh = output_dir / f".{file.name}.tmp"
            shutil.copyfile(file, fresh)
            os.replace(fresh, output_dir / file.name)


class RetrievalTrainer:
    """Trains a premise retriever on repositories, one more repository in each pass, each from the last one's result."""

    def __init__(self, config: Any = None, output_dir: str | Path = "raid/retriever") -> None:
        """`config` is a TrainingConfig, or any object or dict with such fields: `model_name`, `lr`, `warmup_steps`,
        `max_seq_len`, `batch_size`, `accumulate_grad_batches`, `gradient_clip_val`, `num_negatives`,
        `num_in_file_negatives`, `max_epochs`, `seed`; what is missing is as of `python -m nanoproof.retrieval train`.
        `model_name` is an id of the hub or a folder of transformers, or what `--encoder` takes.
        """
        self.config, self.output_dir = config, Path(output_dir).expanduser()
        self.data_path: Path | None = None

    def train(
        self,
        repos: Sequence[Any],
        database: Database | None,
        data_path: str | Path = "raid/data/merged",
        model_checkpoint_path: str | Path | None = None,
    ) -> dict[str, float]:
        """Train on the repositories in their order: in each pass on all so far, exported to `data_path`.

        Without a database a single pass is made on the export that is there. The first pass starts from
        `model_checkpoint_path`, or from the config's model. `output_dir` has the retriever after each pass; returns
        the scores on `val` of the last one. A call that was killed goes on with the pass that was not over. Raises
        UserError for data and models that cannot be used.
        """
        if database is not None and not repos:
            raise UserError("there are no repositories to train on: set one up first")
        self.data_path = data = Path(data_path).expanduser()
        source = str(model_checkpoint_path or self._encoder())
        scores: dict[str, float] = {}
        for number in range(1 if database is None else len(repos)):
            name = "data" if database is None else _name(repos[number])
            run = self.output_dir / PASSES / f"{number:03d}_{name}"
            if not (run / FINISHED).exists():
                if database is not None:
                    database.export_merged_data(list(repos[: number + 1]), data)
                shutil.rmtree(run, ignore_errors=True)
                encoder = open_encoder(source, self._field("max_seq_len", None), choose_device()[0])
                part = read_source(str(data)).data("random")
                found = train_retriever(encoder, [part], self._options(), run, {"encoder": source})
                best = {} if found is None or found.scores is None else asdict(found.scores)
                atomic_write_json(run / FINISHED, best)
            scores = read_json(run / FINISHED)
            for folder in (ENCODER_FOLDER, INDEX_FOLDER):
                shutil.copytree(run / folder, self.output_dir / folder, dirs_exist_ok=True)
            shutil.copyfile(run / RETRIEVER_FILE, self.output_dir / RETRIEVER_FILE)
            source = str(run)
        return scores

    def evaluate(self, dataset_path: str | Path | None = None) -> dict[str, float]:
        """Return R@1 and R@10 (percent) and MRR on `random/test.json` of a data set, by default the one trained on.

        A folder of several data sets gives the scores of the last one; each is printed.
        """
        path = self.data_path if dataset_path is None else Path(dataset_path).expanduser()
        if path is None:
            raise UserError("evaluate needs a data set: train first, or name one")
        inside = sorted(each.parent for each in path.glob(f"*/{CORPUS}")) if path.is_dir() else []
        ranks = EncoderRanks(open_encoder(str(self.output_dir), None, choose_device()[0]))
        found: dict[str, float] = {}
        for folder in [path] if (path / CORPUS).is_file() else inside or [path]:
            source = read_source(str(folder))
            scores, _ = evaluate(ranks, source.corpus, source.queries("random", "test"))
            print(f"{folder}: {scores}")
            found = {"R@1": scores.recall_at_1, "R@10": scores.recall_at_10, "MRR": scores.mrr}
        return found

    def _field(self, name: str, default: Any) -> Any:
        config = self.config
        found = config.get(name) if isinstance(config, dict) else getattr(config, name, None)
        return default if found is None else found

    def _encoder(self) -> str:
        name = self._field("model_name", None)
        if name is None:
            raise UserError("name what to start from: model_name of the config, or model_checkpoint_path")
        ours = retriever_folder(str(name)) is not None or str(name).startswith(PREFIX)
        ours = ours or bool(sorted(Path(str(name)).expanduser().glob("model_*.json")))
        return str(name) if ours else f"{PREFIX}{name}"

    def _options(self) -> TrainOptions:
        plain = TrainOptions()
        return TrainOptions(
            epochs=self._field("max_epochs", plain.epochs),
            batch_size=self._field("batch_size", plain.batch_size),
            accumulate=self._field("accumulate_grad_batches", plain.accumulate),
            lr=self._field("lr", plain.lr),
            warmup_steps=self._field("warmup_steps", plain.warmup_steps),
            max_grad_norm=self._field("gradient_clip_val", plain.max_grad_norm),
            num_negatives=self._field("num_negatives", plain.num_negatives),
            num_in_file_negatives=self._field("num_in_file_negatives", plain.num_in_file_negatives),
            seed=self._field("seed", plain.seed),
        )
