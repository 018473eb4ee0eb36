"""The opening of the tools: clients want an answer at once, and models and Lean take their time."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.mcp.calls import Watch
from nanoproof.mcp.results import ToolProblem
from nanoproof.mcp.workbench import Workbench

log = logging.getLogger(__name__)


class Opening:
    """A workbench that is being opened: clients want an answer at once, and models and Lean take their time."""

    def __init__(self, root: Path, open_bench: Callable[[], Workbench]) -> None:
        """`start` begins to open it, in a thread."""
        self._root = root
        self._open = open_bench
        self._ready = threading.Event()
        self._bench: Workbench | None = None
        self._problem = ""
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to open it, if that was not begun."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="opening", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        try:
            self._bench = self._open()
        except UserError as error:
            self._problem = " ".join(str(error).split())
            log.error("%s", self._problem)
        # The thread has no caller that would see it: every call of a tool is answered with this instead.
        except Exception as error:
            self._problem = f"{type(error).__name__}: {error}"
            log.exception("the tools cannot be opened")
        finally:
            self._ready.set()

    def workbench(self, watch: Watch) -> Workbench:
        """Wait until it is open. Raises ToolProblem if it cannot be opened, or is not in time."""
        while not self._ready.wait(0.2):
            if watch.stopped:
                raise ToolProblem("timed out", "model and Lean are still starting; call again")
        if self._bench is None:
            raise ToolProblem("bad argument", f"the server could not start its tools: {self._problem}")
        return self._bench

    @property
    def described(self) -> dict[str, object]:
        """The project, and where its Lean is, as far as that is known."""
        described: dict[str, object] = {"project": str(self._root)}
        if self._bench is not None:
            described |= self._bench.lean.describe()
        return described

    def close(self) -> None:
        """Wait until what is being opened is open, so that it can be closed."""
        if self._thread is not None:
            self._thread.join()
