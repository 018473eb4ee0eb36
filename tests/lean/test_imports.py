"""The proof environment stands without torch."""

import subprocess
import sys


def test_client_and_server_do_not_import_torch() -> None:
    code = (
        "import sys, nanoproof.lean.embedded, nanoproof.lean.banned, nanoproof.lean.server.__main__; "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
