"""The page of a cluster of containers: python3 -m failslow.extras.live DATA DESCRIPTION PORT."""

import sys
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.extras.live import server, view

ANY_ADDRESS = "0.0.0.0"
"""The engine publishes the container's port where docker-compose.yml says."""


def main(data: str, description: str, port: str) -> int:
    try:
        subject = view.read_subject(Path(data), Path(description))
        server.serve(subject, ANY_ADDRESS, int(port), lambda _: None)
    except CannotDo as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
