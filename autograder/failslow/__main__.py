"""`python -m failslow`: what the `kit` script hands over to."""

import sys

from failslow.cli import main

sys.exit(main(sys.argv[1:]))
