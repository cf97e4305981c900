"""The parser of C++, and what `kit check` and `kit release` find with it in the given half."""

from pathlib import Path

import pytest

from failslow.base.kit import Kit, this_kit
from failslow.extras.check import given
from failslow.extras.check.step import Context
from failslow.extras.release import copies, tree
from failslow.extras.shared import cpp

SOLUTION = "reference-solutions/lab2-raft/raft.cc"
TEXT = (this_kit().root / SOLUTION).read_text()
ABOVE, _, BODY = TEXT.partition("void Raft::AppendPending() {\n")
BODY = BODY.partition("\n}\n")[0]
GIVEN = "labs/lab6-saucr/contract/base.cc"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# --- The parser ---


def test_a_class_has_its_own_data_members_as_fields(tmp_path: Path) -> None:
    source = write(
        tmp_path / "a.h",
        """
class All {
 public:
  explicit All(int x);
  virtual ~All() = default;
  const std::string& Name() const;
  int* Pointer();
  static int count;
  friend class Other;
  struct Nested { int c; bool bit : 1; };

 private:
  int a_ = 0, b_;
  std::function<void(int)> call_;
  void (*pointer_)(int) = nullptr;
  std::map<int, std::string> map_{};
  const int* at_ = nullptr;
  int three_[3];
  Nested nested_;
  union { int u; float v; };
};
class Declared;
""",
    )
    assert [(each.name, each.line, each.fields) for each in cpp.classes(source)] == [
        ("All", 2, 10),
        ("Nested", 10, 2),
    ]


def test_a_function_has_statements_without_layout_and_comments(tmp_path: Path) -> None:
    source = write(
        tmp_path / "a.cc",
        """
int Raft::Sum(int a) {  // A comment.
  if (a >
      0) { return a; }
  auto twice = [] (int x) { return x + x; };
  return twice(a, "; }");
}
std::string* Find() { return nullptr; }
int declared();
""",
    )
    first, second = cpp.functions(source)
    assert (first.name, first.line) == ("Raft::Sum", 2)
    assert first.statements == (
        "if ( a > 0 )",
        "return a",
        "auto twice = [ ] ( int x )",
        "return x + x",
        'return twice ( a , "; }" )',
    )
    assert (second.name, second.statements) == ("Find", ("return nullptr",))


# --- Answers to another lab ---


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    """A checkout with lab 2's solution, and no other file that is given or secret."""
    kit = Kit(tmp_path)
    write(kit.root / SOLUTION, (this_kit().root / SOLUTION).read_text())

    def files(_: Kit) -> list[str]:
        return [path.relative_to(kit.root).as_posix() for path in sorted(kit.root.rglob("*.*"))]

    monkeypatch.setattr(tree, "tracked", files)
    monkeypatch.setattr(tree, "given", lambda _: [n for n in files(kit) if not tree.is_secret(n)])
    return kit


def test_a_function_of_another_labs_solution_is_found(planted: Kit, tmp_path: Path) -> None:
    write(planted.root / GIVEN, f"// Ours.\nvoid Base::Take(int) {{\n{BODY}}}\n")
    (found,) = copies.find(planted)
    place = f"{SOLUTION}:{ABOVE.count(chr(10)) + 1}"
    assert str(found) == f"Base::Take ({GIVEN}:2) is 100% of Raft::AppendPending ({place})"
    context = Context(planted, full=False, scratch=tmp_path)
    assert (given.answers(context).passed, given.answers(context).problems) == (0, [str(found)])
    (planted.root / GIVEN).unlink()
    assert given.answers(context).passed == 1


@pytest.mark.parametrize(("added", "finds"), [(-1, True), (0, False)])
def test_half_of_a_function_may_be_in_a_solution(planted: Kit, added: int, finds: bool) -> None:
    write(planted.root / GIVEN, f"void Take() {{\n{BODY}}}\n")
    count = copies.find(planted)[0].given.statements.total() + added
    own = "".join(f"int of_our_own_{number} = {number};\n" for number in range(count))
    write(planted.root / GIVEN, f"void Take() {{\n{own}{BODY}}}\n")
    assert bool(copies.find(planted)) == finds


def test_what_its_own_lab_gives_is_no_answer(planted: Kit) -> None:
    text = (this_kit().root / "labs/lab2-raft/src/raft.cc").read_text()
    write(planted.root / "labs/lab4-finalize/src/raft.cc", text)
    assert [copy.given.name for copy in copies.find(planted)] == ["Raft::Start"]
    write(planted.root / "labs/lab2-raft/src/raft.cc", text)
    assert copies.find(planted) == []


def test_an_answer_in_a_handout_is_found(planted: Kit) -> None:
    page = f"# Lab 6\n\n```cpp\nint a = 1;\n```\n\n```\n{BODY}\n```\n"
    write(planted.root / "handouts/lab6-saucr.md", page)
    (found,) = copies.find(planted)
    assert found.given.place == "handouts/lab6-saucr.md:8"


# --- Fields ---


def test_a_class_of_a_lab_has_20_fields_at_most(tmp_path: Path) -> None:
    kit = Kit(tmp_path)
    for name, count in (("Full", given.FIELDS_MAX), ("Over", given.FIELDS_MAX + 1)):
        fields = "".join(f"int field{number}_;\n" for number in range(count))
        write(kit.labs / "lab1/contract" / f"{name}.h", f"class {name} {{ {fields} }};")
    counts = given.fields(Context(kit, full=False, scratch=tmp_path))
    assert counts.passed == 1
    assert counts.problems == [
        "labs/lab1/contract/Over.h:1: Over has 21 fields, and 20 at most may be"
    ]
