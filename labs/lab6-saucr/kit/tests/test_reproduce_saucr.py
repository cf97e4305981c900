"""`kit reproduce saucr`: runs of fake systems, table 2 of document 003 beside ours, its bars."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from demands import some
from failslow.base import process, records
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.extras import lab_kits
from failslow.extras.check import sweep
from failslow.extras.check.step import Context
from failslow.extras.reproduction.reproduction import command, results_path
from failslow.lab.labs import load_labs
from fakes import write_program
from running import Expect

lab6 = lab_kits.load(this_kit(), load_labs(this_kit()).get("lab6"))
assert lab6 is not None
published, performance = lab6.published, lab6.performance
sequences, table2 = lab6.sequences, lab6.table2
REPRODUCTION = lab6.REPRODUCTIONS["saucr"]
Scale = sequences.Scale
DISK, GAPS, MEMORY = published.DISK, published.GAPS, published.MEMORY
NO_MINORITY, SAUCR, VR = published.NO_MINORITY, published.SAUCR, published.VR

# By its number, a sequence of ten must lose what is in memory, and three more do. One leaves too
# few replicas that can recover. The last words of the file are a mistake.
SYSTEM = """
import json, sys
options = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])
system, mistake = options["system"], open(__file__).read().split("# ")[-1].strip()
if mistake == "DIES":
    sys.exit("replica 1 died")
first, count, every = (int(options[name]) for name in ("first", "count", "every"))
for number in range(first, first + count * every, every):
    kind = number // (10 if every == 10 else 1) % 10
    lost = system == "saucr" and options["crashes"] == "at-once" and kind == 1
    ideal = verdict = "unavailable" if lost else "correct"
    loss = "certain" if kind == 0 else "possible" if kind < 6 else "none"
    if system == "memory-durable" and kind < 4:
        verdict = "data loss"
    violation = why = ""
    if number == 100 and mistake == "KEEPS_LOST_DATA":
        verdict = "correct"
    if kind == 9 and mistake == "LOSES":
        verdict, why = "data loss", "one is in 1 file"
    if mistake == "LOSES_NOTHING" and kind:
        verdict = "correct"
    if number == 30 and mistake == "LIES":
        violation = "a marker lies"
    line = dict(number=number, states="12345, 1", verdict=verdict, ideal=ideal, loss=loss, why=why)
    print(json.dumps(line | dict(vr="unavailable" if kind else "correct", violation=violation)))
"""

# A log on disks waits 51 or 2.3 times as long, or twice with the two clients' loads of the bars.
FIGURES = """
import json, os, sys
words, mistake = sys.argv[1:], open(__file__).read().split("# ")[-1].strip()
def option(name):
    return words[words.index(name) + 1] if name in words else ""
if mistake == "DIES":
    sys.exit("no replica leads")
wait = {"hdd": 50.8, "ssd": 2.3}.get(option("--profile"), 2) if "disk-durable" in __file__ else 1
wait = 2 if option("--fault") == "dead" else wait
for seed in range(int(option("--seeds"))):
    line = dict(per_second=1000, mean_us=100 * wait, p99_us=200, fast=99, slow=0, flushes=0)
    if mistake == "SLOW" and option("--rate") == "1420" and option("--fault") == "none":
        line |= dict(mean_us=106, slow=1)
    if mistake == "SLOW" and option("--reads") == "95":
        line |= dict(per_second=959)
    if words[0] == "failures":
        after = -1 if mistake == "LATE" else 40
        line = dict(slow_after_ms=after, fast_after_ms=200, slots=[9] * 80)
    if words[0] == "correlated":
        assert os.environ["SAUCR_BEAT_US"] == "50000"
        late = 1 if mistake == "LATE" and "--leader-first" in words else 0
        line = dict(flushed=int(option("--gap-us")) // 20000 - late)
    print(json.dumps(line | dict(violation="a marker lies" if mistake == "LIES" else "")))
"""


@pytest.fixture(autouse=True)
def variants(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_kits, "reproductions", lambda _: lab6.REPRODUCTIONS)
    patch = kit.reference / "lab6-saucr/variants/disk-durable.patch"
    patch.parent.mkdir(parents=True)
    patch.touch()
    for system in sequences.RUN:
        mistaken(kit, system, "")
        measured(kit, system, "")


def measured(kit: Kit, system: str, mistake: str) -> None:
    for name in performance.programs_of(system):
        write_program(kit.binary(name), f"{FIGURES}# {mistake}\n")


def mistaken(kit: Kit, system: str, mistake: str) -> None:
    write_program(kit.binary(f"sequences_{system}"), f"{SYSTEM}# {mistake}\n")


def cell(found: dict[str, Any], system: str, scenario: str, replicas: int = 5) -> dict[str, Any]:
    (one,) = [
        each
        for each in found["cells"]
        if (each["system"], each["scenario"], each["replicas"]) == (system, scenario, replicas)
    ]
    return one


def missed(kit: Kit) -> str:
    return "\n".join(table2.missed(sequences.measure(kit, Scale(every=10))))


def test_each_sequence_runs_once_in_each_way() -> None:
    runs = [
        (share.system, share.replicas, share.crashes, number)
        for share in sequences.plan(sequences.FULL)
        for number in share.numbers
    ]
    assert len(runs) == len(set(runs)) == 3 * 2 * (498 + 766)
    assert sum(len(share.numbers) for share in sequences.plan(sequences.QUICK)) == 3 * 2 * 127


def test_verdicts_are_counted_beside_those_of_the_models(kit: Kit) -> None:
    found = sequences.measure(kit, Scale(every=1))
    memory = cell(found, MEMORY, GAPS)
    assert (memory["total"], memory["lost"], memory["certain"]) == (498, 200, 50)
    assert (cell(found, VR, GAPS)["unavailable"], cell(found, VR, GAPS)["correct"]) == (448, 50)
    assert cell(found, SAUCR, GAPS)["correct"] == 498
    few = cell(found, SAUCR, NO_MINORITY, replicas=7)
    assert (few["total"], few["unavailable"], few["differ"]) == (77, 77, 0)
    assert table2.missed(found) == []
    rows = table2.table(found).rows
    assert ("ZK-mem", "5", "gaps", "498 / 498", "248 / 298", "0 / 0", "250 / 200", "0") in rows
    assert rows[-1][3:] == ("41 / 77", "0 / 0", "41 / 77", "0 / 0", "0")
    assert {row[-1] for row in rows if row[0] == "VR-ideal"} == {"model"}
    assert len(rows) == len(published.TABLE_2)


@pytest.mark.parametrize(
    ("system", "mistake", "sentence"),
    [
        (SAUCR, "LOSES", "SAUCR, 5 nodes, gaps: 5 of 50 differ from the ideal model: number 90"),
        (SAUCR, "LOSES", "(12345, 1) is data loss, one is in 1 file"),
        (SAUCR, "LOSES", "SAUCR, 7 nodes, gaps: 70 of 77 are correct, and all must be"),
        (SAUCR, "LIES", "SAUCR, 5 nodes, gaps: 1 of 50 break a rule of SAUCR: number 30"),
        (DISK, "LOSES", "ZK-disk, 7 nodes, at once: 7 of 77 differ"),
        (MEMORY, "KEEPS_LOST_DATA", "ZK-mem, 5 nodes, gaps: 1 of 50 differ"),
        (MEMORY, "LOSES", "ZK-mem, 5 nodes, gaps: 5 of 50 differ"),
        (MEMORY, "LOSES_NOTHING", "ZK-mem, 7 nodes, gaps: 10 % lose data, not 20 % to 46 %"),
    ],
)
def test_a_missed_bar_is_named(kit: Kit, system: str, mistake: str, sentence: str) -> None:
    mistaken(kit, system, mistake)
    assert sentence in missed(kit)


def test_the_command_prints_the_table_or_json(expect: Expect, kit: Kit) -> None:
    said = expect(0, "reproduce", "saucr", "--quick").out
    assert "every 10th sequence" in said and "498 / 50" in said
    text = expect(0, "reproduce", "saucr", "--quick", "--json").out
    scale = Scale(**json.loads(text)["scale"])
    assert scale == sequences.QUICK
    assert expect(0, *command("saucr", quick=True).split()[1:]).out == text
    mistaken(kit, SAUCR, "LOSES")
    assert "missed: SAUCR, 5 nodes" in expect(1, "reproduce", "saucr", "--quick").err


def test_the_figures_of_speed_have_bars_and_plots(kit: Kit) -> None:
    found = performance.measure(kit, performance.QUICK)
    assert performance.missed(found) == []
    figures = {figure.name: figure.value for figure in performance.section(found).figures}
    assert figures["two dead, to disk-durable, loaded: mean latency grown"] == 0
    assert figures["figure 11, followers first, 55 ms: flushed, mean"] == 2
    assert figures["ssd, 1 client: mean latency, disk-durable, to memory-durable"] == 2.3
    labels = [plot.labels[-1] for plot in performance.section(found).plots]
    assert labels == ["64 clients", "workload C"] * 2
    assert len(found["slots"]) == 80


@pytest.mark.parametrize(
    ("mistake", "sentences"),
    [
        (
            "SLOW",
            [
                "loaded: mean latency is 106 %, not at most 105",
                "5 seeds: commands in slow",
                "workload B: to memory-durable is 95.9 %, not at least 96",
            ],
        ),
        ("LATE", ["slow mode after is 1,000,000,000 ms", "flushed, least is 1 replicas, not at"]),
    ],
)
def test_a_missed_bar_of_speed_is_named(kit: Kit, mistake: str, sentences: list[str]) -> None:
    measured(kit, SAUCR, mistake)
    said = "\n".join(performance.missed(performance.measure(kit, performance.QUICK)))
    assert all(sentence in said for sentence in some(sentences)), said


@pytest.mark.parametrize(
    ("mistake", "reason"),
    [("LIES", "a run breaks a rule of SAUCR"), ("DIES", "no result: no replica leads")],
)
def test_a_figure_of_a_wrong_run_is_none(kit: Kit, mistake: str, reason: str) -> None:
    measured(kit, SAUCR, mistake)
    with pytest.raises(CannotDo, match=reason):
        performance.measure(kit, performance.QUICK)


def test_a_students_kit_has_nothing_to_run(expect: Expect, kit: Kit) -> None:
    (kit.reference / "lab6-saucr/variants/disk-durable.patch").unlink()
    assert "no variants of lab6" in expect(2, "reproduce", "saucr").reason


def test_a_run_that_fails_is_named(expect: Expect, kit: Kit) -> None:
    mistaken(kit, DISK, "DIES")
    reason = expect(2, "reproduce", "saucr", "--quick").reason
    assert "kit: disk-durable, " in reason  # of several that run side by side
    assert "no result: replica 1 died" in reason
    write_program(kit.binary(f"sequences_{DISK}"), "")
    assert "it has not run each" in expect(2, "reproduce", "saucr", "--quick").reason


def test_the_check_notices_results_of_another_day(kit: Kit, tmp_path: Path) -> None:
    path = results_path(kit, "saucr")
    path.parent.mkdir(parents=True)
    path.write_text(records.text(sequences.measure(kit, sequences.QUICK)))
    context = Context(kit, True, tmp_path)
    assert sweep.of_a_lab(context, "saucr", REPRODUCTION).passed == 1
    mistaken(kit, SAUCR, "LIES")
    (problem,) = sweep.of_a_lab(context, "saucr", REPRODUCTION).problems
    assert "./kit reproduce saucr --quick --json" in problem


def test_every_variant_fits_the_files_that_it_changes(tmp_path: Path) -> None:
    real = this_kit()
    for system in (DISK, MEMORY):
        patch = real.reference / f"lab6-saucr/variants/{system}.patch"
        for line in patch.read_text(encoding="utf-8").splitlines():
            if not line.startswith("--- a/"):
                continue
            name = line.removeprefix("--- a/")
            root = real.root if name.startswith("labs/") else real.reference
            copy = tmp_path / system / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, copy)
        argv = ["patch", "-p1", "--fuzz=0", "--batch", "--forward", "-i", patch]
        assert process.run(argv, cwd=tmp_path / system).exit_code == 0


# ---- the committed results ----


def test_the_committed_results_meet_every_bar() -> None:
    path = results_path(this_kit(), "saucr")
    committed = json.loads(path.read_text(encoding="utf-8"))
    assert Scale(**committed["scale"]) == sequences.FULL
    assert table2.missed(committed) == performance.missed(committed["figures"]) == []
    for replicas, few, unavailable in ((5, 20, 472), (7, 39, 576)):
        assert cell(committed, SAUCR, NO_MINORITY, replicas)["unavailable"] == few
        assert cell(committed, VR, GAPS, replicas)["unavailable"] == unavailable
        assert cell(committed, SAUCR, GAPS, replicas)["total"] == published.SEQUENCES[replicas]
