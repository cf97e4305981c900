"""Runs a suite's two binaries as the grader does, and checks their output and files.

Usage: flags_test.py SIM_BINARY SEALED_BINARY REPLICA
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from itertools import zip_longest
from pathlib import Path

SIM, SEALED, REPLICA = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
IN_REPLICA = f"--replica={REPLICA}"


def run(*command: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    if fails:
        environment["FAILSLOW_SAMPLE_FAILS"] = "1"
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env=environment,
    )


class Flags(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)

    def one_line(self, reason: str, *command: str) -> None:
        done = run(*command)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(reason, done.stderr)

    def test_a_wrong_command_line_is_one_line_and_exit_2(self) -> None:
        self.one_line("not expected: --speed", SIM, "--speed")
        self.one_line("not expected: word", SIM, "word")
        for number in ("x", "", "-1", "1x", "1e3", "99999999999999999999999"):
            self.one_line("--seed", SIM, f"--seed={number}")
        self.one_line("--replica is for sealed", SIM, IN_REPLICA)
        self.one_line("--twin is for sealed", SIM, "--twin=1")
        self.one_line("--replica=PATH is missing", SEALED)
        self.one_line("--replica=/no/where is not a program", SEALED, "--replica=/no/where")

    def test_memory_has_a_limit_of_its_own_exit_code(self) -> None:
        one = "--gtest_filter=Memory.DISABLED_HasALimit"
        done = run(SEALED, IN_REPLICA, one, "--gtest_also_run_disabled_tests")
        self.assertEqual(done.returncode, 4)
        self.assertIn("the test's process has no more memory", done.stderr)

    def test_graded_tests_are_listed_as_json(self) -> None:
        for binary in (SIM, SEALED):
            done = run(binary, "--list-graded")
            self.assertEqual(done.returncode, 0)
            tests = json.loads(done.stdout)
            self.assertEqual(
                [(test["name"], test["part"], test["points"]) for test in tests],
                [
                    ("Graded.Says", "1A", 3),
                    ("Graded.Confesses", "1B", 4),
                    ("Graded.Fails", "1B", 0),
                ],
            )
            self.assertEqual(
                tests[0]["description"], 'What is said is "said" back, byte\\for byte.'
            )
            self.assertIs(tests[0]["hidden"], False)

    def test_every_test_is_listed_and_runs_alone(self) -> None:
        done = run(SEALED, "--gtest_list_tests")
        self.assertEqual(done.returncode, 0, "listing needs no replica")
        self.assertIn("Says", done.stdout)
        self.assertEqual(run(SIM, "--gtest_filter=Graded.Says").returncode, 0)

    def results(self, *command: str, fails: bool = False) -> tuple[int, dict[str, object], str]:
        out = self.scratch / "results.json"
        done = run(*command, f"--gtest_output=json:{out}", fails=fails)
        suite = json.loads(out.read_text())["testsuites"][0]["testsuite"]
        return done.returncode, suite[0], done.stdout

    def hash_of(self, *command: str) -> str:
        status, result, _ = self.results(*command, "--gtest_filter=Graded.Says")
        self.assertEqual(status, 0)
        return str(result["trace_hash"])

    def test_the_trace_hash_is_the_seeds(self) -> None:
        here = self.hash_of(SIM)
        self.assertTrue(here)
        self.assertEqual(self.hash_of(SIM, "--seed=1"), here)
        self.assertEqual(self.hash_of(SEALED, IN_REPLICA), here)
        self.assertEqual(self.hash_of(SEALED, IN_REPLICA, "--perturb=1"), here)
        self.assertNotEqual(self.hash_of(SIM, "--seed=2"), here)

    def test_a_failure_shows_history_and_seed(self) -> None:
        status, result, printed = self.results(
            SIM, "--seed=77", "--gtest_filter=Graded.Fails", fails=True
        )
        self.assertEqual(status, 1)
        self.assertEqual(result["seed"], "77")
        self.assertIn("#1  0.000000 s  asked", str(result["history"]))
        self.assertIn("The end of the history (seed 77):\n#1  0.000000 s  asked\n", printed)

    def test_a_history_in_a_file_is_not_printed_again(self) -> None:
        _, _, printed = self.results(
            SIM,
            "--gtest_filter=Graded.Fails",
            f"--history={self.scratch / 'history'}",
            fails=True,
        )
        self.assertNotIn("The end of the history", printed)

    def test_the_history_is_written_when_asked_for(self) -> None:
        file = self.scratch / "history"
        status, result, printed = self.results(
            SIM, "--gtest_filter=Graded.Says", f"--history={file}"
        )
        self.assertEqual(status, 0)
        self.assertEqual(file.read_text(), "#1  0.000000 s  asked\n")
        self.assertNotIn("history", result)
        self.assertNotIn("The end of the history", printed)

    def trace(self, test: str, perturb: int) -> list[str]:
        file = self.scratch / f"trace-{test}-{perturb}"
        done = run(
            SEALED,
            IN_REPLICA,
            f"--perturb={perturb}",
            f"--trace={file}",
            f"--gtest_filter=Graded.{test}",
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        return file.read_text().splitlines()

    def test_traces_of_a_nondeterministic_replica_differ_where_it_does(self) -> None:
        self.assertEqual(self.trace("Says", 1), self.trace("Says", 2))
        first, second = self.trace("Confesses", 1), self.trace("Confesses", 2)
        differing = [lines for lines in zip_longest(first, second) if lines[0] != lines[1]]
        one, other = differing[0]
        self.assertIn(" replica 0 observe 1 ", one)
        self.assertIn(" replica 0 observe 1 ", other)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
