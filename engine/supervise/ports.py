"""TCP ports: bound by us and handed to the engine as an open socket, so that nobody can take one in between."""

from __future__ import annotations

import contextlib
import errno
import socket

import psutil

from engine.errors import InputError

BACKLOG = 128
MAX_PORT = 65_535


def bind_port(host: str = "127.0.0.1", port: int = 0, *, listen: bool = True) -> socket.socket:
    """A listening socket; ``port`` 0 takes a free one. A client that connects before the engine accepts simply waits.

    Args:
        listen: without it the port is only held, for a program that will listen on it and takes no open socket. Linux
            lets two sockets have one port while neither listens and both say SO_REUSEADDR, as servers do; programs
            that are given any free port get another (man 7 socket).

    Raises:
        InputError: the port is taken (named, with its holder where the system tells), forbidden, or the host is not
            an address of this machine.
    """
    if not 0 <= port <= MAX_PORT:  # getaddrinfo would wrap it around silently
        raise InputError("port.range", "port {port} is not a number from 0 to {limit}", port=port, limit=MAX_PORT)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise InputError("port.host", "cannot listen on host {host}: {why}", host=host, why=error.strerror) from error
    listener = socket.socket(family, kind, protocol)
    try:
        # An engine that was just stopped leaves connections in TIME_WAIT; they must not block its successor.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        if listen:
            listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _bind_error(host, port, error) from error
    return listener


def next_free_port(after: int, host: str = "127.0.0.1", tries: int = 100) -> int:
    """The first port above ``after`` that nobody listens on now; any free one where none of ``tries`` is.

    Raises:
        InputError: the host is not an address of this machine.
    """
    for port in (*range(after + 1, min(after + tries, MAX_PORT) + 1), 0):
        try:
            with bind_port(host, port) as listener:
                free: int = listener.getsockname()[1]
                return free
        except InputError:
            if port == 0:
                raise
    raise AssertionError("the last try is any free port")


def _bind_error(host: str, port: int, error: OSError) -> InputError:
    if error.errno == errno.EADDRINUSE:
        holder = port_holder(port)
        return InputError(
            "port.in_use",
            "port {port} on {host} is in use" + (" by {holder}" if holder else ""),
            remedy="choose another with --port, or leave it out for a free one",
            port=port,
            host=host,
            holder=holder,
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return InputError(
            "port.host",
            "cannot listen on host {host}: it is no address of this machine",
            remedy="choose 127.0.0.1 for this machine alone, or 0.0.0.0 for every network that it is in",
            host=host,
        )
    return InputError(
        "port.denied",
        "cannot listen on port {port} of {host}: {why}",
        remedy="choose a port from 1024 to 65535",
        port=port,
        host=host,
        why=error.strerror or str(error),
    )


def port_holder(port: int) -> str:
    """``python3 (pid 4711)`` for whoever listens on the port; empty where the system does not tell (other users)."""
    with contextlib.suppress(psutil.Error, OSError):
        for connection in psutil.net_connections("tcp"):
            local = connection.laddr  # (host, port), or empty
            if connection.status == psutil.CONN_LISTEN and local and local[1] == port and connection.pid:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
    return ""
