"""The phase that trains: the optimizer updates of a step, on what `mixing.py` draws."""

import logging
import statistics

from nanoproof.common.dist import DistInfo
from nanoproof.data.packing import Example
from nanoproof.gpt.optim import NonFiniteLoss
from nanoproof.selfplay.config import RLConfig
from nanoproof.selfplay.learner import Learner
from nanoproof.selfplay.mixing import Mixture
from nanoproof.selfplay.records.recorder import Recorder
from nanoproof.selfplay.tasks import Interrupted
from nanoproof.selfplay.train_samples import record_training
from nanoproof.training.not_finite import FailedStep
from nanoproof.training.setup import Stage
from nanoproof.training.signals import StopSignal

log = logging.getLogger(__name__)


class Updates:
    """Trains the learner. Nobody may ask the network meanwhile."""

    def __init__(self, config: RLConfig, learner: Learner, mixture: Mixture, stop: StopSignal, dist: DistInfo) -> None:
        self._config, self._learner, self._mixture, self._stop, self._dist = config, learner, mixture, stop, dist

    def run(self, stage: Stage, recorder: Recorder, progress: float) -> dict[str, float]:
        """The updates of a step at `progress` (0 to 1) through the run, fewer if a signal comes; their mean losses.

        All ranks call it together. Raises NonFiniteLoss, once it is written down what was not finite.
        """
        learner, state, metrics = self._learner, self._learner.state, []
        if learner.restart_due():
            self._restart(stage, progress)
        for update in range(self._config.rl.num_updates_per_step):
            if update > 0 and self._stop.agreed(self._dist.device):
                break
            batch = self._mixture.batch(state.step, update)
            record_training(recorder, learner.model, learner.tokenizer, self._config.batch, batch, state.step)
            metrics.append({**self._update(stage, batch.examples, progress), **batch.metrics})
        learner.model.eval()
        state.sft_position = self._mixture.position()
        return {name: statistics.fmean(one[name] for one in metrics) for name in metrics[0]}

    def _restart(self, stage: Stage, progress: float) -> None:
        """Go back to the first weights and train them on what is known by now.

        Raises Interrupted on all ranks if one was asked to end: the next part of the run restarts once more.
        """
        options, step = self._config.rl, self._learner.state.step
        self._learner.restart(stage.run.path)
        first = options.num_updates_per_step
        for update in range(first, first + options.restart_updates):
            if self._stop.agreed(self._dist.device):
                raise Interrupted
            self._update(stage, self._mixture.batch(step, update).examples, progress)
        if self._dist.is_main:
            stage.run.event("restart", step=step, updates=options.restart_updates)
            log.info("step %d: back to the first weights, trained on %d batches", step, options.restart_updates)

    def _update(self, stage: Stage, examples: list[Example], progress: float) -> dict[str, float]:
        learner, run = self._learner, stage.run
        try:
            return learner.update(examples, progress)
        except FailedStep as error:
            step = learner.state.step + 1
            told = error.write_to(run.path, step, self._dist.rank, learner.model)
            run.event("not_finite", step=step, problem=str(error), path=told.name)
            raise NonFiniteLoss(
                f"step {step}: {error}; the run ends here, the last checkpoint is of step {learner.saved_step}; "
                f"{told} tells of the step"
            ) from error
