"""When a run evaluates and saves."""

from nanoproof.common.dist import broadcast_json
from nanoproof.selfplay.config import RLConfig
from nanoproof.selfplay.learner import LoopState
from nanoproof.training.schedule import Trigger


class Cadence:
    """All ranks ask together, once after each step, and get the same answers."""

    def __init__(self, config: RLConfig) -> None:
        """Raises UserError that names the option which cannot be read."""
        cadence = config.cadence
        self._evaluation = Trigger.parse(cadence.eval_every, "--eval-every")
        self._save = Trigger.parse(cadence.save_every, "--save-every")
        self._first: Trigger | None = None
        if config.rl.eval_start not in ("now", "never"):
            self._first = Trigger.parse(config.rl.eval_start, "--eval-start")
        self.at_start = config.rl.eval_start == "now"
        """Whether to evaluate before the first step."""
        self._waiting = self._first is not None

    def resume(self, state: LoopState) -> None:
        """Go on where `state` was."""
        self._evaluation.resume(state.since_evaluation)
        self._save.resume(state.since_save)
        self._waiting = self._waiting and not self._has_come(state.step, state.seconds)

    def due(self, step: int, seconds: float) -> tuple[bool, bool]:
        """Whether to evaluate, and whether to save, after this step of a run that took so many seconds so far."""
        evaluation, save = self._evaluation.due(step), self._save.due(step)
        if self._waiting:
            evaluation = self._has_come(step, seconds)
            self._waiting = not evaluation
        return evaluation, save

    def _has_come(self, step: int, seconds: float) -> bool:
        """Whether it is time for the first evaluation, by rank 0's clock."""
        assert self._first is not None
        if self._first.every_steps is not None:
            return step >= self._first.every_steps
        return bool(broadcast_json(seconds >= (self._first.every_seconds or 0.0)))

    def elapsed(self) -> tuple[float, float]:
        """Seconds since the last evaluation and the last save that were due by time, for a checkpoint."""
        return self._evaluation.elapsed(), self._save.elapsed()
