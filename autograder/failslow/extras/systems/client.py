"""An operation or a question on a connection: HTTP, the Redis protocol, or a line on TCP."""

import asyncio
import re
from collections.abc import Mapping

from failslow.extras.faults.socket_owner import CLIENTS

ANSWER_S = 5.0
ANSWER_BYTES_MAX = 1 << 24
FAILURES = (OSError, ValueError, asyncio.TimeoutError, asyncio.IncompleteReadError)
"""Those of an operation that is not done."""


class Refused(OSError):
    """The answer says that the replica has not done it."""


class Connection:
    """At most one operation at a time. `source`: the address that it comes from."""

    def __init__(self, endpoint: str, source: str = CLIENTS) -> None:
        self.endpoint = endpoint
        self._source = source
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def do(self, work: Mapping[str, str], within_s: float = ANSWER_S) -> str:
        """The answer. `work`: as in the system's file, its names filled in. One of FAILURES if it
        is not done; the connection is closed then."""
        try:
            answer = await asyncio.wait_for(self._do(work), within_s)
            if "answer" in work and not re.search(work["answer"], answer):
                raise Refused(answer[:100])
        except BaseException:
            self.close()
            raise
        return answer

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _do(self, work: Mapping[str, str]) -> str:
        if self._streams is None:
            host, _, port = self.endpoint.rpartition(":")
            self._streams = await asyncio.open_connection(
                host, int(port), limit=ANSWER_BYTES_MAX, local_addr=(self._source, 0)
            )
        lines, to = self._streams
        if "http" in work:
            method, _, path = work["http"].partition(" ")
            body = work.get("body", "").encode()
            head = (
                f"{method} {path} HTTP/1.1\r\nHost: {self.endpoint}\r\nContent-Length: {len(body)}"
            )
            to.write(head.encode() + b"\r\n\r\n" + body)
            return await self._http_answer(lines)
        if "redis" in work:
            parts = work["redis"].encode().split()
            each = b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
            to.write(b"*%d\r\n%s" % (len(parts), each))
            return await _redis_answer(lines)
        to.write(work["line"].encode() + b"\n")
        return (await _line(lines)).decode(errors="replace")

    async def _http_answer(self, lines: asyncio.StreamReader) -> str:
        version, status, *_ = (await _line(lines)).split()
        closes, length, chunked = version == b"HTTP/1.0", None, False
        while header := (await _line(lines)).lower():
            name, _, value = header.partition(b":")
            if name == b"content-length":
                length = int(value)
            elif name == b"transfer-encoding":
                chunked = b"chunked" in value
            elif name == b"connection":
                closes = b"close" in value
        content = b""
        if chunked:
            while size := int(await _line(lines), 16):
                content += (await lines.readexactly(size + 2))[:-2]
            await _line(lines)
        elif length is not None or not closes:
            content = await lines.readexactly(length or 0)
        else:
            content = await lines.read()
        if closes:
            self.close()
        text = content.decode(errors="replace")
        if not status.startswith(b"2"):
            raise Refused(text[:100])
        return text


async def _line(lines: asyncio.StreamReader) -> bytes:
    line = await lines.readline()
    if not line.endswith(b"\n"):
        raise ConnectionResetError("no answer")
    return line.rstrip(b"\r\n")


async def _redis_answer(lines: asyncio.StreamReader) -> str:
    """The parts of an array are on lines of their own."""
    head = await _line(lines)
    kind, text = head[:1], head[1:].decode(errors="replace")
    if kind == b"-":
        raise Refused(text)
    if kind == b"$":
        content = b"" if text == "-1" else (await lines.readexactly(int(text) + 2))[:-2]
        return content.decode(errors="replace")
    if kind == b"*":
        return "\n".join([await _redis_answer(lines) for _ in range(max(0, int(text)))])
    return text
