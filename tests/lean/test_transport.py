"""HTTP to a server that breaks connections, is busy, or is slow."""

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from nanoproof.lean.address import Address
from nanoproof.lean.errors import ProtocolError, ServerTimeout, ServerUnavailable
from nanoproof.lean.transport import Transport

BREAK = b""
HANG = b"HANG"


def http(status: str, body: str, headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{headers}\r\n{body}".encode()


OK = http("200 OK", '{"fine": true}')
BUSY = http("429 Too Many Requests", "{}", "Retry-After: 0.1\r\n")

Answering = Callable[..., Transport]


@pytest.fixture
def answering() -> Iterator[Answering]:
    """A transport to a server that gives these answers, one to a connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def make(*answers: bytes) -> Transport:
        def serve() -> None:
            for answer in answers:
                connection, _ = listener.accept()
                connection.recv(1 << 16)
                if answer == HANG:
                    held.append(connection)
                else:
                    connection.sendall(answer)
                    connection.close()

        threading.Thread(target=serve, daemon=True).start()
        return Transport(Address("127.0.0.1", listener.getsockname()[1]), None, connect_seconds=5)

    yield make
    listener.close()
    for connection in held:
        connection.close()


def test_a_broken_connection_is_tried_again_where_that_is_safe(answering: Answering) -> None:
    assert answering(BREAK, BREAK, OK).post("/x", {}, seconds=5) == (200, {"fine": True})


def test_a_broken_connection_is_an_error_where_repeating_is_not_safe(answering: Answering) -> None:
    with pytest.raises(ServerUnavailable, match="cannot be reached"):
        answering(BREAK, OK).post("/x", {}, seconds=5, repeatable=False)


def test_a_busy_server_is_asked_again_even_where_repeating_is_not_safe(answering: Answering) -> None:
    assert answering(BUSY, OK).post("/x", {}, seconds=5, repeatable=False) == (200, {"fine": True})


def test_a_server_that_stays_busy_is_reported_as_such(answering: Answering) -> None:
    assert answering(*[BUSY] * 4).post("/x", {}, seconds=5)[0] == 429


def test_no_answer_in_time_is_a_timeout_and_not_repeated(answering: Answering) -> None:
    with pytest.raises(ServerTimeout, match=r"did not answer /x in 0\.2 s"):
        answering(HANG, OK).post("/x", {}, seconds=0.2)


def test_an_answer_that_is_no_json_is_a_protocol_error(answering: Answering) -> None:
    with pytest.raises(ProtocolError, match="JSON"):
        answering(http("200 OK", "<html>")).post("/x", {}, seconds=5)


def test_an_error_page_has_no_body(answering: Answering) -> None:
    assert answering(http("500 Oops", "<html>")).post("/x", {}, seconds=5) == (500, None)
