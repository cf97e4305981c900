"""docker-compose.yml as a user takes it: up, faults, a page, down. It needs a Docker engine."""

import json
import os
import shutil
from collections.abc import Iterator
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.extras.check.suites import NO_CONTAINERS
from failslow.extras.shared import waiting

PROJECT, PAGE = "failslow-check", 18080
SETTINGS = {
    "COMPOSE_PROJECT_NAME": PROJECT,
    "FAILSLOW_PAGE": str(PAGE),
    "FAILSLOW_NET": "10.213.78",
    "FAILSLOW_BUILD_NETWORK": "host",
}
REPLICAS = 3
SERVES_S = 60.0
IMAGE, IMAGE_BYTES_MAX = "failslow-lab3", 150_000_000

pytestmark = pytest.mark.full


def docker(*words: str) -> str:
    """The output; empty when it fails."""
    try:
        done = process.run(["docker", *words])
    except OSError:
        return ""
    return done.output.strip() if done.exit_code == 0 else ""


def compose_command() -> list[str] | None:
    """Old or new; None without an engine."""
    if not docker("version", "--format", "{{.Server.Version}}"):
        return None
    if docker("compose", "version"):
        return ["docker", "compose"]
    return ["docker-compose"] if shutil.which("docker-compose") else None


def run(kit: Kit, *argv: Any) -> process.Completed:  # noqa: ANN401
    return process.run(argv, cwd=kit.root, env=SETTINGS)


@pytest.fixture(scope="module")
def containers(kit: Kit) -> Iterator[None]:
    """They run and serve. None is left afterwards."""
    compose = compose_command()
    if compose is None or run(kit, kit.root / "tools" / "containers" / "make-base").exit_code != 0:
        pytest.skip(NO_CONTAINERS)
    try:
        up = run(kit, *compose, "up", "--build", "--detach")
        assert up.exit_code == 0, up.errors
        assert waiting.until(serves, SERVES_S), "the page shows no load on a leader"
        yield
    finally:
        down = run(kit, *compose, "down", "--volumes")
    assert down.exit_code == 0, down.errors
    assert not docker("ps", "--all", "--quiet", "--filter", f"name={PROJECT}")


def serves() -> bool:
    """Whether all replicas run and commands are executed, as the page says."""
    try:
        with urlopen(f"http://127.0.0.1:{PAGE}/now.json", timeout=5) as answer:
            now: dict[str, Any] = json.load(answer)
    except (URLError, OSError, ValueError):
        return False
    states = [each["state"] for each in now["replicas"]]
    return states == ["runs"] * REPLICAS and bool(now["load"]) and now["load"]["committed"] > 0


def test_the_image_is_small_and_runs_as_a_user(containers: None) -> None:
    size = int(docker("image", "inspect", "--format", "{{.Size}}", IMAGE) or 0)
    assert 0 < size <= IMAGE_BYTES_MAX
    users = [docker("exec", f"{PROJECT}{mark}page{mark}1", "id", "-un") for mark in "_-"]
    assert "failslow" in users


@pytest.mark.skipif(os.getuid() != 0, reason=NO_CONTAINERS)
def test_the_cluster_serves_after_faults(kit: Kit, containers: None) -> None:
    for fault in ("net-slow-40ms", "cpu-slow", "disk-slow", "crash"):
        words = ["inject", fault, "--target", "follower", "--for", "1s", "--docker"]
        assert "(follower): healed" in run(kit, kit.root / "kit", "faults", *words).errors, fault
    answer = run(kit, kit.root / "kit", "cluster", "submit", "--docker", "GET", "x")
    assert answer.output.startswith("(nil)"), answer
    assert waiting.until(serves, SERVES_S)
