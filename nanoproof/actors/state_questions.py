"""States that somebody typed into the monitor's page, for the policy of a run to answer with its present weights.

Two files of a run directory for each rank that has a policy:

- `question_r<rank>.json`, which the monitor writes: `{"id": "3f9c", "state": "⊢ True"}`; it goes when it is answered.
- `answer_r<rank>.json`, which the rank writes: the same `id` and `state` with a sample as in `samples_r<rank>.jsonl`,
  or `error` in its place; it stays until the next question.

The files are the only way, as for `live_tree.py`: a run listens nowhere, and the monitor may be on another machine.
"""

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, json_line, read_object

log = logging.getLogger(__name__)

MAX_QUESTION = 20_000
"""Letters of a state that is asked about; what a network has no room for, it says itself."""


def question_file(run_path: Path, rank: int) -> Path:
    """Return the path of the question to the policy of a rank."""
    return run_path / f"question_r{rank}.json"


def answer_file(run_path: Path, rank: int) -> Path:
    """Return the path of what the policy of a rank answered last."""
    return run_path / f"answer_r{rank}.json"


class StateQuestions:
    """Answers one question at a time. `poll` and `close` are called by the thread that writes records."""

    def __init__(self, run_path: Path, rank: int, answer: Callable[[str], dict[str, Any]]) -> None:
        """Have states answered by `answer`, which may block and may raise anything."""
        self._question, self._answer_file = question_file(run_path, rank), answer_file(run_path, rank)
        self._answer = answer
        self._thread: threading.Thread | None = None
        # A question that was there before was asked of another process, and its page has given up.
        self.close()

    def poll(self) -> None:
        """Begin to answer if there is a question and none is being answered."""
        if self._thread is not None and self._thread.is_alive():
            return
        if not os.path.exists(self._question):
            return
        question = read_object(self._question) or {}
        # A thread of its own: the policy waits while the network trains, and the status must be written meanwhile.
        self._thread = threading.Thread(target=self._reply, args=(question,), name="state-question", daemon=True)
        self._thread.start()

    def _reply(self, question: dict[str, Any]) -> None:
        state = str(question.get("state"))[:MAX_QUESTION]
        reply: dict[str, Any] = {"id": question.get("id"), "state": state}
        try:
            reply["sample"] = self._answer(state)
        except UserError as error:
            reply["error"] = str(error)
        except Exception as error:  # of a model of others, say: the page shows it, and the run goes on
            log.warning("the policy could not answer a question of the monitor's page: %s", error)
            reply["error"] = f"{type(error).__name__}: {error}"
        content = json_line(reply).encode("utf-8", "replace")  # a lone surrogate of a model's text
        # The answer first: whoever sees that the question is gone must find it. On a full disk both are left.
        with suppress(OSError):
            atomic_write(self._answer_file, lambda file: file.write(content), sync=False)
            self._question.unlink(missing_ok=True)

    def close(self) -> None:
        """Leave neither question nor answer behind."""
        with suppress(OSError):
            for file in (self._question, self._answer_file):
                file.unlink(missing_ok=True)
