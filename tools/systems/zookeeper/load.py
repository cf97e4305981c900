"""Clients of ZooKeeper: each sets or gets a node, time after time, and prints microseconds.

    load.py set|get CLIENTS VALUE_BYTES ENDPOINT,ENDPOINT,...

A client whose server fails goes on at the next one.
"""

import socket
import struct
import sys
import threading
import time

WORD, CLIENTS, VALUE_BYTES, ENDPOINTS = sys.argv[1:]
CREATE, GET, SET = 1, 4, 5
NODE_EXISTS = -110
TIMEOUT_MS = 10_000


def buffer(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


NODE = buffer(b"/node")
VALUE = buffer(b"v" * int(VALUE_BYTES))
ANYBODY = struct.pack(">ii", 1, 31) + buffer(b"world") + buffer(b"anyone")
NEW_NODE = NODE + VALUE + ANYBODY + struct.pack(">i", 0)
WORK = (SET, NODE + VALUE + struct.pack(">i", -1)) if WORD == "set" else (GET, NODE + b"\0")


class Session:
    def __init__(self, endpoint: str) -> None:
        host, port = endpoint.split(":")
        self._stream = socket.create_connection((host, int(port)), timeout=5).makefile("rwb")
        self._ask(struct.pack(">iqiq", 0, 0, TIMEOUT_MS, 0) + buffer(bytes(16)) + b"\0")
        self.do(CREATE, NEW_NODE)

    def do(self, kind: int, body: bytes) -> None:
        """OSError if it is not done."""
        _, _, error = struct.unpack_from(">iqi", self._ask(struct.pack(">ii", 1, kind) + body))
        if error not in (0, NODE_EXISTS):
            raise OSError(f"error {error}")

    def _ask(self, request: bytes) -> bytes:
        self._stream.write(buffer(request))
        self._stream.flush()
        size = self._stream.read(4)
        answer = self._stream.read(*struct.unpack(">i", size)) if len(size) == 4 else b""
        if len(answer) < 16:
            raise ConnectionResetError("no answer")
        return answer


def client() -> None:
    endpoints, at, began = ENDPOINTS.split(","), 0, time.monotonic()
    while True:
        try:
            session = Session(endpoints[at % len(endpoints)])
            while True:
                session.do(*WORK)
                now = time.monotonic()
                sys.stdout.write(f"{round((now - began) * 1e6)}\n")
                sys.stdout.flush()
                began = now
        except OSError:
            at += 1
            time.sleep(0.02)


for _ in range(int(CLIENTS)):
    threading.Thread(target=client).start()
