"""Why a connection failed, in words: the name of a Python class tells nobody what to do."""

from __future__ import annotations

import errno
import os
import socket
import ssl

import aiohttp


def why_lost(error: Exception) -> str:
    """What one of aiohttp's errors means. Its text is not used: it may hold headers or signed addresses."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, socket.gaierror):
        return "its name is not known"
    if isinstance(error, aiohttp.ClientSSLError) or isinstance(cause, ssl.SSLError):
        return "no secure connection can be made: its certificate is not accepted"
    if isinstance(cause, TimeoutError):
        return "it does not answer"
    number = cause.errno if isinstance(cause, OSError) else None
    if isinstance(cause, aiohttp.ServerDisconnectedError) or number in (errno.ECONNRESET, errno.EPIPE):
        return "it hung up"
    if isinstance(cause, aiohttp.ClientPayloadError):
        return "it broke off in the middle of an answer"
    if number:
        return os.strerror(number).lower()
    return "the connection failed"
