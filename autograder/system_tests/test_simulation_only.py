"""FAILSLOW_SIMULATION_ONLY, as macOS has it: CMake finds each program of the simulator alone."""

from pathlib import Path

from failslow.base import process
from failslow.base.kit import Kit
from failslow.lab.labs import load_labs


def test_the_programs_of_the_simulator_are_left(kit: Kit, tmp_path: Path) -> None:
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DFAILSLOW_SIMULATION_ONLY=ON"]
    argv = ["cmake", "-S", kit.root, "-B", tmp_path, "-G", "Ninja", *options]
    done = process.run(argv, merge_errors=True)
    assert done.exit_code == 0, done.output
    listed = process.run(["ninja", "-C", tmp_path, "-t", "targets", "all"]).output
    targets = {line.partition(":")[0] for line in listed.splitlines()}
    labs = load_labs(kit).by_id
    assert labs
    for lab in labs:
        assert f"{lab}_public_sim" in targets
        assert {f"{lab}_replica", f"{lab}_real", f"{lab}_public_sealed"}.isdisjoint(targets)
    assert {"depfast_real", "depfast_sealed", "depfast_sandbox"}.isdisjoint(targets)
