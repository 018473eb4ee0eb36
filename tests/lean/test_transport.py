"""HTTP to a server that breaks connections, is busy, or is slow."""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from nanoproof.common.web import http_client
from nanoproof.lean.client import Address
from nanoproof.lean.transport import Transport
from nanoproof.lean.types import AccessDenied, ProtocolError, ServerTimeout, ServerUnavailable

BREAK = b""
HANG = b"HANG"
TRICKLE = b"TRICKLE"


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
                elif answer == TRICKLE:
                    held.append(connection)
                    with suppress(OSError):
                        for byte in OK:
                            connection.sendall(bytes([byte]))
                            time.sleep(0.02)
                else:
                    with suppress(OSError):
                        connection.sendall(answer)
                        while isinstance(answer, Endless):
                            connection.sendall(b" " * (1 << 16))
                        connection.shutdown(socket.SHUT_WR)
                        while connection.recv(1 << 16):  # closed with a part of the request unread, it would be reset
                            pass
                    connection.close()

        threading.Thread(target=serve, daemon=True).start()
        return Transport(Address("127.0.0.1", listener.getsockname()[1]), None, connect_seconds=5)

    yield make
    listener.close()
    for connection in held:
        connection.close()


class Endless(bytes):
    """An answer whose last bytes are sent again and again, until the client goes away."""


@pytest.mark.parametrize("status", ["200 OK", "500 Internal Server Error"])
def test_an_answer_without_end_is_refused(answering: Answering, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MAX_ANSWER_BYTES", 3 << 20)
    with pytest.raises(ProtocolError, match="answered /x with more than 3 MB"):
        answering(Endless(f"HTTP/1.1 {status}\r\n\r\n".encode())).post("/x", {}, seconds=30)


def test_the_largest_answer_is_taken(answering: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MAX_ANSWER_BYTES", 3 << 20)
    text = "x" * ((3 << 20) - 2)
    assert answering(http("200 OK", f'"{text}"')).post("/x", {}, seconds=30) == (200, text)
    with pytest.raises(ProtocolError, match="more than 3 MB"):
        answering(http("200 OK", f'"{text}y"')).post("/x", {}, seconds=30)


def test_an_encoding_that_was_not_asked_for_is_refused(answering: Answering) -> None:
    body = gzip.compress(b'{"fine": true}')
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with pytest.raises(ProtocolError, match="the encoding 'gzip', which we did not ask for"):
        answering(head + body).post("/x", {}, seconds=30)


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


def test_a_trickle_of_bytes_does_not_extend_the_deadline(answering: Answering) -> None:
    with pytest.raises(ServerTimeout):
        answering(TRICKLE).post("/x", {}, seconds=0.2)


def test_half_an_answer_is_no_answer(answering: Answering) -> None:
    half = http("200 OK", '{"fine": true}')[:-4]
    assert answering(half, OK).post("/x", {}, seconds=5) == (200, {"fine": True})
    with pytest.raises(ServerUnavailable):
        answering(half).post("/x", {}, seconds=5, repeatable=False)


def test_a_server_that_has_no_time_is_asked_again_when_it_says(answering: Answering) -> None:
    soon = format_datetime(datetime.now(UTC))
    for after in ("0.1", soon, "what?"):
        away = http("503 Service Unavailable", "{}", f"Retry-After: {after}\r\n")
        assert answering(away, OK).post("/x", {}, seconds=5, repeatable=False) == (200, {"fine": True})


def test_a_server_that_wants_more_time_than_there_is_is_not_asked_again(answering: Answering) -> None:
    long = http("429 Too Many Requests", "{}", "Retry-After: 3600\r\n")
    assert answering(long).post("/x", {}, seconds=5)[0] == 429
    assert answering(long).post("/x", {}, seconds=500, retry_seconds=1)[0] == 429


def test_garbage_is_a_protocol_error(answering: Answering) -> None:
    for body in ("[" * 100_000, "\udcff".encode(errors="replace").decode() + "}", "9" * 10_000):
        with pytest.raises(ProtocolError):
            answering(http("200 OK", body)).post("/x", {}, seconds=5)


def test_an_answer_that_is_no_http_is_an_unavailable_server(answering: Answering) -> None:
    with pytest.raises(ServerUnavailable):
        answering(b"SSH-2.0-OpenSSH\r\n\r\n" * 2).post("/x", {}, seconds=5, repeatable=False)


def test_nobody_is_sent_elsewhere(answering: Answering) -> None:
    away = http("307 Temporary Redirect", "{}", "Location: http://192.0.2.1/\r\n")
    assert answering(away).post("/x", {}, seconds=5)[0] == 307


def test_a_refused_token_is_no_use_to_try_again(answering: Answering) -> None:
    with pytest.raises(AccessDenied) as caught:
        answering(http("401 Unauthorized", "{}")).post("/x", {}, seconds=5)
    assert not caught.value.retryable


def test_threads_share_connections() -> None:
    connections = set()

    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        while data := connection.recv(1 << 16):
            connections.add(connection.getpeername())
            for _ in range(data.count(b"POST /x")):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    transport = Transport(Address("127.0.0.1", listener.getsockname()[1]), None, connect_seconds=5)
    for _ in range(5):
        threads = [threading.Thread(target=transport.post, args=("/x", {}, 5.0)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    transport.close()
    listener.close()
    assert 1 <= len(connections) <= 4
