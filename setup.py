"""What a wheel holds beside the packages: parts of the repository, below `nanoproof/shipped` in the same places.

There `nanoproof.common.run_dir.REPO_ROOT` finds them. `pyproject.toml` says all the rest.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = ("data/nanolean/*.lean", "data/nanolean/*.jsonl", "data/whitelists/*.json", "scripts/*.py")
FOR_THE_REPOSITORY = (
    "bench_inference.py",
    "check_flags.py",
    "draw_search.py",
    "make_nanolean_benchmark.py",
    "make_nanolean_hard.py",
    "same_results.py",
)
"""Scripts that read or write `benchmarks/`, `docs/`, `tests/` or `data/`, and stay where these are."""


def shipped_files() -> list[str]:
    """The files, relative to the repository, in which setuptools runs."""
    found = sorted(path for pattern in SHIPPED for path in Path().glob(pattern) if path.is_file())
    return [str(path) for path in found if path.name not in FOR_THE_REPOSITORY]


class BuildPackages(build_py):
    """Copies the packages and, unless they are installed as editable, what is shipped with them."""

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        shutil.rmtree(self.build_lib, ignore_errors=True)  # an earlier build may have left what is gone since
        super().run()
        for name in shipped_files():
            target = self._target(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(name, target)

    def get_source_files(self) -> list[str]:
        """Every file that a source distribution needs for the same wheel."""
        return [*super().get_source_files(), *shipped_files()]

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Every file that is built."""
        built = super().get_outputs(include_bytecode)
        return built if self.editable_mode else [*built, *(str(self._target(name)) for name in shipped_files())]

    def _target(self, name: str) -> Path:
        return Path(self.build_lib, "nanoproof", "shipped", name)


setup(cmdclass={"build_py": BuildPackages})
