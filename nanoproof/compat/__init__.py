"""Classes of LeanDojo-v2 by their known names, as thin wrappers, so that its scripts run after a changed import.

from nanoproof.compat.agent.hf_agent import HFAgent          # was: from lean_dojo_v2.agent.hf_agent import HFAgent
from nanoproof.compat.database import DynamicDatabase        # was: from lean_dojo_v2.database import DynamicDatabase

`sed 's/lean_dojo_v2/nanoproof.compat/'` is enough: the modules of LeanDojo-v2 that have no file here are made of
`MODULES` when they are imported.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

MODULES = {
    "agent.base_agent": "agent",
    "agent.external_agent": "agent",
    "agent.hf_agent": "agent",
    "agent.lean_agent": "agent",
    "lean_agent": "configs",
    "lean_agent.config": "configs",
    "lean_progress": "trainers",
    "prover.base_prover": "prover",
    "prover.external_prover": "prover",
    "prover.hf_prover": "prover",
    "prover.retrieval_prover": "prover",
    "trainer": "trainers",
    "trainer.grpo_trainer": "trainers",
    "trainer.progress_trainer": "trainers",
    "trainer.retrieval_trainer": "trainers",
    "trainer.sft_trainer": "trainers",
}
"""Modules of LeanDojo-v2, and the module here that has what is in them."""

SAMPLE_PATH = "raid/data/sample_leanprogress_dataset.jsonl"
COMMANDS = {
    "lean_progress.create_sample_dataset": ("sample-data", "--output", SAMPLE_PATH),
    "lean_progress.train_steps_model": ("train",),
}
"""Modules of LeanDojo-v2 that are run with `python -m`, and what `nanoproof.progress` is given before their arguments:
of an option that is given twice the last one counts."""


class _Names(Loader):
    """Makes a module that has the public names of another one."""

    def __init__(self, source: str) -> None:
        self._source = source

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        # What that module imports too: a script may take a class from where it is used.
        for name, value in vars(importlib.import_module(self._source)).items():
            if not name.startswith("_"):
                module.__dict__[name] = value


class _Command(Loader):
    """Makes a module that runs a command: its `main()` does, and so does `python -m`."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = list(arguments)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def get_code(self, fullname: str) -> CodeType:
        """Return the module's code, which `python -m` runs itself."""
        lines = (
            "import sys",
            "from nanoproof.common.errors import run_main",
            "from nanoproof import progress",
            "def main():",
            f"    return progress.main([*{self._arguments!r}, *sys.argv[1:]])",
            "if __name__ == '__main__':",
            "    run_main(main)",
        )
        return compile("\n".join(lines), f"<{fullname}>", "exec")

    def exec_module(self, module: ModuleType) -> None:
        exec(self.get_code(module.__name__), module.__dict__)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{__name__}."):
            return None
        name = fullname.removeprefix(f"{__name__}.")
        if name in COMMANDS:
            return ModuleSpec(fullname, _Command(COMMANDS[name]))
        source = MODULES.get(name)
        if source is None:
            return None
        # As packages: `lean_agent` has a module below it, and Python looks for that only in a package.
        return ModuleSpec(fullname, _Names(f"{__name__}.{source}"), is_package=True)


# Last, so that files of the package come first.
sys.meta_path.append(_Finder())
