"""docker-compose.yml as a user takes it: up, faults, a page, down. It needs a Docker engine."""

import json
import os
import shutil
from collections.abc import Sequence
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from failslow import console, process, waiting
from failslow.check.step import Context, Counts

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


def run(context: Context) -> Counts:
    compose = _compose()
    if compose is None:
        return Counts(skipped="no Docker engine answers, or it has no compose")
    base = process.run([context.kit.root / "tools" / "containers" / "make-base"])
    if base.exit_code != 0:
        return Counts(skipped=f"no base image: {base.errors.strip()}")
    counts = Counts()
    with console.progress("Running containers"):
        try:
            up = _run(context, [*compose, "up", "--build", "--detach"])
            counts.expect(up.exit_code == 0, f"compose up: {up.errors}")
            if up.exit_code == 0:
                _expect_all(context, counts)
        finally:
            down = _run(context, [*compose, "down", "--volumes"])
            counts.expect(down.exit_code == 0, f"compose down: {down.errors}")
    left = _docker("ps", "--all", "--quiet", "--filter", f"name={PROJECT}")
    counts.expect(not left, f"containers are left: {left}")
    return counts


def _expect_all(context: Context, counts: Counts) -> None:
    serves = waiting.until(_serves, SERVES_S)
    counts.expect(serves, f"the page shows no load on a leader after {SERVES_S:.0f} s")
    size = int(_docker("image", "inspect", "--format", "{{.Size}}", IMAGE) or 0)
    counts.expect(0 < size <= IMAGE_BYTES_MAX, f"the image has {size:,} bytes")
    user = _docker("exec", f"{PROJECT}_page_1", "id", "-un") or _docker(
        "exec", f"{PROJECT}-page-1", "id", "-un"
    )
    counts.expect(user == "failslow", f"the containers' processes run as {user}")
    if os.getuid() != 0:
        counts.remarks.append("faults in containers: not tried, they need root")
        return
    for fault in ("net-slow-40ms", "cpu-slow", "disk-slow", "crash"):
        words = ["inject", fault, "--target", "follower", "--for", "1s", "--docker"]
        said = _run(context, [context.kit.root / "kit", "faults", *words]).errors
        counts.expect("(follower): healed" in said, f"kit faults inject {fault} --docker: {said}")
    answer = _run(context, [context.kit.root / "kit", "cluster", "submit", "--docker", "GET", "x"])
    counts.expect(answer.output.startswith("(nil)"), f"kit cluster submit: {answer}")
    counts.expect(waiting.until(_serves, SERVES_S), "the cluster does not serve after the faults")


def _serves() -> bool:
    """Whether all replicas run and commands are executed, as the page says."""
    try:
        with urlopen(f"http://127.0.0.1:{PAGE}/now.json", timeout=5) as answer:
            now: dict[str, Any] = json.load(answer)
    except (URLError, OSError, ValueError):
        return False
    states = [each["state"] for each in now["replicas"]]
    return states == ["runs"] * REPLICAS and bool(now["load"]) and now["load"]["committed"] > 0


def _compose() -> list[str] | None:
    """The command, old or new; None without an engine."""
    if not _docker("version", "--format", "{{.Server.Version}}"):
        return None
    if _docker("compose", "version"):
        return ["docker", "compose"]
    return ["docker-compose"] if shutil.which("docker-compose") else None


def _docker(*words: str) -> str:
    """What it prints; empty when it fails."""
    try:
        done = process.run(["docker", *words])
    except OSError:
        return ""
    return done.output.strip() if done.exit_code == 0 else ""


def _run(context: Context, argv: Sequence[Any]) -> process.Completed:
    return process.run(argv, cwd=context.kit.root, env=SETTINGS)
