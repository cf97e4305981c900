"""The container engine of this machine, by its command: Docker, or for images Podman."""

import shutil

from failslow.base import process
from failslow.base.errors import CannotDo

IMAGE_BUILDERS = ("docker", "podman")
NETWORK = "FAILSLOW_BUILD_NETWORK"
"""The environment variable of docker-compose.yml: the network of an image's build."""


def docker(*words: str) -> str:
    """The command's output. CannotDo with the engine's first line when it fails."""
    return ask("docker", *words)


def ask(engine: str, *words: str) -> str:
    """The output of a command of any engine."""
    try:
        done = process.run([engine, *words])
    except OSError as error:
        raise CannotDo(f"cannot run {engine}: {error.strerror}") from error
    if done.exit_code != 0:
        first = (done.errors.strip().splitlines() or [done.how_it_ended()])[0]
        raise CannotDo(f"{engine} {words[0]}: {first}")
    return done.output


def for_images() -> str:
    """The first engine that answers. CannotDo with the reason of the first one that does not."""
    installed = [name for name in IMAGE_BUILDERS if shutil.which(name)]
    if not installed:
        raise CannotDo("an image needs Docker or Podman, and neither is installed")
    refusals: list[CannotDo] = []
    for name in installed:
        try:
            ask(name, "ps", "--quiet")
            return name
        except CannotDo as refusal:
            refusals.append(refusal)
    if "permission denied" in str(refusals[0]).lower():
        raise CannotDo(f"{installed[0]} refuses this user: be root, or join the group docker")
    raise refusals[0]


def answers() -> bool:
    return _works("version", "--format", "{{.Server.Version}}")


def has_image(name: str) -> bool:
    return _works("image", "inspect", name)


def _works(*words: str) -> bool:
    try:
        docker(*words)
    except CannotDo:
        return False
    return True
