"""Show all runs of $NANOPROOF_HOME, or one of them: `python -m nanoproof.monitor --run-dir rl/<run>`.

python -m nanoproof.monitor export rl/<run> --out run.html     # the page of a run as one file, to send or to keep
"""

from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.option_groups import MonitorAddress
from nanoproof.common.run_dir import home, resolve_run_dir
from nanoproof.monitor.export import ExportOptions, export_run
from nanoproof.monitor.runs import RunList, is_run
from nanoproof.monitor.server import give_back_memory, start_monitor


@validated("monitor")
class MonitorOptions:
    """Monitor."""

    run_dir: str | None = opt(
        None,
        "Run directory, or a folder of runs: absolute, or relative to $NANOPROOF_HOME (default: all of that).",
    )
    address: MonitorAddress = group(
        MonitorAddress,
        port=change(help="Port; 0 takes a free one."),
        host=change(help="Address to listen on; others than this machine's own need --token.", advanced=False),
        token=change(advanced=False),
    )
    export: ExportOptions = group(ExportOptions)

    def __post_init__(self) -> None:
        check(
            self.address.port is not None, "--port none: this command is the monitor; give a port, or 0 for a free one"
        )


def main(argv: list[str] | None = None) -> int:
    """Serve the monitor until interrupted, or write the file of a run."""
    parser = Parser(prog="python -m nanoproof.monitor", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="?", metavar="export", help="write the page of a run as one file")
    parser.add_argument("run", nargs="?", metavar="RUN", help="export: the run, as in rl/<run>")
    add_flags(parser, MonitorOptions)
    args = parser.parse_args(argv)
    options: MonitorOptions = from_args(MonitorOptions, args)
    if args.what not in (None, "export"):
        raise UserError(f"{args.what}: a run is named by --run-dir {args.what}, or by export {args.what}")
    if args.what is not None:
        if args.run is None:
            raise UserError("export takes a RUN, as in rl/<run>: `python -m nanoproof.runs list` names all of them")
        print(export_run(resolve_run_dir(args.run, "RUN"), options.export))
        return 0
    path = home() if options.run_dir is None else resolve_run_dir(options.run_dir)
    if not path.is_dir():
        raise UserError(f"{path} is not there yet: no run has been made; --run-dir names another folder")
    address = options.address
    give_back_memory()
    monitor = start_monitor(address.port or 0, address.host, address.token)
    # A named folder that is no run, and has none below it, is one that is about to begin.
    if options.run_dir is not None and (is_run(path) or not RunList(path).names()):
        monitor.show(path)
        what = path.name
    else:
        monitor.show_runs(path)
        what = f"the runs in {path}"
    print(f"monitor of {what}: {monitor.address} (Ctrl-C ends it)", flush=True)
    try:
        monitor.wait()
    finally:
        monitor.close()
    return 0


if __name__ == "__main__":
    run_main(main)
