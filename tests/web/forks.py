"""Runs Python programs for the tests in a browser, each forked from this process, which has imported what they need.

`python -m tests.web.forks SOCKET` takes a connection for each: it gets a line with its arguments as JSON, and says the
number of its process and then all that the program says. It ends when its standard input does.
"""

import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
from pathlib import Path

import nanoproof.monitor.export
import nanoproof.monitor.server  # noqa: F401 (most of the programs would import these for half a second each)


def become(connection: socket.socket) -> None:
    """Do what `python ARGUMENTS` does, and say it to the connection."""
    with connection.makefile("r", encoding="utf-8") as asked:
        arguments = json.loads(asked.readline())
    connection.sendall(f"{os.getpid()}\n".encode())
    for stream in (sys.stdout, sys.stderr):
        os.dup2(connection.fileno(), stream.fileno())
    connection.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


def main() -> None:
    children = []
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1])
    server.listen()
    print("listening", flush=True)
    with selectors.DefaultSelector() as selector:
        for file in (server, sys.stdin):
            selector.register(file, selectors.EVENT_READ)
        while not any(key.fileobj is sys.stdin for key, _ in selector.select()):
            connection, _ = server.accept()
            child = os.fork()
            if child == 0:
                server.close()
                become(connection)
                return
            children.append(child)
            connection.close()
    shutil.rmtree(Path(sys.argv[1]).parent)
    for child in children:  # none is waited for before: these numbers are still theirs
        os.kill(child, signal.SIGINT)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
