"""`kit site build` and `kit site serve`: the handbook, for reading and for its authors."""

import argparse
import socket
from contextlib import closing
from urllib.parse import urlsplit

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.site import build as site

PORT = 8000


def address(text: str) -> str:
    """The address of a directory: it ends with a slash."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise argparse.ArgumentTypeError(f"'{text}' is no address like https://host/path/")
    return f"{text.rstrip('/')}/"


def build(kit: Kit, url: str | None, for_students: bool) -> int:
    """0 when the handbook is built, 1 when its sources have errors (shown)."""
    built = kit.build / "site-for-students" if for_students else kit.handbook
    with console.progress("Building the handbook"):
        if for_students:
            problems = site.build_for_students(kit, built, url or "")
        else:
            problems = site.build(kit, url or "")
    for problem in problems:
        console.note(problem)
    if problems:
        console.note(f"The handbook has {len(problems)} errors; nothing was written")
        return 1
    print(f"The handbook's start page: {built / 'index.html'}")
    return 0


def serve(kit: Kit, port: int) -> int:
    """Serves until an interrupt, which is the normal end (0)."""
    _check_port(port)
    lines = site.serve(kit, port)
    with closing(lines):
        try:
            for item in lines:
                if item != 0 and isinstance(item, int):
                    raise CannotDo(f"MkDocs' server ended with exit code {item} (see above)")
                console.note(str(item))
        except KeyboardInterrupt:
            console.note("stopped")
    return 0


def _check_port(port: int) -> None:
    """CannotDo when the port cannot be used: MkDocs would show a traceback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise CannotDo(f"cannot listen on port {port}: {error.strerror}") from error
