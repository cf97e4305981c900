#!/usr/bin/env bash
# Run once by Gradescope when it builds the image: installs and builds everything, so that
# grading needs no network. The unpacked upload is in /autograder/source.
set -euo pipefail
cd "${AUTOGRADER:-/autograder}/source"
./kit install
.venv/bin/python -I -m failslow.extras.commands.gradescope build
chmod go-rwx . # hidden tests and the key are in here, and submissions run as other users
