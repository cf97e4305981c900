"""`python -m failslow`: the command that the `kit` script runs."""

import sys

from failslow.cli import main

sys.exit(main(sys.argv[1:]))
