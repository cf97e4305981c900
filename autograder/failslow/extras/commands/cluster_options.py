"""The options that say which cluster a command means."""

import argparse
from importlib.util import find_spec
from pathlib import Path

from failslow.extras.cluster.data_directory import CONTAINERS

ONLY = "the only one of this checkout"


def add_to(parser: argparse.ArgumentParser, default: str = ONLY, docker: bool = False) -> None:
    """They give `data`, as place.named_or_only takes it. `docker`: containers will do. A student's
    kit has none."""
    group = parser.add_mutually_exclusive_group()
    text = f"the cluster's data ({default})"
    group.add_argument("--data", type=Path, metavar="PATH", help=text)
    if docker and find_spec("failslow.extras.cluster.containers"):
        text = "the containers of docker-compose.yml"
        group.add_argument(
            "--docker", action="store_const", const=CONTAINERS, dest="data", help=text
        )
