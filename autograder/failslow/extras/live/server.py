"""Serves the page: three resources, to be read only."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.extras.live import view
from failslow.extras.live.view import Subject

_HERE = Path(__file__).parent
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self';"
    " img-src data:"
)
_FILES = {
    "/": ("page.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}


def serve(subject: Subject, host: str, port: int, begun: Callable[[str], None]) -> None:
    """Until interrupted. Calls `begun` with the page's address. `port` 0: any free one.

    CannotDo when the port cannot be had.
    """

    class Handler(_Handler):
        shown = subject

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except OSError as error:
        raise CannotDo(f"cannot listen on {host}:{port}: {error.strerror}") from error
    with server:
        begun(f"http://{host}:{server.server_address[1]}/")
        server.serve_forever()


class _Handler(BaseHTTPRequestHandler):
    shown: Subject
    server_version = "failslow"
    sys_version = ""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/now.json":
            body = json.dumps(view.of(self.shown)).encode()
            self._answer(body, "application/json")
        elif path in _FILES:
            name, kind = _FILES[path]
            self._answer((_HERE / name).read_bytes(), kind)
        else:
            self.send_error(404)

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:
        """A request each second is no news."""
