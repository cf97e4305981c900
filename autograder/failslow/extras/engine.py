"""The Docker engine of this machine, by its command."""

from failslow.base import process
from failslow.base.errors import CannotDo


def docker(*words: str) -> str:
    """The command's output. CannotDo with the engine's first line when it fails."""
    try:
        done = process.run(["docker", *words])
    except OSError as error:
        raise CannotDo(f"cannot run docker: {error.strerror}") from error
    if done.exit_code != 0:
        first = (done.errors.strip().splitlines() or [done.how_it_ended()])[0]
        raise CannotDo(f"docker {words[0]}: {first}")
    return done.output


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
