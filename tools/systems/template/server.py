"""A small replicated store: replica 0 leads, and a write is done when a majority has it on disk.

    server.py NUMBER DATA CLIENT_PORT PEER_PORT PEER,PEER,...

Clients send a line: "set KEY VALUE", "get KEY" or "status". There is no election: it is a template
for servers that get faults (system.yaml), and no example of a good one.
"""

import asyncio
import os
import sys

NUMBER, DATA, CLIENT_PORT, PEER_PORT = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
PEERS = sys.argv[5].split(",")
HOST = "127.0.0.1"

log = open(os.path.join(DATA, "log"), "a+b", buffering=0)  # noqa: SIM115, PTH118, PTH123
log.seek(0)
entries = log.read().splitlines()
values = dict(entry.split(b" ", 1) for entry in entries)
grown = asyncio.Event()  # set and replaced when there are more entries


def append(entry: bytes) -> None:
    global grown
    log.write(entry + b"\n")
    os.fsync(log.fileno())
    entries.append(entry)
    values.update([entry.split(b" ", 1)])
    grown.set()
    grown = asyncio.Event()


acknowledged = [0] * len(PEERS)


async def replicate(peer: int) -> None:
    """Sends a follower all entries that it lacks, one after the other."""
    while True:
        try:
            host, port = PEERS[peer].split(":")
            answers, to = await asyncio.open_connection(host, int(port))
            while line := await answers.readline():
                acknowledged[peer] = int(line)
                while acknowledged[peer] >= len(entries):
                    await grown.wait()
                to.write(entries[acknowledged[peer]] + b"\n")
        except OSError:
            pass
        await asyncio.sleep(0.1)


async def follow(lines: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    to.write(b"%d\n" % len(entries))
    while line := await lines.readline():
        append(line.rstrip())
        to.write(b"%d\n" % len(entries))
    to.close()


async def serve(lines: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    while line := await lines.readline():
        word, _, rest = line.rstrip().partition(b" ")
        if word == b"status":
            to.write(b"%s %d\n" % (b"follower" if NUMBER else b"leader", len(entries)))
        elif word == b"get":
            to.write(values.get(rest, b"") + b"\n")
        elif NUMBER:
            to.write(b"I do not lead\n")
        else:
            append(rest)
            index = len(entries)
            while sum(each >= index for each in acknowledged) < len(PEERS) // 2:
                await asyncio.sleep(0.001)
            to.write(b"ok\n")
    to.close()


async def main() -> None:
    await asyncio.start_server(follow, HOST, int(PEER_PORT))
    await asyncio.start_server(serve, HOST, int(CLIENT_PORT))
    await asyncio.gather(*(replicate(peer) for peer in range(1, len(PEERS)) if not NUMBER))
    await asyncio.Event().wait()


asyncio.run(main())
