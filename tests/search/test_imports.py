import subprocess
import sys


def test_search_and_prover_never_import_torch() -> None:
    code = "import sys, nanoproof.search.search, nanoproof.prover.prover; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
