"""Show a run that is over, or that another process writes: `python -m nanoproof.monitor --run-dir rl/<run>`."""

from dataclasses import dataclass

from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, validate
from nanoproof.common.errors import run_main
from nanoproof.common.option_groups import MonitorAddress
from nanoproof.common.run_dir import resolve_run_dir
from nanoproof.monitor.server import start_monitor


@dataclass(frozen=True)
class MonitorOptions:
    """Monitor."""

    run_dir: str = opt(help="Run directory: absolute, or relative to $NANOPROOF_HOME.")
    address: MonitorAddress = group(
        MonitorAddress,
        port=change(help="Port; 0 takes a free one."),
        host=change(help="Address to listen on; others than this machine's own need --token.", advanced=False),
        token=change(advanced=False),
    )

    def __post_init__(self) -> None:
        validate(self, "monitor")
        check(
            self.address.port is not None, "--port none: this command is the monitor; give a port, or 0 for a free one"
        )


def main(argv: list[str] | None = None) -> int:
    """Serve the monitor until interrupted."""
    parser = Parser(prog="python -m nanoproof.monitor", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, MonitorOptions)
    options = from_args(MonitorOptions, parser.parse_args(argv))
    run_path = resolve_run_dir(options.run_dir)
    address = options.address
    monitor = start_monitor(address.port or 0, address.host, address.token)
    monitor.show(run_path)
    print(f"monitor of {run_path.name}: {monitor.address} (Ctrl-C ends it)", flush=True)
    try:
        monitor.wait()
    finally:
        monitor.close()
    return 0


if __name__ == "__main__":
    run_main(main)
