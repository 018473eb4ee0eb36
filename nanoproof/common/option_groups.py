"""Options that several commands have, each declared once; the commands' own option classes hold them as groups."""

from dataclasses import dataclass

from nanoproof.common.config import check, opt, validated


@dataclass(frozen=True)
class CheckpointOption:
    """Checkpoint."""

    model_path: str | None = opt(
        None,
        "Checkpoint, hf:PATH_OR_ID or openai:URL#MODEL, that suggests tactics; A,B: checkpoints that share the "
        "simulations.",
        also=("--model",),
    )


@dataclass(frozen=True)
class CheckpointsOption:
    """Checkpoints."""

    model_path: tuple[str, ...] = opt(
        (),
        "Checkpoints to score, each with a directory of results beside it; or other models; A,B: checkpoints that "
        "share the simulations of each theorem.",
        also=("--model",),
    )


@dataclass(frozen=True)
class DeviceOption:
    """Device."""

    device_type: str = opt("", "Where the network runs: cuda, cpu or mps; empty for the best there is.")


@validated("lean")
class LeanOptions:
    """Lean servers."""

    servers: tuple[str, ...] = opt((), "Addresses host:port; without any, embedded NanoLean servers are started.")
    token: str | None = opt(None, "Token that the Lean servers ask for.")
    project: str | None = opt(
        None,
        "Lean project whose lean-toolchain picks the whitelists of data sets (default: LEAN_PROJECT_PATH).",
        advanced=True,
    )


@dataclass(frozen=True)
class PolicyServerOptions:
    """Policy server."""

    server: str | None = opt(None, "Address host:port of a policy server, which suggests tactics instead.")
    token: str | None = opt(None, "Token that the policy server asks for.")


@validated("monitor")
class MonitorAddress:
    """Monitor."""

    port: int | None = opt(5050, "Port of the monitor; none turns it off.", min=0, max=65535)
    host: str = opt(
        "127.0.0.1",
        "Address of the monitor; others than the machine's own need --monitor-token.",
        advanced=True,
    )
    token: str | None = opt(
        None, "Token that browsers are asked for (default: NANOPROOF_MONITOR_TOKEN).", advanced=True
    )


@dataclass(frozen=True)
class PolicyEndpointOptions:
    """Servers that write a model's texts while it is trained: in reinforcement learning, and in rounds of self-play."""

    policy_endpoint: tuple[str, ...] = opt(
        (),
        "vLLM servers that write the samples of a model hf:, http://HOST:PORT/v1 each: the adapters of each step or "
        "round are loaded there. They have to see the run's directory.",
        metavar="URL",
        advanced=True,
    )
    policy_restart: str | None = opt(
        None,
        "For a whole model at endpoints: a command that restarts the server at URL with the model in FOLDER, which it "
        "is to serve as NAME; run as COMMAND FOLDER URL NAME for each step or round.",
        metavar="COMMAND",
        advanced=True,
    )

    def __post_init__(self) -> None:
        check(self.policy_restart is None or bool(self.policy_endpoint), "--policy-restart goes with --policy-endpoint")
