import errno

import pytest

from nanoproof.common.errors import UserError, run_main


def ends_with(error):
    def main():
        raise error

    with pytest.raises(SystemExit) as ended:
        run_main(main)
    return ended.value.code


def test_an_error_of_the_user_is_one_line_and_code_2(capsys):
    assert ends_with(UserError("no such thing")) == 2
    assert capsys.readouterr().err == "error: no such thing\n"


def test_a_full_disk_is_one_line_and_code_2(capsys):
    assert ends_with(OSError(errno.ENOSPC, "No space left on device", "/data/model_1.pt")) == 2
    assert capsys.readouterr().err == "error: cannot write: No space left on device (/data/model_1.pt)\n"


def test_another_error_keeps_its_traceback():
    with pytest.raises(PermissionError):
        run_main(lambda: (_ for _ in ()).throw(PermissionError(errno.EACCES, "no")))
