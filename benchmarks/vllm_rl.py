"""RL over genuine vLLM servers: whose weights answered, what a restart costs, and whether memory stays level.

python -m benchmarks.vllm_rl --vllm ENV/bin/python --out DIR

A Llama of 150,000 parameters is made and finetuned on a small data set; two servers of vLLM serve it; reinforcement
learning trains adapters that they load at each step. At half of the steps one server is killed, and started again
without its adapters. Every answer is kept with its label; in the end the network here says, with the adapters of each
label, what the log-probability of every sampled tactic is.
"""

import argparse
import json
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import httpx2
import psutil

from nanoproof import sft
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_json, read_jsonl
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.language_model import TextSample
from nanoproof.inference.lora_endpoints import LoraEndpoints
from nanoproof.inference.openai_answers import Choice
from nanoproof.inference.openai_model import OpenAIModel
from nanoproof.model.tokenizer import train_tokenizer
from nanoproof.rl import __main__ as rl
from nanoproof.training.hub_network import checkpoint_steps
from scripts.tiny_decoder import DecoderOptions, make_decoder
from tests.helpers import free_port
from tests.rl import tiny
from tests.training.small import write_leantree

START_SECONDS = 600.0
SERVER_FLAGS = ["--enable-lora", "--max-lora-rank", "8", "--max-loras", "4", "--dtype", "float32"]
SERVER_FLAGS += ["--max-model-len", "256", "--enforce-eager", "--host", "127.0.0.1"]
ENVIRONMENT = {
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "VLLM_NO_USAGE_STATS": "1",
}


@dataclass
class Server:
    """A server of vLLM on a port of its own."""

    python: str
    model: Path
    log: Path
    port: int = field(default_factory=free_port)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Start it, and return at once."""
        command = [self.python, "-m", "vllm.entrypoints.openai.api_server", "--model", str(self.model)]
        # Of another environment, which must not find the packages of this one.
        environment = {**os.environ, **ENVIRONMENT}
        environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port), *SERVER_FLAGS],
            env=environment,
            stdout=self.log.open("ab"),
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that it can be killed with all of its processes
        )

    def wait(self) -> None:
        """Wait until it answers."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                httpx2.get(f"{self.address}/models", timeout=5)
                return
            except httpx2.TransportError:
                time.sleep(1)
        raise SystemExit(f"vLLM does not come up; {self.log} says why")

    def kill(self) -> None:
        """Kill it with all of its processes."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def memory(self) -> int:
        """Return the resident bytes of all of its processes."""
        processes = [psutil.Process(self.process.pid), *psutil.Process(self.process.pid).children(recursive=True)]
        return sum(process.memory_info().rss for process in processes)

    def adapters(self) -> int:
        """Return how many adapters it holds."""
        listed = httpx2.get(f"{self.address}/models", timeout=30).json()["data"]
        return sum(entry["parent"] is not None for entry in listed)


def make_model(out: Path) -> tuple[Path, Path]:
    """Make and finetune the small Llama; returns its folder and the data."""
    data, run = out / "data.jsonl", out / "sft"
    write_leantree(data, tiny.tiny_transitions(), per_file=1)
    tokenizer = train_tokenizer([item.state + "\n" + item.tactic for item in tiny.tiny_transitions()], 480)
    make_decoder(out / "base", tokenizer, DecoderOptions(layers=2, width=64, positions=256))
    flags = ["--model-path", f"hf:{out / 'base'}", "--data", str(data), "--value-weight", "0.1", "--epochs", "20"]
    flags += ["--lr", "0.003", "--target-examples-per-step", "16", "--run-dir", str(run), "--device-type", "cpu"]
    if not (run / "finished").exists():
        sft.main(flags)
    return run / f"checkpoint-{checkpoint_steps(run)[-1]}", data


@dataclass
class Heard:
    """What endpoints answered: labels, prompts and samples, and the numbers of each sample's tokens."""

    answers: list[tuple[str, str, Sequence[TextSample]]] = field(default_factory=list)
    tokens: dict[int, list[int]] = field(default_factory=dict)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Keep what comes inside of the block; servers are asked for the numbers of tokens too, by a field of vLLM."""
        body, add, sample_of, opened = OpenAIModel._body, Choice.add, Choice.sample, LoraEndpoints.__init__

        def body_with_tokens(*given: Any) -> dict[str, Any]:
            return {**body(*given), "return_token_ids": True}

        def add_with_tokens(choice: Any, piece: Any) -> None:
            add(choice, piece)
            choice.token_ids = piece.get("token_ids") or []

        def sample_with_tokens(choice: Any, *given: Any) -> TextSample:
            sample = sample_of(choice, *given)
            self.tokens[id(sample)] = choice.token_ids
            return sample

        def open_heard(endpoints: LoraEndpoints, *given: Any, **options: Any) -> None:
            opened(endpoints, *given, **options)
            endpoints.answered = lambda *answer: self.answers.append(answer)

        with (
            mock.patch.object(OpenAIModel, "_body", body_with_tokens),
            mock.patch.object(Choice, "add", add_with_tokens),
            mock.patch.object(Choice, "sample", sample_with_tokens),
            mock.patch.object(LoraEndpoints, "__init__", open_heard),
        ):
            yield

    def check_labels(self, run: Path) -> dict[str, Any]:
        """Score every sample by the adapters of its label; returns how far the answers were off (nats)."""
        # The judge is the network here, which reads the adapters of the label from their checkpoint. vLLM computes in
        # another order, by which log-probabilities differ in the sixth digit; the weights of another step differ more.
        by_step: dict[int, list[tuple[str, TextSample]]] = {}
        for name, prompt, samples in self.answers:
            for sample in samples:
                by_step.setdefault(int(name.rpartition("-")[2]), []).append((prompt, sample))
        largest, compared, of_neighbours = 0.0, 0, []
        for step, sampled in sorted(by_step.items()):
            model = HFModel(str(run / f"checkpoint-{step}"))
            before = HFModel(str(run / f"checkpoint-{max(0, step - 5)}"))
            for prompt, sample in sampled:
                tokens, wanted = model._encode(prompt, sample.num_tokens), self.tokens[id(sample)]
                assert sample.logprob is not None and len(wanted) == sample.num_tokens
                largest = max(largest, abs(model._score(tokens, wanted) - sample.logprob))
                of_neighbours.append(abs(before._score(tokens, wanted) - sample.logprob))
                compared += 1
            model.close()
            before.close()
        # What a wrong label would look like: the weights of five steps before.
        median = sorted(of_neighbours)[len(of_neighbours) // 2]
        return {"samples": compared, "largest difference": largest, "median difference five steps before": median}


def main(argv: list[str] | None = None) -> int:
    """Run the whole; returns 1 if a label was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vllm_rl")
    parser.add_argument("--vllm", required=True, metavar="PYTHON", help="Python of an environment with vLLM.")
    parser.add_argument("--out", required=True, type=Path, help="Where to write.")
    parser.add_argument("--steps", type=int, default=20, help="Steps before the kill and after the restart, together.")
    args = parser.parse_args(argv)
    out: Path = args.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    model, data = make_model(out)
    servers = [Server(args.vllm, model, out / f"server_{number}.log") for number in range(2)]
    heard = Heard()
    run = out / "rl"
    try:
        for server in servers:
            server.start()
        for server in servers:
            server.wait()
        report: dict[str, Any] = {"memory": [], "adapters": []}
        watcher = threading.Thread(target=watch, args=(run, servers, args.steps, report), daemon=True)
        watcher.start()
        with heard.listening():
            flags = tiny.rl_words(out, run, 100_000)
            flags += ["--model-path", f"hf:{model}", "--lora", "8", "--lora-lr", "0.05", "--model-tactic-tokens", "24"]
            rl.main([*flags, "--sft-data", str(data), "--policy-endpoint", *(server.address for server in servers)])
        watcher.join(60)
        report["left at the end"] = list(map(Server.adapters, servers))
    finally:
        for server in servers:
            if hasattr(server, "process"):
                server.kill()
    report["steps"] = max(checkpoint_steps(run))
    report["answers"] = len(heard.answers)
    report["labels"] = heard.check_labels(run)
    places: Counter[tuple[int, int]] = Counter()
    errors = 0
    for record in read_jsonl(run / "attempts_r0.jsonl"):
        places[record["number"]["step"], record["number"]["sequence"]] += 1
        errors += record["outcome"] == "error"
    # A server that is killed costs no attempt, and none is made twice for it.
    report["attempts"] = places.total()
    report["attempts twice"] = places.total() - len(places)
    report["errors"] = errors
    atomic_write_json(out / "report.json", report)
    print(json.dumps(report, indent=2))
    return int(report["labels"]["largest difference"] > 1e-3)


def watch(run: Path, servers: Sequence[Server], steps: int, report: dict[str, Any]) -> None:
    """Kill a server after half of the steps, start it again, and end the run so many steps after it is back."""

    def step_now() -> int:
        file = run / "metrics.jsonl"
        last = 0
        if file.exists():
            for record in read_jsonl(file):
                last = max(last, record["step"])
        return last

    def reach(step: int) -> None:
        while step_now() < step:
            time.sleep(0.2)
            report["adapters"] += map(Server.adapters, servers)

    reach(2)  # memory of what is taken once is taken by then
    report["memory"].append(sum(map(Server.memory, servers)))
    reach(steps // 2)
    servers[1].kill()
    report["killed after step"] = step_now()
    servers[1].start()
    servers[1].wait()
    report["back after step"] = step_now()
    reach(step_now() + steps // 2)
    report["memory"].append(sum(map(Server.memory, servers)))
    report["most adapters at a server"] = max(report.pop("adapters"))
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    run_main(main)
