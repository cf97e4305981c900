"""`python -m failslow`: the command that the `kit` script runs."""

import sys

from failslow.base.errors import EXIT_INTERRUPTED


def _run() -> int:
    try:
        from failslow.cli import main  # takes a second on a busy machine

        return main(sys.argv[1:])
    except KeyboardInterrupt:
        print("kit: interrupted; nothing was written", file=sys.stderr)
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(_run())
