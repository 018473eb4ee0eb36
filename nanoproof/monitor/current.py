"""The run that a monitor shows; none until one is set."""

from pathlib import Path

from nanoproof.common.web.json_api import BadRequest
from nanoproof.monitor.reader import RunReader
from nanoproof.monitor.stream import Hub


class NoRun(BadRequest):
    """Nothing is shown yet."""


class CurrentRun:
    """Reader and live updates of a run, which may be exchanged for another."""

    def __init__(self) -> None:
        self._reader: RunReader | None = None
        self._hub: Hub | None = None

    def show(self, run_path: Path, every_seconds: float = 0.5) -> None:
        """From now on show this run; without `every_seconds` it is read at each question and in no background."""
        self.close()
        reader = RunReader(run_path, every_seconds)
        self._reader = reader.start() if every_seconds else reader
        self._hub = Hub(self._reader)

    def close(self) -> None:
        """Show nothing."""
        if self._hub is not None:
            self._hub.close()
        if self._reader is not None:
            self._reader.close()
        self._reader = self._hub = None

    @property
    def reader(self) -> RunReader:
        """What is known of the run, brought up to date. Raises NoRun."""
        if self._reader is None:
            raise NoRun("no run yet")
        self._reader.refresh()
        return self._reader

    @property
    def hub(self) -> Hub:
        """The live updates. Raises NoRun."""
        if self._hub is None:
            raise NoRun("no run yet")
        return self._hub
