"""A stage whose steps do nothing but pass time, for tests of the shared loop: `python -m tests.training.toy_loop`."""

import os
import signal
import time
from dataclasses import dataclass

from nanoproof.common.config import opt
from nanoproof.common.errors import run_main
from nanoproof.training import options
from nanoproof.training.loop import TrainingLoop, train
from nanoproof.training.options import ModelOptions, OptimizerOptions, RunOptions, StartOptions, TriggerOptions
from nanoproof.training.setup import parse_stage


@dataclass(frozen=True)
class ToyOptions:
    """Toy."""

    num_steps: int = opt(5, "Steps.")
    step_seconds: float = opt(0.0, "How long a step takes.")
    signal_at: int | None = opt(None, "The last rank sends itself SIGTERM in this step.")


class ToyLoop(TrainingLoop):
    """Its loss is the number of the step."""

    stage_name = "toy"
    next_command = "look at {run}"

    def __init__(
        self,
        run: RunOptions,
        start: StartOptions,
        triggers: TriggerOptions,
        model: ModelOptions,
        optim: OptimizerOptions,
        options: ToyOptions,
        dist,
    ):
        super().__init__(run, start, triggers, model, optim, dist)
        self.options, self.num_steps = options, options.num_steps
        self.seen = self.state.data.get("seen", 0)

    def decisions(self):
        return {"toy": f"{self.num_steps} steps"}

    def train_one(self):
        if self.state.step + 1 == self.options.signal_at and self.dist.rank == self.dist.world_size - 1:
            os.kill(os.getpid(), signal.SIGTERM)
        print(f"step {self.state.step}", flush=True)
        deadline = time.monotonic() + self.options.step_seconds
        while time.monotonic() < deadline:
            time.sleep(0.01)
        self.seen += 1
        return {"loss": float(self.state.step)}

    def evaluate(self):
        return {"seen": float(self.seen)}

    def data_state(self):
        return {"seen": self.seen}


GROUPS = (RunOptions, StartOptions, TriggerOptions, ModelOptions, OptimizerOptions, ToyOptions)


def main(argv: list[str] | None = None) -> int:
    return train(ToyLoop, GROUPS, parse_stage("toy", (*GROUPS, options.ComputeOptions), __doc__ or "", argv))


if __name__ == "__main__":
    run_main(main)
