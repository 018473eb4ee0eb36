"""From a model to its score on miniF2F, and back to every proof: `bash runs/minif2f.sh --model-path SPEC`.

bash runs/minif2f.sh --model-path rl/RUN                                            # tree search, 512 simulations
bash runs/minif2f.sh --model-path rl/RUN --whole-proofs hf:ORG/PROVER --whole-flags "--prompt-format NAME"
bash runs/minif2f.sh --model-path rl/RUN --dry-run                                  # the commands alone
bash runs/minif2f.sh --rehearsal                                                    # the same stages on NanoLean, small

Every stage is a command that users run themselves: data, Lean project, server, probe of it, evaluations (solvers alone,
no network with solvers, the model's search, whole proofs), pass@k, comparisons, a second check of every proof, and
workspaces for public judges. What is finished is not run again, what was stopped resumes. `table.txt` and
`summary.json` in the output directory hold the result; `--rehearsal` needs no Lean, no GPU and nothing downloaded.
"""

import os
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psutil

from nanoproof.common.config import (
    ConfigError,
    Parser,
    add_flags,
    change,
    check,
    from_args,
    group,
    opt,
    to_dict,
    validated,
)
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json, atomic_write_text, read_json
from nanoproof.common.option_groups import CheckpointOption, LeanOptions
from nanoproof.common.run_dir import FINISHED, home, versions
from nanoproof.lean.project.layout import LIBRARIES
from nanoproof.lean.transport import TOKEN_VARIABLE
from scripts import small_runs

SETTINGS, DONE, SERVER_LOG = "settings.json", "stages.json", "lean-server.log"
GB_PER_PROCESS = 4.0
"""Memory that a Lean process with Mathlib is given here, as docs/lean-servers.md advises to begin with."""
TITLES = {
    "solvers": "solver tactics alone",
    "no_network": "no network, solvers",
    "search": "the model's tree search, solvers",
    "whole": "whole proofs",
}
"""The evaluations by the names of their directories, in the order of the table."""
COMPARED = (("solvers", "search"), ("no_network", "search"), ("whole", "search"))
SIZES: dict[str, tuple[int | None, int]] = {"simulations": (512, 32), "samples": (32, 8), "max_theorems": (None, 20)}
"""Sizes by default, of the measurement (None: all) and of its rehearsal."""


@validated("minif2f")
class MiniF2FOptions:
    """Measurement."""

    model: CheckpointOption = group(
        CheckpointOption, model_path=change(help="Model to measure: a checkpoint, hf:PATH_OR_ID or openai:URL#MODEL.")
    )
    whole_proofs: str | None = opt(None, "Model that writes whole proofs, of the same kinds.", metavar="SPEC")
    dataset: Literal["minif2f", "proofnet", "putnambench"] = opt("minif2f", "Benchmark to measure on.")
    split: Literal["valid", "test"] = opt("valid", "Which theorems of it.")
    simulations: int | None = opt(None, "Simulations for each theorem; default 512 (32 in a rehearsal).", min=1)
    samples: int | None = opt(None, "Whole proofs of each theorem; default 32 (8 in a rehearsal).", min=1)
    max_theorems: int | None = opt(None, "The first so many theorems only; default all (20 in a rehearsal).", min=1)
    seed: int = opt(0, "Seed of every evaluation.", min=0)
    claim: float | None = opt(
        None, "Share that was claimed for the tree search, in percent, to be held against.", min=0
    )
    rehearsal: bool = opt(False, "The same stages on NanoLean's set; without a model with a small one, trained here.")
    dry_run: bool = opt(False, "Print the commands, and run none.")
    out: str | None = opt(None, "Where to write; default $NANOPROOF_HOME/minif2f (minif2f_rehearsal).", metavar="DIR")
    lean: LeanOptions = group(
        LeanOptions,
        "lean-",
        servers=change(help="Addresses host:port of servers that run; without any, one is started here."),
        project=change(
            help="Lean project, made if it is not there; default LEAN_PROJECT_PATH or $NANOPROOF_HOME/lean."
        ),
    )
    lean_processes: int | None = opt(
        None, "Lean processes of the server started here; default: one for each core but one, and for each 4 GB.", min=1
    )
    lean_port: int = opt(8000, "Port of the server started here; a rehearsal takes a free one.", min=1, max=65535)
    gpus: int = opt(1, "Ranks of each evaluation, one for each GPU.", min=1)
    eval_flags: str = opt("", "More flags for every evaluation, as one text.", metavar="FLAGS")
    search_flags: str = opt("", "More flags for the model's tree search.", metavar="FLAGS")
    whole_flags: str = opt("", "More flags for its whole proofs.", metavar="FLAGS")
    sft_epochs: float = opt(1.0, "Epochs of finetuning of a rehearsal's own networks.", above=0, advanced=True)

    def __post_init__(self) -> None:
        named = self.model.model_path is not None or self.rehearsal
        check(named, "--model-path SPEC is needed: the model to measure (or --rehearsal, which trains a small one)")
        both = self.rehearsal and self.lean.servers
        check(not both, "give either --rehearsal, which runs NanoLean, or --lean-servers")
        # Now, and not when their stage begins, which may be a day later.
        for name in ("eval_flags", "search_flags", "whole_flags"):
            self.flags(name)

    def flags(self, name: str) -> list[str]:
        """Split one of the texts of flags. Raises ConfigError where a quote is not closed."""
        try:
            return shlex.split(getattr(self, name))
        except ValueError as error:
            raise ConfigError(f"minif2f.{name} is no list of flags: {error}", "minif2f") from error

    def size(self, name: str) -> int | None:
        """Return one of `SIZES`: what was asked for, else that of the measurement or of its rehearsal."""
        asked: int | None = getattr(self, name)
        if asked is not None:
            return asked
        measured, rehearsed = SIZES[name]
        if self.rehearsal:
            return rehearsed
        return measured


class PrintedCommands(small_runs.Commands):
    """Prints commands as `scripts.check_flags` reads them, and runs none."""

    def run(self, stage: str, text: str, command: list[str], ranks: int = 1) -> None:
        """Print a command on one line."""
        module, arguments = command[0], command[1:]
        if ranks > 1:
            launched = ["torchrun", "--standalone", f"--nproc_per_node={ranks}", "-m", module, "--"]
        else:
            launched = ["python", "-m", module]
        print(shlex.join([*launched, *arguments]))

    def train(self, stage: str, text: str, command: list[str], run_dir: Path, ranks: int | None = None) -> None:
        """Print the command of a training stage."""
        if ranks is None:
            ranks = self.ranks
        self.run(stage, text, [*command, "--run-dir", str(run_dir.absolute())], ranks)


@dataclass
class Measurement:
    """The stages in order; each is skipped if `stages.json` says that it is done."""

    options: MiniF2FOptions
    out: Path
    commands: small_runs.Commands
    addresses: tuple[str, ...] = ()
    done: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.out / DONE).exists() and not self.options.dry_run:
            self.done = read_json(self.out / DONE)

    # -- The stages --------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run all stages that are not done."""
        names = [name for name in TITLES if name != "whole" or self.writer is not None]
        if self.options.rehearsal:
            self.small_networks()
        else:
            self.stage("data", "Downloading the benchmark", ["nanoproof.data.download", self.options.dataset])
            self.lean_project()
        # A server with Mathlib takes minutes to start: none is needed where all that it is asked for is done.
        proving_stages = {"probe", *names, *(f"recheck_{name}" for name in names)}
        if self.options.dry_run or not proving_stages <= self.done.keys():
            with self.servers() as self.addresses:
                self.probe()
                for name in names:
                    self.evaluate(name)
                for name in names:
                    self.recheck(name)
        self.after(names)

    def stage(self, name: str, text: str, command: list[str], ranks: int = 1, results: tuple[int, ...] = (0,)) -> None:
        """Run a command unless it is done; `results` are the exit codes that are no failure."""
        if name in self.done:
            return
        started = time.monotonic()
        try:
            self.commands.run(name, text, command, ranks)
        except small_runs.StageFailed as error:
            if error.code not in results:
                raise
        self.finish(name, time.monotonic() - started)

    def finish(self, name: str, seconds: float) -> None:
        """Record that a stage is done."""
        if not self.options.dry_run:
            self.done[name] = round(seconds, 1)
            atomic_write_json(self.out / DONE, self.done)

    def small_networks(self) -> None:
        """Make the embedded set's data, and where no model is named a network for tactics and one for whole proofs."""
        if self.options.model.model_path is not None:
            return
        tokenizer, epochs = self.out / "tokenizer", ["--epochs", f"{self.options.sft_epochs:g}"]
        if "tokenizer" not in self.done:
            started = time.monotonic()
            self.commands.data_and_tokenizer(tokenizer)
            self.finish("tokenizer", time.monotonic() - started)
        command = ["nanoproof.sft", *small_runs.SFT, "--tokenizer", str(tokenizer), *epochs, "--log-level", "warning"]
        self.train("network", "Finetuning a small network on tactics", command)
        if self.options.whole_proofs is None:
            # From the network of tactics, which knows already what proofs are made of.
            command = ["nanoproof.sft", "--data", "nanolean", "--model-path", str(self.out / "network"), *epochs]
            command += ["--continuations", "proof", "--row-length", "256", "--device-batch-size", "16"]
            command += ["--target-examples-per-step", "64", "--device-type", "cpu", "--log-level", "warning"]
            self.train("writer", "Finetuning it on whole proofs", command)

    def train(self, name: str, text: str, command: list[str]) -> None:
        """Train a network, from where it is, in the directory of its name."""
        started, earlier = time.monotonic(), self.done.get(f"train_{name}", 0.0)
        finished = (self.out / name / FINISHED).exists()
        self.commands.train(name, text, command, self.out / name)
        # Training that is over returns at once: its time is that of the runs before.
        if not finished:
            self.finish(f"train_{name}", earlier + time.monotonic() - started)

    def lean_project(self) -> None:
        """Make the Lean project; unless servers run elsewhere, get Lean, Mathlib and the REPL for it."""
        folder = str(self.project)
        # A project that is there stays as it is, with its libraries and its version of Lean.
        if self.options.dry_run or not (self.project / "lean-toolchain").exists():
            command = ["nanoproof.lean.project", "create", folder, "--libraries", *LIBRARIES]
            self.commands.run("project", "Writing a Lean project", command)
        if not self.options.lean.servers:
            command = ["nanoproof.lean.project", "setup", folder, "--install-elan"]
            self.stage("setup", "Getting Lean, Mathlib and the REPL: hours, the first time", command)
            if not self.options.dry_run:
                # elan has just been installed there, and asks for a new login shell to be found.
                os.environ["PATH"] = os.pathsep.join((str(Path.home() / ".elan" / "bin"), os.environ.get("PATH", "")))

    @contextmanager
    def servers(self) -> Iterator[tuple[str, ...]]:
        """Yield the addresses of Lean servers; one that is started here ends with this context.

        Raises UserError, with its last words, if it ends before it listens.
        """
        if self.options.lean.servers:
            with environment_token(self.options.lean.token):
                yield self.options.lean.servers
            return
        port = self.options.lean_port
        if self.options.rehearsal and not self.options.dry_run:
            port = free_port()
        arguments = ["nanoproof.lean.server", *self.server_flags(), "--port", str(port), "--warmup"]
        if self.options.dry_run:
            self.commands.run("server", "Lean", arguments)
            yield (f"localhost:{port}",)
            return
        log_file = self.out / SERVER_LOG
        print(f"\n== The Lean server (its log: {log_file})\n   $ python -m {shlex.join(arguments)}", flush=True)
        # It ends when its standard input does: no server with all of the memory stays behind a script that was killed.
        command = [sys.executable, "-m", *arguments, "--exit-with-parent"]
        with (
            # Anybody on this machine reaches the port, and a server with a token runs nothing for those without it.
            environment_token(os.environ.get(TOKEN_VARIABLE) or secrets.token_hex(32)),
            log_file.open("wb") as log,
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=small_runs.environment()
            ) as process,
        ):
            try:
                wait_until_it_listens(process, port, log_file)
                yield (f"localhost:{port}",)
            finally:
                process.terminate()

    def server_flags(self) -> list[str]:
        """Return the flags of the server that is started here."""
        if self.options.rehearsal:
            return ["--backend", "nanolean", "--max-processes", str(self.options.lean_processes or 4)]
        # A core and the memory of a process are left for the search, and for the network where there is no GPU.
        cores = (os.cpu_count() or 2) - 1
        fit_into_memory = int(psutil.virtual_memory().total / 2**30 / GB_PER_PROCESS) - 1
        processes = self.options.lean_processes or max(1, min(cores, fit_into_memory))
        imports: list[str] = []
        for library in LIBRARIES.values():
            imports += library.imports
        flags = ["--backend", "repl", "--project-path", str(self.project), "--imports", *imports]
        return [*flags, "--max-processes", str(processes)]

    def probe(self) -> None:
        """Test the servers; what is broken there ends the measurement."""
        command = ["nanoproof.lean.probe", "--lean-servers", *self.addresses]
        command += ["--transcript", str(self.out / "probe.jsonl")]
        if self.options.rehearsal:
            command += ["--imports", "none", "--brief"]
        self.stage("probe", "Testing the Lean servers", command)

    def evaluate(self, name: str) -> None:
        """Score one of `TITLES`."""
        options = self.options
        dataset: str = options.dataset
        if options.rehearsal:
            dataset = "nanolean"
        command = ["scripts.prover_eval", *self.policy(name), "--datasets", dataset, "--split", options.split]
        command += ["--seed", str(options.seed), "--lean-servers", *self.addresses]
        command += ["--output-dir", str(self.out / name)]
        max_theorems = options.size("max_theorems")
        if max_theorems is not None:
            command += ["--max-theorems", str(max_theorems)]
        if options.rehearsal:
            command += ["--device-type", "cpu"]
        # Last: of two flags of one name the last one counts.
        command += [*options.flags("eval_flags"), "--continue"]
        self.stage(name, f"Scoring {TITLES[name]}", command, options.gpus)

    def policy(self, name: str) -> list[str]:
        """Return the flags of one of `TITLES`: who proposes what, and how much of it."""
        options = self.options
        if name == "whole":
            flags = ["--whole-proofs", "--model-path", str(self.writer)]
            flags += ["--samples", str(options.size("samples")), *options.flags("whole_flags")]
            if options.rehearsal:
                flags += ["--proof-max-new-tokens", "96"]
            return flags
        budget = ["--num-simulations", str(options.size("simulations"))]
        if options.rehearsal:
            budget += small_runs.SAMPLING
        if name == "solvers":
            return ["--policy", "solver-only", *budget]
        if name == "no_network":
            return ["--policy", "uniform", *budget]
        baseline = ["--baseline", str(self.out / "solvers")]
        return ["--model-path", self.model, *budget, *baseline, *options.flags("search_flags")]

    def recheck(self, name: str) -> None:
        """Have every exported proof of an evaluation checked again, from its file, against its statement."""
        if not self.has_proofs(name):
            self.finish(f"recheck_{name}", 0.0)
            return
        command = ["scripts.check_with_lean", str(self.out / name / "proofs")]
        command += ["--json", str(self.out / f"recheck_{name}.json"), "--lean"]
        if self.options.rehearsal:
            command.append("nanolean")
        else:
            command.append(self.addresses[0])
        # Exit code 1, a proof that is refused, is what this stage is to find.
        self.stage(f"recheck_{name}", f"Checking the proofs of {TITLES[name]} again", command, 1, (0, 1))

    def after(self, names: list[str]) -> None:
        """Do what needs no server: pass@k, comparisons, certificates, workspaces for judges."""
        if "whole" in names:
            samples = self.options.size("samples") or 1
            # The numbers that papers print, as far as there are so many samples, and all of them.
            budgets = [budget for budget in (1, 8, 32, 128, 640) if budget < samples]
            command = ["scripts.passk", str(self.out / "whole")]
            command += ["--budgets", ",".join(map(str, [*budgets, samples])), "--json", str(self.out / "passk.json")]
            self.stage("passk", "pass@k of the whole proofs", command)
        for first, second in COMPARED:
            if first in names:
                report = self.out / f"compare_{first}_{second}.json"
                command = [
                    "scripts.compare_evals",
                    str(self.out / first),
                    str(self.out / second),
                    "--json",
                    str(report),
                ]
                self.stage(report.stem, f"Comparing {TITLES[first]} with {TITLES[second]}", command)
        # Solvers alone are no model's proofs.
        for name in ("search", "whole"):
            if name in names and self.has_proofs(name):
                self.judges(name)

    def judges(self, name: str) -> None:
        """Write a workspace for Comparator for each proof; on NanoLean check the certificates as well."""
        # Beside its place first: a folder of that name is complete, whenever a stage was killed.
        partial, final = self.out / f".judges_{name}", self.out / f"judges_{name}"
        if f"judges_{name}" not in self.done:
            shutil.rmtree(partial, ignore_errors=True)
        command = ["scripts.export_comparator", str(self.out / name), "--output-dir", str(partial)]
        if not self.options.rehearsal:
            command += ["--lean-project", str(self.project)]
        # Exit code 1: some proofs have no workspace, and are named.
        self.stage(f"judges_{name}", f"Workspaces for judges of the proofs of {TITLES[name]}", command, 1, (0, 1))
        if partial.exists():
            shutil.rmtree(final, ignore_errors=True)
            partial.rename(final)
            print(f"complete, and moved to {final}", flush=True)
        if self.options.rehearsal:
            command = ["scripts.check_with_lean", str(self.out / name / "proofs"), "--certificates", "--json"]
            command.append(str(self.out / f"certificates_{name}.json"))
            self.stage(f"certificates_{name}", f"Checking the certificates of {TITLES[name]}", command, 1, (0, 1))

    # -- What is where -----------------------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The model to measure."""
        return self.options.model.model_path or str(self.out / "network")

    @property
    def writer(self) -> str | None:
        """The model that writes whole proofs; None for none."""
        if self.options.whole_proofs:
            return self.options.whole_proofs
        if self.options.rehearsal and self.options.model.model_path is None:
            return str(self.out / "writer")
        return None

    @property
    def project(self) -> Path:
        """The folder of the Lean project."""
        folder = self.options.lean.project or os.environ.get("LEAN_PROJECT_PATH") or home() / "lean"
        return Path(folder).expanduser()

    def has_proofs(self, name: str) -> bool:
        """Return whether an evaluation proved anything; when nothing is run, as if it had."""
        return self.options.dry_run or read_json(self.out / name / "summary.json")["solved"] > 0

    # -- The result --------------------------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Collect what all stages found."""
        kept = ("solved", "total", "low", "high", "errors", "simulations", "tactic_samples", "seconds", "certificates")
        summaries = self.results_of("{}/summary.json")
        scores: dict[str, dict[str, Any]] = {}
        workspaces: dict[str, int] = {}
        for name, summary in summaries.items():
            scores[name] = {key: summary[key] for key in kept if key in summary}
            if (self.out / f"judges_{name}").exists():
                workspaces[name] = len(list((self.out / f"judges_{name}").glob("*/config.json")))
        # All parts of an evaluation ran on the same version of Lean, which their settings say.
        lean = next((part.get("lean") for part in summaries["search"].get("parts", ())), None)
        compared = {}
        for first, second in COMPARED:
            file = self.out / f"compare_{first}_{second}.json"
            if file.exists():
                compared[f"{first} - {second}"] = next(iter(read_json(file)["pairs"].values()))
        pass_at_k = None
        if (self.out / "passk.json").exists():
            pass_at_k = read_json(self.out / "passk.json")
        return {
            "options": shown_options(self.options),
            "scores": scores,
            "lean": lean,
            "compared": compared,
            "pass_at_k": pass_at_k,
            "claim": self.options.claim,
            "recheck": self.results_of("recheck_{}.json"),
            "certificates": self.results_of("certificates_{}.json"),
            "workspaces": workspaces,
            "stage_seconds": self.done,
            "versions": versions(),
        }

    def results_of(self, place: str) -> dict[str, Any]:
        """Read the files that evaluations have at a place with their name in it, those that are there."""
        files = {name: self.out / place.format(name) for name in TITLES}
        return {name: read_json(file) for name, file in files.items() if file.exists()}


def table(summary: dict[str, Any]) -> str:
    """Format the result as lines of text."""
    lines = [f"{'':<34}{'solved':>10}{'share':>9}{'95% interval':>17}{'budget':>24}{'errors':>8}{'rechecked':>11}"]
    for name, score in summary["scores"].items():
        solved = f"{score['solved']}/{score['total']:>4}"
        share = 100 * score["solved"] / max(1, score["total"])
        interval = f"{100 * score['low']:.1f} -{100 * score['high']:>5.1f}%"
        budget = f"{score['simulations']} {'samples' if name == 'whole' else 'simulations':<11}"
        recheck = summary["recheck"].get(name)
        rechecked = f"{recheck['accepted']}/{recheck['files']}" if recheck else "-"
        columns = f"{share:>8.1f}%{interval:>17}{budget:>24}{score['errors']:>8}{rechecked:>11}"
        lines.append(f"{TITLES[name]:<34}{solved:<10}{columns}")
    for pair, comparison in summary["compared"].items():
        first, _, second = pair.partition(" - ")
        low, high = 100 * comparison["low"], 100 * comparison["high"]
        lines.append(
            f"{TITLES[second]} - {TITLES[first]}: {100 * comparison['difference']:+.1f} points, 95% interval "
            f"{low:+.1f} to {high:+.1f}, McNemar's exact test p = {comparison['p']:.3g}"
        )
    for name, result in summary["certificates"].items():
        lines.append(f"certificates of {TITLES[name]}: {result['accepted']} of {result['certificates']} accepted")
    for name, count in summary["workspaces"].items():
        lines.append(f"workspaces for judges of {TITLES[name]}: {count} of {summary['scores'][name]['solved']} proofs")
    if summary["claim"] is not None:
        lines.append(claim_line(summary["scores"]["search"], summary["claim"]))
    return "\n".join(lines)


def claim_line(score: dict[str, Any], claim: float) -> str:
    """Say where a claimed share, in percent, lies from the 95% interval of a score."""
    low, high = 100 * score["low"], 100 * score["high"]
    side = "inside"
    if claim < low:
        side = "below"
    elif claim > high:
        side = "above"
    return f"claimed: {claim:g}%, which is {side} the 95% interval {low:.1f} - {high:.1f}% of the tree search"


@contextmanager
def environment_token(token: str | None) -> Iterator[None]:
    """Have the commands that are started here find a token of the Lean servers, where there is one, in the environment.

    It is as before in the end.
    """
    before = os.environ.get(TOKEN_VARIABLE)
    if token is not None:
        os.environ[TOKEN_VARIABLE] = token
    try:
        yield
    finally:
        os.environ.pop(TOKEN_VARIABLE, None)
        if before is not None:
            os.environ[TOKEN_VARIABLE] = before


def free_port() -> int:
    """Return a port that nobody listens at."""
    # Another program may take it meanwhile; the server then ends with a line that says so.
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until_it_listens(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    """Wait for a server that listens when it can prove. Raises UserError, with its last line, if it ends before."""
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            return
        except OSError:
            time.sleep(0.2)
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["no word"]
    raise UserError(f"the Lean server ended with exit code {process.returncode}: {lines[-1]}")


def shown_options(options: MiniF2FOptions) -> dict[str, Any]:
    """Return what decides the result; another output directory is needed where it changes."""
    # Where it runs, and on how much: none of it changes a score. A claim is only held against one.
    left_out = ("dry_run", "out", "lean_servers", "lean_token", "lean_project", "lean_processes", "lean_port")
    shown = {name: value for name, value in to_dict(options).items() if name not in (*left_out, "gpus", "claim")}
    for name in SIZES:
        shown[name] = options.size(name)
    return shown


def main(argv: list[str] | None = None) -> int:
    """Run the measurement and print its table."""
    parser = Parser(prog="python -m scripts.minif2f", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, MiniF2FOptions)
    options = from_args(MiniF2FOptions, parser.parse_args(argv))
    folder = "minif2f"
    if options.rehearsal:
        folder = "minif2f_rehearsal"
    out = Path(options.out or home() / folder).expanduser()
    if options.dry_run:
        Measurement(options, out, PrintedCommands(ranks=1)).run()
        return 0
    small_runs.keep_settings(out / SETTINGS, shown_options(options))
    commands = small_runs.Commands(ranks=1, lock=small_runs.take_lock(out / "lock"))
    measure(options, out, commands)
    return 0


def measure(options: MiniF2FOptions, out: Path, commands: small_runs.Commands) -> None:
    """Run all stages and write the result."""
    measurement = Measurement(options, out, commands)
    measurement.run()
    summary = measurement.summary()
    text = table(summary)
    atomic_write_json(out / "summary.json", summary)
    atomic_write_text(out / "table.txt", f"{text}\n")
    print(f"\n{text}\nWritten: {out / 'table.txt'}, {out / 'summary.json'}")


if __name__ == "__main__":
    run_main(main)
