"""`kit release image`, with an engine that is a script; and a dev container of such an image."""

import json
import platform
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from failslow.base.kit import Kit, this_kit
from failslow.extras.release import image, processors, students
from fakes import write_program
from running import Expect

TAG = "ghcr.io/course/failslow:2026"
OWN, OTHER = "linux/amd64", "linux/arm64"
SERVED = f"Driver: docker-container\nPlatforms: {OWN}, {OWN}/v2, {OTHER}*, linux/386\n"

ENGINE = """
import json, os, pathlib, sys
here = pathlib.Path(__file__).resolve().parent
name, word = pathlib.Path(sys.argv[0]).name, sys.argv[1]
with (here / "calls").open("a") as calls:
    calls.write(" ".join([name, *sys.argv[1:]]) + "\\n")
if "build" in sys.argv[1:3]:
    (here / "context").write_text("\\n".join(sorted(os.listdir())))
answers = json.loads((here / "answers.json").read_text())
code, text = answers.get(f"{name} {word}", (0, ""))
print(text, file=sys.stderr if code else sys.stdout)
sys.exit(code)
"""

Engine = Callable[..., Path]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Installs engines that answer a command, such as "docker ps", with an exit code and a text.
    Returns their directory. A students' kit has one file."""

    def write(kit: Kit, out: Path, options: students.Options, begins: students.Stage) -> None:
        out.mkdir()
        (out / " ".join(["given", *(options.labs or [])])).touch()

    monkeypatch.setattr(students, "write", write)
    monkeypatch.setattr(processors.machine, "platform_name", lambda: "x86_64")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.delenv("FAILSLOW_BUILD_NETWORK", raising=False)
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))

    def install(*names: str, **answers: tuple[int, str]) -> Path:
        for name in names:
            write_program(directory / name, ENGINE)
        said = {name.replace("_", " "): answer for name, answer in answers.items()}
        (directory / "answers.json").write_text(json.dumps(said))
        return directory

    return install


def calls(directory: Path) -> list[str]:
    return (directory / "calls").read_text().splitlines()


BUILD = f"--file {image.DOCKERFILE} --target {image.STAGE} --tag {TAG}"


def test_the_students_kit_is_all_that_a_build_sees(engine: Engine, expect: Expect) -> None:
    directory = engine("docker", "podman")
    said = expect(0, "release", "image", "--tag", TAG, "--labs", "lab1,lab2")
    assert calls(directory) == ["docker ps --quiet", f"docker build {BUILD} ."]
    assert (directory / "context").read_text() == "given lab1 lab2"
    assert f"for {OWN} alone: an image for several goes to a registry" in said.err
    assert f"Made {TAG} for {OWN}\n" in said.err


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((1, "unknown command"), "docker buildx is not there"),
        ((0, f"Driver: docker\nPlatforms: {OWN}, {OTHER}"), "this builder makes no others"),
        ((0, f"Driver: docker-container\nPlatforms: {OWN}"), f"does not know {OTHER}"),
    ],
)
def test_one_platform_is_built_and_then_pushed(
    engine: Engine, expect: Expect, answer: tuple[int, str], why: str
) -> None:
    directory = engine("docker", docker_buildx=answer)
    said = expect(0, "release", "image", "--tag", TAG, "--push")
    assert calls(directory)[2:] == [f"docker build {BUILD} .", f"docker push {TAG}"]
    assert f"for {OWN} alone: " in said.err
    assert why in said.err
    assert f"Pushed {TAG} for {OWN}\n" in said.err


def test_buildx_builds_and_pushes_both_at_once(
    engine: Engine, expect: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = engine("docker", docker_buildx=(0, SERVED))
    monkeypatch.setenv("FAILSLOW_BUILD_NETWORK", "host")
    said = expect(0, "release", "image", "--tag", TAG, "--push")
    platforms = f"--network host --platform {OWN},{OTHER} --push"
    assert calls(directory)[2:] == [f"docker buildx build {BUILD} {platforms} ."]
    assert f"Pushed {TAG} for {OWN} and {OTHER}\n" in said.err


def test_podman_builds_where_docker_does_not_answer(engine: Engine, expect: Expect) -> None:
    directory = engine("docker", "podman", docker_ps=(1, "no daemon"))
    expect(0, "release", "image", "--tag", TAG)
    assert calls(directory)[1:] == ["podman ps --quiet", f"podman build {BUILD} ."]


@pytest.mark.parametrize(
    ("names", "answers", "reason"),
    [
        ([], {}, "an image needs Docker or Podman, and neither is installed"),
        (["docker"], {"docker_ps": (1, "no daemon here\nmore")}, "docker ps: no daemon here"),
        (
            ["docker"],
            {"docker_ps": (1, "Got permission denied while trying to connect")},
            "docker refuses this user: be root, or join the group docker",
        ),
        (
            ["docker"],
            {"docker_build": (2, "#7 1.3 kit: apt-get update failed (above)\n\nERROR: failed")},
            "Building the image: exit code 2: kit: apt-get update failed (above)",
        ),
        (
            ["docker"],
            {"docker_push": (1, "denied: permission_denied: write_package")},
            "Pushing the image: exit code 1: denied: permission_denied: write_package",
        ),
    ],
)
def test_a_refusal_is_one_line(
    engine: Engine,
    expect: Expect,
    names: list[str],
    answers: dict[str, tuple[int, str]],
    reason: str,
) -> None:
    engine(*names, **answers)
    assert expect(2, "release", "image", "--tag", TAG, "--push").reason == f"kit: {reason}"


def test_a_newer_system_than_the_image_is_refused(
    engine: Engine, expect: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine("docker")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.39"))
    reason = expect(2, "release", "image", "--tag", TAG).reason
    assert reason == "kit: the image is of Debian 12, and glibc 2.39 is newer: release there"


@pytest.mark.parametrize(
    "tag",
    [
        "",
        "Course/x",
        "a:",
        "a b",
        'a"',
        "a:b:c",
        "ghcr.io/Course/x:1",
        "/a",
        "a//b",
        "a\n",
        "a" * 256,
    ],
)
def test_a_bad_name_is_refused_before_anything_is_asked(expect: Expect, tag: str) -> None:
    for words in (("image", "--tag"), ("students", "out", "--image")):
        assert "is no name of an image" in expect(2, "release", *words, tag).reason


def test_names_are_as_engines_take_them() -> None:
    assert all(map(image.NAME.fullmatch, (TAG, "failslow", "localhost:5000/a/b_c:v1.2", "a/b--c")))


def test_the_dev_container_is_of_the_image() -> None:
    given, file = (this_kit().root / name for name in (students.DEV_CONTAINER, image.DOCKERFILE))
    text = given.read_text()
    before, after = (
        json.loads(re.sub(r"^ *//.*$", "", each, flags=re.M))
        for each in (text, students.use_image(text, TAG))
    )
    build = before.pop("build")
    assert after == before | {"image": TAG}
    assert (given.parent / build["dockerfile"]).resolve() == file
    stages = re.findall(r"^FROM \S+ AS (\S+)$", file.read_text(), re.M)
    assert stages == [build["target"], image.STAGE]
