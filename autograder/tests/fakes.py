"""Stand-ins for the compiler and the C++ programs of the kit.

The fake linker writes the submitted sources into the "program", so a fake test binary can read
in its replica how the submission wants to behave: words like FAIL:Suite.Name.
"""

import json
import os
import re
import stat
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from failslow.base.kit import Kit, this_kit
from failslow.build.compile import build_submission

COMPILER = """
import sys
arguments = sys.argv[1:]
output = arguments[arguments.index("-o") + 1]
inputs = [word for word in arguments if word.endswith((".cc", ".o")) and word != output]
text = "".join(open(name).read() for name in inputs)
if "-c" in arguments and "SYNTAX" in text:
    print(f"{inputs[0]}:3:1: error: expected unqualified-id")
    sys.exit(1)
if "-c" in arguments and "UNUSED" in text:
    print(f"{inputs[0]}:3:1: warning: unused variable")
if "-c" not in arguments and "UNDEFINED" in text:
    print("undefined reference to `Start()'")
    sys.exit(1)
open(output, "w").write(text)
"""

TEST_BINARY = """
import json, os, signal, sys, time
TESTS = {tests}
options = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])
if "list-graded" in options:
    print(json.dumps(TESTS))
    sys.exit(0)
name = options["gtest_filter"]
behaviour = open(options["replica"] if "replica" in options else __file__).read()
def wants(word):
    return f"{{word}}:{{name}}" in behaviour
open(options["history"], "w").write("1 start\\n2 vote\\n3 end\\n")
if wants("STALLS"):
    open(options["history"], "w").write("".join(
        f"#{{n}}  1.0 s  replica 0 stalls:\\ncoroutine 1 waits\\n\\n" for n in range(1, 26)))
if "record" in options and not wants("UNRECORDED"):
    world = dict(do="world", w=1, t=0, seed=7, replicas=3)
    note = dict(do="note", w=1, t=5000, text="</script> votes")
    method = dict(do="method", w=1, t=0, id=1, name="Vote")
    vote = dict(do="send", w=1, t=1, id=1, kind="reply", method=1, bytes=9, body="[3, true]")
    vote |= {{"from": 1, "to": 0}}
    text = "".join(json.dumps(each) + "\\n" for each in (world, method, vote, note))
    open(options["record"], "w").write(text + ('{{"do":"no' if wants("SEGFAULT") else ""))
if wants("SAYS_WHERE"):
    print("a line by printf", flush=True)
    print("crashed: a null pointer was followed\\nstack: 1a 2b\\nthe end", file=sys.stderr)
    sys.stderr.flush()
if wants("LOOPS"):
    print("replica 1 never waits: one step used more than 5 s of processor", file=sys.stderr)
    sys.stderr.flush()
    os.abort()
if wants("SEGFAULT"):
    os.kill(os.getpid(), signal.SIGSEGV)
if wants("EXIT3"):
    sys.exit(3)
if wants("EXHAUSTS"):
    sys.exit(4)
if wants("HANG"):
    time.sleep(60)
trace = ["send 1", "send 2", "send 3", "send 4", "deliver 5"]
nondeterministic = "NONDETERMINISTIC\\n" in behaviour or wants("NONDETERMINISTIC")
if nondeterministic:
    trace[4] = "deliver from " + options.get("perturb", "0")
if "trace" in options:
    open(options["trace"], "w").write("\\n".join(trace) + "\\n")
unlucky = wants("FAILS_WITH_SEED_" + options.get("seed", ""))
failed = unlucky or wants("FAIL") or wants("VIOLATES") or wants("BREAKS")
suite, case = name.rsplit(".", 1)
entry = dict(name=case, status="RUN", result="COMPLETED", trace_hash=str(trace[4]),
             seed=options.get("seed", "7"))
if "twin" in options:
    entry["twins"] = "differ" if nondeterministic else "same"
if wants("TWINS_DIE"):
    entry["twins"] = "the machine killed a twin: no memory is left"
if wants("CHECKS"):
    entry["operations"] = "21"
if wants("VIOLATES"):
    entry["violated"] = "log matching violated at 0.1 s: odd (rule 1 of the handout)"
if wants("BREAKS"):
    entry["broken"] = "promptness violated at 0.1 s: idle (or not) (rule 2 of the handout)"
for word in ("told", "unbuilt"):
    if wants(word.upper()):
        entry[word] = "words of the test, " + word
if wants("SHRINKS"):
    entry["shrinks"] = "yes"
if wants("STAYS"):
    signal.pause()
if wants("SHRINK_HANGS") and "shrink" in options:
    os.kill(os.getpid(), signal.SIGSEGV)
if failed and "shrink" in options:
    entry["failures"] = [dict(failure="the shortest of " + options["shrink"] + " runs", type="")]
elif failed and wants("LONG_FAIL"):
    entry["failures"] = [dict(failure="a long word " * 20000, type="")]
elif failed and wants("ALONE"):
    said = "log matching violated at 0.1 s: odd (rule 1 of the handout)"
    entry["failures"] = [dict(failure="x.cc:3\\nFailed\\n" + said, type="")]
elif failed:
    entry["failures"] = [dict(failure="expected: 2 votes\\nhappened: 1 vote", type="")]
document = dict(testsuites=[dict(name=suite, testsuite=[entry])])
if not wants("NORESULT"):
    open(options["gtest_output"].partition(":")[2], "w").write(json.dumps(document))
sys.exit((1 if failed else 0) ^ (1 if wants("LIES") else 0))
"""

SEALED_WALLS = """print('{"system calls": true, "Landlock": true}')"""

COMPILER_SANDBOX = """
import os, sys
words = sys.argv[1:]
command = words[words.index("--") + 1:]
os.execv(command[0], command)
"""

RECORDED = Path(__file__).parent / "recorded"
"""Output of the kit's programs; README.md names the commands that recorded it."""


def recorded(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((RECORDED / name).read_text(encoding="utf-8"))
    return content


RUN = recorded("measured_run.json")
EXPLAINED = {name: RUN.pop(name) for name in ("flows", "waits")}

SLOW_FOLLOWER = (
    f"""
import json, sys
RUN, EXPLAINED = {RUN!r}, {EXPLAINED!r}
"""
    + """
options = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])
behaviour = open(options["replica"]).read()
if options["roles"] != "leader,follower":
    sys.exit(5)
slow = options["fault"] not in ("none", "dead")
if "METER_DIES" in behaviour and options["fault"].startswith("disk-slow"):
    sys.exit(4)
factor = 20 if slow and "WAITS_FOR_ALL" in behaviour else 1
if "ALWAYS_SLOW" in behaviour:
    factor = 20
late = slow and "NEVER_CATCHES_UP" in behaviour
nondeterministic = "NONDETERMINISTIC_WHEN_MEASURED" in behaviour
memory = options["perturb"] if nondeterministic else ""
twins = "differ" if nondeterministic else "same"
if "TWINS_DIE" in behaviour and options["fault"].startswith("net"):
    twins = "the machine killed a twin: no memory is left"
if "trace" in options:
    open(options["trace"], "w").write("step\\ndeliver from " + memory + "\\n")
line = RUN | dict(
    throughput=2000.0 / factor, mean_ns=1000000 * factor, p99_ns=2000000 * factor,
    catch_up_ns=None if late else 1000, lag=9 if "KEEPS_UP" in behaviour else 500,
    trace_hash="ab" + options["seed"] + options["rate"] + memory,
    twins=twins if "twin" in options else "")
if "COMPLETES_NOTHING" in behaviour:
    line["throughput"] = 0
if "MISBEHAVES" in behaviour:
    line["error"] = "replica 1 died"
if "LIES" in behaviour and options["shape"] == "long" and slow:
    line["violation"] = "answer 7 was on one disk"
if "explain" in options:
    line |= EXPLAINED
    line["waits"][-1] |= dict(
        replica=0, coroutine="replicate", event="AppendEntries", needed=1, total=1, peers=[2],
        count=412, total_ns=2 * 10**9 * factor, path_ns=2 * 10**9 * factor, has_dependency=True)
print(json.dumps(line))
"""
)

CATALOGUE = recorded("fault_catalogue.json")
FAULT_KINDS = [kind["name"] for kind in CATALOGUE["kinds"]]

# Replica 0 leads. Its first two lines of metrics are a second apart, and far in the future, so
# that it never seems to have been silent for long.
REPLICA = """
import json, os, signal, struct, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
behaviour = open(__file__).read()
number = int(options["--id"])
sizes = [int(size) for size in options.get("--groups", "9").split(",")]
firsts = [sum(sizes[:group]) for group in range(len(sizes))]
def wants(word):
    return f"{word}:{number}" in behaviour
def say(text):
    print(text, file=sys.stderr, flush=True)
if "--format" in sys.argv:
    os.makedirs(options["--data"])
    open(options["--data"] + "/replica.manifest", "w").write(options["--cluster"])
    sys.exit(0)
if "--lose-unsynced" in sys.argv:
    if wants("DAMAGED"):
        say("/build/lab2_real: the disk has lost what this replica had promised: wal is missing")
        sys.exit(2)
    os.remove(options["--data"] + "/unsynced")
    sys.exit(0)
if wants("DIES"):
    say("/build/lab2_real: cannot stand it")
    sys.exit(2)
if "--cluster" in options and not os.path.exists(options["--data"] + "/replica.manifest"):
    say("/build/lab2_real: the data directory has no identity")
    sys.exit(3)
if wants("FAILS_LATER"):
    open(options["--metrics"], "w").write(json.dumps(dict(uptime_ms=1, disk_failure="")) + "\\n")
    say("/build/lab2_real: an exception escaped: the write-ahead log makes no sense")
    sys.exit(1)
if wants("STUBBORN"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
suspended = "1 suspended coroutine" if number == 1 else f"{number} suspended coroutines"
signal.signal(signal.SIGUSR1, lambda *_: say(f"replica {number}: {suspended}"))
os.makedirs(options["--data"], exist_ok=True)
if not wants("OLD"):
    with open(options["--faults"], "wb") as file:
        file.write(struct.pack("=q", KINDS) + bytes(KINDS * 24))
for uptime_s in () if wants("MUTE") else (10**6, 10**6 + 1):
    role = 1 if number in firsts and not wants("NOLEADER") else 0
    names = ["client_frames_in", "frames_in", "frames_out", "disk_syncs", "dropped_frames"]
    line = METRICS | dict.fromkeys(names, uptime_s * 7)
    line |= dict(uptime_ms=uptime_s * 1000, cpu_ms=uptime_s * 250, held_bytes=[0, 0, 2048])
    line |= dict(observed={"1": [3, role, 0, 0]})
    with open(options["--metrics"], "a") as file:
        file.write(json.dumps(line) + "\\n")
say(f"replica {number} is up")
while True:
    signal.pause()
""".replace("KINDS", str(len(FAULT_KINDS))).replace("METRICS", repr(recorded("metrics.json")), 1)

LAB1_YAML = """
id: lab1
title: QuorumEvent
directory: lab1-quorum-event
handout: handouts/lab1-quorum-event.md
files: [quorum_event.h, quorum_event.cc]
needs: []
base: submission
suites: [lab1_public, lab1_hidden]
measurements: []
parts:
  - {id: quorum, title: Votes, points: 100}
"""

LAB2_YAML = """
id: lab2
title: Raft
directory: lab2-raft
handout: handouts/lab2-raft.md
files: [raft.cc]
needs: [lab1]
base: submission
suites: [lab2_public]
measurements:
  - kind: slow-replica
    part: slow-follower
    settings: slow_follower.yaml
    roles: [leader, follower]
    victims: [follower]
parts:
  - {id: raft, title: Raft, points: 10}
  - {id: slow-follower, title: Slow followers, points: 100}
cluster:
  load: log
  shows:
    - {name: role, kind: 1, value: 1, words: [follower, leader]}
    - {name: term, kind: 1, value: 0}
  ready: {name: role, is: leader}
"""


def graded(name: str, points: int, hidden: bool = False, part: str = "quorum") -> dict[str, object]:
    text = f"Property of {name.split('.')[1]}."
    return {"name": name, "part": part, "points": points, "description": text, "hidden": hidden}


SUITES = {
    "lab1_public": [graded("Quorum.Votes", 40), graded("Quorum.Late", 10)],
    "lab1_hidden": [graded("Secret.Nesting", 50, hidden=True)],
    "lab1_own": [graded("Mine.Holds", 0, part="own")],
    "lab2_public": [graded("Raft.Elects", 10, part="raft")],
}


def write_program(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable} -IS\n{textwrap.dedent(body)}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def write_catalogue(path: Path, presets: Collection[str] = ()) -> Path:
    """The program that prints the catalogue of faults; with these presets alone if any is given."""
    rows = [each for each in CATALOGUE["presets"] if not presets or each["name"] in presets]
    return write_program(path, f"print({json.dumps(CATALOGUE | {'presets': rows})!r})")


def write_test_binary(path: Path, tests: list[dict[str, object]]) -> Path:
    return write_program(path, TEST_BINARY.format(tests=repr(tests)))


def build_fakes(monkeypatch: pytest.MonkeyPatch, user: str, body_of: Callable[[str], str]) -> None:
    """Replaces the program that the module `user` builds of a submission by a fake. The fake's
    body follows from its name; its text says how the submission wants to behave."""

    def build(*arguments: object) -> Path:
        programs = build_submission(*arguments)
        for program in programs.iterdir():
            text = program.read_text()
            if not text.startswith("#!"):
                words = "".join(f"# {line}\n" for line in text.splitlines())
                write_program(program, body_of(program.name) + words)
        return programs

    monkeypatch.setattr(f"{user}.build_submission", build)


def write_submission(tree: Path, lab1: str = "", lab2: str | None = None) -> Path:
    """A submission whose sources contain its behaviour. Without `lab2` it holds lab 1 only."""
    lab1_directory = tree / "lab1-quorum-event"
    lab1_directory.mkdir(parents=True)
    (lab1_directory / "quorum_event.h").write_text("// header\n")
    (lab1_directory / "quorum_event.cc").write_text(f"// {lab1}\n")
    if lab2 is not None:
        (tree / "lab2-raft").mkdir()
        (tree / "lab2-raft" / "raft.cc").write_text(f"// {lab2}\n")
    return tree


def write_lab(kit: Kit, lab_id: str, file: str, needs: str) -> None:
    """A lab of one file and without tests. `needs`: lines of its lab.yaml."""
    text = LAB1_YAML.replace("lab1-quorum-event\n", f"{lab_id}\n").replace("needs: []", needs)
    text = text.replace("id: lab1\n", f"id: {lab_id}\n").replace("lab1_public, lab1_hidden", "")
    text = text.replace("quorum_event.h, quorum_event.cc", file)
    (kit.labs / lab_id).mkdir()
    (kit.labs / lab_id / "lab.yaml").write_text(text)


def write_patch(path: Path, header: str, behaviour: str) -> Path:
    """A mutant or an alternative of lab 1's reference."""
    file = "lab1-quorum-event/quorum_event.cc"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{header}\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-// \n+// {behaviour}\n")
    return path


def write_kit(root: Path) -> Kit:
    """A checkout that is built already, from fakes."""
    kit = Kit(root)
    for name, text in (("lab1-quorum-event", LAB1_YAML), ("lab2-raft", LAB2_YAML)):
        (kit.labs / name).mkdir(parents=True)
        (kit.labs / name / "lab.yaml").write_text(text)
    settings = Path("lab2-raft") / "slow_follower.yaml"
    text = (this_kit().labs / settings).read_text(encoding="utf-8")
    # A fake answers the same for each seed: one run has each property.
    text = re.sub(
        r"^(slow_sets:|  before:|  realistic:|  capacity_seeds:) 3", r"\1 1", text, flags=re.M
    )
    (kit.labs / settings).write_text(text, encoding="utf-8")
    write_submission(kit.reference, "", "")
    (kit.root / "driver.cc").write_text("// driver\n")
    for suite, tests in SUITES.items():
        write_test_binary(kit.binary(f"{suite}_sealed"), tests)
    write_program(kit.binary("sandbox_layers"), SEALED_WALLS)
    write_program(kit.binary("compiler_sandbox"), COMPILER_SANDBOX)
    write_program(kit.binary("lab2_measure"), SLOW_FOLLOWER)
    write_catalogue(kit.binary("fault_catalogue"))
    compiler = write_program(kit.root / "fake-compiler", COMPILER)
    names = ["lab1_replica", "lab2_replica", "lab2_real", "lab1_public_sim", "lab1_hidden_sim"]
    write_reply(kit, str(compiler), "-O2", {name: {} for name in names})
    return kit


def write_reply(
    kit: Kit,
    compiler: str,
    flags: str,
    links: dict[str, dict[str, str]],
    objects: Sequence[str] = (),
    preset: str = "release",
) -> None:
    """CMake's file API for programs with the driver as their one given source.

    `links`: by program, the words of its link command and their roles. `objects`: of each program.
    """
    build = kit.preset(preset)
    reply = build / ".cmake" / "api" / "v1" / "reply"
    reply.mkdir(parents=True, exist_ok=True)
    targets: dict[str, object] = {
        f"{name}_submission": {
            "type": "EXECUTABLE",
            "sources": [{"path": "driver.cc"}, *({"path": each} for each in objects)],
            "link": {
                "commandFragments": [{"fragment": word, "role": words[word]} for word in words]
            },
        }
        for name, words in links.items()
    }
    group = {
        "compileCommandFragments": [{"fragment": flags}],
        "defines": [{"define": "DEFINED=1"}],
        "includes": [{"path": "/given"}, {"path": "/system", "isSystem": True}],
    }
    targets["submission"] = {"type": "OBJECT_LIBRARY", "compileGroups": [group]}
    targets["contract"] = {
        "type": "STATIC_LIBRARY",
        "artifacts": [{"path": "lib/libcontract.a"}],
        "sources": [{"path": "contract.cc"}, {"path": "contract.h"}],
    }
    model = {
        "paths": {"source": str(kit.root), "build": str(build)},
        "configurations": [{"targets": [{"name": n, "jsonFile": f"{n}.json"} for n in targets]}],
    }
    toolchains = {"toolchains": [{"language": "CXX", "compiler": {"path": compiler}}]}
    answers = {"codemodel-v2": model, "toolchains-v1": toolchains}
    files = {name: {"jsonFile": f"{name}.json"} for name in answers}
    index = {"reply": {"client-kit": files}}
    for name, content in {**targets, **answers, "index-1": index}.items():
        (reply / f"{name}.json").write_text(json.dumps(content))


PATIENCE_S = 30.0
"""A timeout for events that come soon: only a failure reaches it."""


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        os.sched_yield()
