"""What a cluster's hosts cannot do is refused at the start, in a line that says what can."""

import sys
from argparse import Namespace
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from nanoproof.actors.fleet import FleetOptions
from nanoproof.actors.remote import ProverSpec
from nanoproof.cluster.driver import _Evaluating, lean_of_hosts, opened_over_hosts, writing_replicas
from nanoproof.cluster.nodes import RayNodes
from nanoproof.common.errors import UserError
from nanoproof.policy.baselines import UniformPolicy
from nanoproof.prover.prover import ProverOptions
from nanoproof.rl.options import ClusterOptions, RLConfig, parse_args
from nanoproof.search.config import SearchConfig

EVALUATION = {"policy": "model", "policy_server": None, "retry_timeouts": True}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--cluster h:1 --premise-tactics 2 --retriever r", "give either --cluster or --premise-tactics"),
    ],
)
def test_of_reinforcement_learning(flags, message):
    args = parse_args(["--model-path", "sft/run", *flags.split()])
    with pytest.raises(UserError, match=message):
        RLConfig.from_args(args)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"policy": "solver-only"}, "--cluster needs --model-path"),
        ({"policy_server": "h:1"}, "--cluster needs --model-path"),
    ],
)
def test_of_evaluations(changed, message):
    with (
        pytest.raises(UserError, match=message),
        opened_over_hosts(ClusterOptions(cluster="h:1"), Namespace(**{**EVALUATION, **changed}), []),
    ):
        pass


def test_hosts_ask_a_model_alone_and_prove_as_the_command_does():
    spec = ProverSpec(SearchConfig(c_base=7.0), ProverOptions(keep_tree=False))
    whole = SimpleNamespace(whole_proofs=False)
    command = SimpleNamespace(spec=lambda: spec, fleet_options=FleetOptions(lean_tactic_seconds=3.0), whole=whole)
    with ExitStack() as stack:
        made = _Evaluating(SimpleNamespace(here="127.0.0.1"), ClusterOptions(cluster="h:1"), command, stack)
        assert ProverSpec.from_json(made._made["evaluate"]) == spec == ProverSpec.from_json(made._made["collect"])
        assert made._made["client"]["tactic_seconds"] == 3.0 and made._made["lean_servers"] == []
        with pytest.raises(UserError, match="hosts ask one model alone"):
            made.make_pool(UniformPolicy())


def test_replicas_are_made_of_checkpoints_of_ours_and_on_a_cluster():
    with pytest.raises(ValueError, match="--policy-replicas are made on a --cluster"):
        ClusterOptions(policy_replicas=1)
    writer = SimpleNamespace(name="openai:http://h/v1#m")
    with (
        pytest.raises(UserError, match="replicas are made of checkpoints of ours, openai:http://h/v1#m is none"),
        writing_replicas(SimpleNamespace(), 1, writer),
    ):
        pass


def test_rank_0_starts_no_lean_where_its_hosts_do():
    with lean_of_hosts(FleetOptions(), SimpleNamespace(is_main=True)) as fleet:
        assert (fleet.slots, fleet.is_real) == ([], False)
        fleet.check()


def test_where_ray_is_not_installed_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"--cluster needs Ray: pip install 'nanoproof\[cluster\]'"):
        RayNodes("127.0.0.1:1")
