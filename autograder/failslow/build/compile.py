"""Compiles and links a submission from a clean copy, outside CMake.

A submission is untrusted and changes for every student, so it never enters the kit's own build
tree. Its programs are in build/submissions/<key>/, and the key is a hash of everything the result
depends on. The same key is never built twice. Objects are kept by such a key, too
(build/submission-objects/): submissions and mutants that share files compile them once.

In a sandbox the compiler works elsewhere: see compile_directory.py.
"""

import hashlib
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from failslow.base import atomic, cache, console, deadline, parallel, process
from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit
from failslow.build import compile_directory, macros, precompiled, references, tokens, uncounted
from failslow.build.compile_directory import CompileDirectory
from failslow.build.recipe import Recipe, Target
from failslow.build.sandbox import CompilerSandbox
from failslow.lab.labs import Lab, Labs
from failslow.lab.submission import BASE, SOURCES, Submission, object_for, place

COMPILE_TIMEOUT_S = 300.0
REPLICA = "_replica"
"""Suffix of the names of graded replicas."""

INLINE = "WwVvu"
"""nm's letters for definitions of which the linker takes any one."""

WHOLE, NOT_WHOLE = ("-Wl,--whole-archive",), ("-Wl,--no-whole-archive",)
NO_LTO = ("-fno-lto", "-fno-use-linker-plugin")
"""An object may hold the compiler's intermediate code: the linker must not compile it."""

GIVEN_FIRST = "given code first, macros, tokens, references and definitions checked"
"""Marks programs by their way of linking: see `_Builder.link`."""

LINES = "-g1"
"""Lines of the sources in a program, for the student whose code crashes. The flags for a debugger
have more."""
WALLED = "walled"
"""Marks the results of builds in a sandbox."""

PROGRAM_MODE = 0o711
"""In the sandbox a program is executed by others than its owner, and they need not read it."""
CACHED_BUILDS_MAX = 128
CACHED_OBJECTS_MAX = 512
OBJECTS = "submission-objects"
PRECOMPILED = "precompiled-headers"
OBJECTS_ALONE = "-objects"
"""Marks the result of a build without programs."""
READS = re.compile(rb"(?<![A-Za-z])(?:include|incbin)(?![a-z])")
"""A word by which a source reads another file; "included" in a comment is none."""
READS_A_HEADER = re.compile(rb'\s*#\s*include\s*(?:<[\w/]+(?:\.h|\.hpp)?>|"[^"]+\.h")\s*(?://.*)?')
INCLUDES = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
STARTER = "starter"
OWN_MESSAGE = re.compile(
    r"undefined reference to .*depfast::(?:Rpc::\w+|AppendBody|DecodeBody|Responder)<(.+?)[ >(]"
)
"""What the linker says of a message type without code: depfast/host/codec.h has it."""
FIRST_ERROR = re.compile(r"^(.*?(?:error|undefined reference|multiple definition).*)$", re.M)


@dataclass(frozen=True)
class Options:
    """`alone`: nothing else runs now, so show progress and warnings.
    `sandbox`: around the compiler, for sources of somebody else. What was compiled without is not
    used then. `end`: of the compiler's time. `links`: False for objects alone. `precompiles`: for
    many edits of one source; not in a sandbox."""

    alone: bool = True
    sandbox: CompilerSandbox | None = None
    end: float = deadline.NONE
    links: bool = True
    precompiles: bool = False


def build_submission(
    kit: Kit,
    labs: Labs,
    submission: Submission,
    recipe: Recipe,
    targets: list[Target],
    options: Options = Options(),
) -> Path:
    """Returns the directory with the programs, bin/<target name>.

    BadSubmission with the compiler's first error as its line when it does not compile or
    link; nothing is left behind then.
    """
    sandbox = options.sandbox
    key = f"{key_of(kit, submission, recipe, targets)}{_kind(bool(sandbox))}"
    final = kit.submissions / (key if options.links else f"{key}{OBJECTS_ALONE}")
    while not cache.hold(final):
        cache.keep_latest(kit.submissions, CACHED_BUILDS_MAX)
        cache.keep_latest(kit.submissions.with_name(OBJECTS), CACHED_OBJECTS_MAX)
        with ExitStack() as stack:
            scratch = stack.enter_context(atomic.directory(final))
            for name, content in submission.files.items():
                compile_directory.write_source(scratch / "src" / name, content)
            room = None
            if sandbox:
                opened = compile_directory.opened(kit.root, sandbox, submission.files)
                room = stack.enter_context(opened)
            if wrong := macros.forged(submission.files):
                raise BadSubmission(f"the submission does not compile: {wrong}")
            where = _Place(scratch, final, room)
            builder = _Builder(kit, labs, recipe, where, options, submission.files)
            if options.alone:
                with console.progress(_title(targets), kit.paces) as advance:
                    builder.compile(targets, advance)
            else:
                builder.compile(targets, lambda done, total, now: None)
            if options.links:
                builder.link(targets)
        if options.alone and not sandbox:
            for text in builder.warnings:
                console.note(text)
    return final / "bin"


def _title(targets: list[Target]) -> str:
    return f"Compiling ({', '.join(dict.fromkeys(target.lab.id for target in targets))})"


def object_of(programs: Path, graded: Lab, part_of: Lab, name: str) -> Path:
    """The object of a source, beside the programs that build_submission has returned."""
    return programs.parent / "obj" / _object_name(part_of, f"{place(graded, part_of)}/{name}")


def _is_given(source: str) -> bool:
    """Whether the source is the kit's, and no test that a student has added."""
    return Path(source).is_absolute() and Path(source).parent.name != "tests"


def _object_name(lab: Lab, source: str) -> str:
    return f"{lab.id}__{source.strip('/').replace('/', '_')}.o"


@dataclass(frozen=True)
class _Place:
    """A directory, which will be renamed to `final`. `room`: where the compiler works behind
    sandbox; None: in `scratch`, without."""

    scratch: Path
    final: Path
    room: CompileDirectory | None


class _Builder:
    """Builds the targets."""

    def __init__(
        self,
        kit: Kit,
        labs: Labs,
        recipe: Recipe,
        where: _Place,
        options: Options,
        files: Mapping[str, bytes],
    ) -> None:
        """`files`: of the submission."""
        self._kit = kit
        self._checks = macros.can_list(recipe.compiler)
        self._defines = self._checks and macros.may_define(files.values())
        self._starter = _starters_headers(kit, files)
        changed = any(files[name] != content for name, content in self._starter.items())
        self._checks_references = self._checks and changed
        self._end = options.end
        self._precompiles = options.precompiles and where.room is None
        self._room = where.room
        self._objects = kit.submissions.with_name(OBJECTS)
        self._headers = headers_digest(kit, recipe)
        self._labs = labs
        self._recipe = recipe
        self._scratch = where.scratch
        self._final = where.final
        self.warnings: list[str] = []
        """The compiler's warnings about sources that it compiled, by source."""

    def compile(self, targets: list[Target], advance: console.Advance) -> None:
        """On every core: beside another lab's tests, too, which leave cores idle as they end."""
        parallel.run_all(
            self._jobs(targets),
            lambda job: self._compile_one(*job),
            advance,
            lambda job: Path(job[1]).name,
        )

    def _jobs(self, targets: list[Target]) -> list[tuple[Path, str, list[str]]]:
        """Object, source and include flags of everything to compile, each object once."""
        (self._scratch / "obj").mkdir()
        for name, content in self._starter.items():
            compile_directory.write_source(self._scratch / STARTER / name, content)
        jobs: dict[Path, tuple[Path, str, list[str]]] = {}
        for target in targets:
            for lab, source in self._sources(target):
                output = self._object(lab, source)
                # Without the submission's directories all submissions share the object.
                alone = _is_given(source) and not self._reads_submitted(source)
                given = target.includes if source in target.sources else ()
                includes = [*(() if alone else self._includes(target.lab, lab)), *given]
                jobs.setdefault(output, (output, source, includes))
        return list(jobs.values())

    def link(self, targets: list[Target]) -> None:
        """In a replica all given code comes first, whole: of a function that is defined twice, the
        first one counts, or the linker refuses the second. One that is inline in given code must
        not be defined at all."""
        (self._scratch / "bin").mkdir()
        for target in targets:
            given = {source: self._object(target.lab, source) for source in target.sources}
            objects = [self._object(lab, source) for lab, source in self._sources(target)]
            submitted = [path for path in objects if path not in given.values()]
            libraries = dict.fromkeys(word for word in target.link if self._is_library(word))
            is_graded = target.name.endswith(REPLICA) and bool(libraries)
            whole = [*WHOLE, *libraries, *NOT_WHOLE] if is_graded else []
            output = self._scratch / "bin" / target.name
            first, last = self._placed(given.values()), self._placed(submitted)
            whole, rest = self._placed_words(whole), self._placed_words(target.link)
            if whole:
                ours = [*first, *(word for word in whole if word.endswith(".a"))]
                self._check_definitions(f"{target.lab.id} does not link", ours, last)
                self._check_memory(f"{target.lab.id} does not link", submitted)
            words = [self._recipe.compiler, *NO_LTO, *first, *whole, *last, *rest]
            self._run(words, output, f"{target.lab.id} does not link")
            output.chmod(PROGRAM_MODE)

    def _placed(self, objects: Iterable[Path]) -> list[str]:
        """The paths at which a program finds the objects."""
        if not self._room:
            return [*map(str, objects)]
        return [self._room.copy(path, f"obj/{path.name}") for path in objects]

    def _placed_words(self, words: Sequence[str]) -> list[str]:
        return self._room.words(words) if self._room else [*words]

    def _check_definitions(self, complaint: str, ours: list[str], theirs: list[str]) -> None:
        """BadSubmission if a submission defines what given code defines, too, but for copies of
        the same inline function."""
        inline = {name for name, kind in self._definitions(ours) if kind in INLINE}
        for name, kind in self._definitions(theirs):
            if kind not in INLINE and name in inline:
                raise BadSubmission(f"{complaint}: {name} is defined by given code")

    def _check_memory(self, complaint: str, theirs: Sequence[Path]) -> None:
        """BadSubmission if a submission's object has memory that no heap counts."""
        for path in theirs:
            try:
                why = uncounted.refused(path.read_bytes())
            except ValueError as error:
                why = str(error)
            if why:
                raise BadSubmission(f"{complaint}: {path.name.removesuffix('.o')}: {why}")

    def _definitions(self, files: list[str]) -> list[tuple[str, str]]:
        """The global names that objects and libraries define, with nm's letter for their kind."""
        found: list[tuple[str, str]] = []
        for file in files:
            argv = ["nm", "--defined-only", "--extern-only", "--format=posix", file]
            timeout_s = deadline.left_s(self._end, COMPILE_TIMEOUT_S)
            if self._room:
                done = self._room.look(argv, timeout_s)
            else:
                done = process.run(argv, timeout_s=timeout_s, merge_errors=True)
            is_cut = len(done.output) >= process.OUTPUT_BYTES_MAX
            if done.exit_code != 0 or done.timed_out or is_cut:
                why = "too many names" if is_cut else f"nm: {done.how_it_ended()}"
                raise BadSubmission(f"the submission does not link: {Path(file).name}: {why}")
            rows = [line.split() for line in done.output.splitlines()]
            found += [(row[0], row[1]) for row in rows if len(row) in (3, 4)]
        return found

    def _is_library(self, word: str) -> bool:
        """Whether it is one of the kit's."""
        return word.endswith(".a") and Path(word).is_relative_to(self._kit.build)

    def _sources(self, target: Target) -> Iterator[tuple[Lab, str]]:
        """Submitted sources relative to src/, then the kit's own (absolute)."""
        for lab in self._labs.closure(target.lab):
            for name in lab.files:
                if name.endswith(SOURCES):
                    yield lab, f"{place(target.lab, lab)}/{name}"
        for source in target.sources:
            yield target.lab, source

    def _object(self, lab: Lab, source: str) -> Path:
        return self._scratch / "obj" / _object_name(lab, source)

    def _includes(self, graded: Lab, lab: Lab) -> list[str]:
        """The lab's own directory first, then those of the labs it needs."""
        needed = reversed(self._labs.closure(lab))
        found = [graded if each.id in graded.replaces else each for each in needed]
        return [f"-I{place(graded, each)}" for each in found]

    def _compile_one(self, output: Path, source: str, includes: list[str]) -> None:
        compiled = self._scratch / "src" / object_for(source)
        if source.startswith(BASE) and compiled.is_file():
            atomic.copy(compiled, output)
            return
        kind = _kind(self._room is not None)
        cached = self._objects / f"{self._object_key(source, includes)}{kind}.o"
        if cache.copy(cached, output):
            return
        # The contents of an object must not depend on the directory of its compilation.
        if self._room:
            words = [_named(self._room.given, "given"), _named(self._room.sources, ".")]
            words += self._room.words([*self._recipe.flags, "-c", source])
        else:
            prefix = _named(self._scratch / "src", ".")
            words = [*self._recipe.flags, prefix, "-c", source]
        if _is_given(source) and self._reads_submitted(source):
            self._check_given(output, source, includes)
        if self._precompiles and not _is_given(source):
            words = [*self._precompiled(source, includes), *words]
        words = [self._recipe.compiler, *self._lines(), *words, *includes]
        if said := self._run(words, output, "the submission does not compile"):
            self.warnings.append(said)
        atomic.copy(output, cached)

    def _precompiled(self, source: str, includes: list[str]) -> list[str]:
        """The words that name the precompiled header of a student's source."""
        sources = self._scratch / "src"
        path = sources / source
        own = [sources / each.removeprefix("-I") for each in includes]
        before = precompiled.before_code(path, [*own, *include_directories(self._recipe.flags)])
        digest = hashlib.sha256(self._headers)
        _add(digest, "\0".join(before), "\0".join(includes).encode())
        for directory in own:
            for header in sorted(directory.glob("*.h")) if directory != path.parent else ():
                _add(digest, header.name, header.read_bytes())

        def make(header: Path, binary: Path) -> bool:
            words = [*self._lines(), *self._recipe.flags, *includes, "-w", "-x", "c++-header"]
            argv = [self._recipe.compiler, *words, str(header), "-o", str(binary)]
            return process.run(argv, cwd=sources, timeout_s=COMPILE_TIMEOUT_S).exit_code == 0

        entry = self._objects.with_name(PRECOMPILED) / digest.hexdigest()[:20]
        return precompiled.words(entry, before, make) if before else []

    def _check_given(self, output: Path, source: str, includes: list[str]) -> None:
        """BadSubmission if the submission changes this given source, which includes its headers."""
        root = str(self._room.given if self._room else self._kit.root)
        found = ""
        if self._checks_references:
            listed = self._preprocessed(tokens.WORDS, output, source, includes)
            found = tokens.refused(listed, root)
        if self._defines and not found:
            listed = self._preprocessed(macros.WORDS, output, source, includes)
            found = macros.first_change(listed, root)
        if found:
            raise BadSubmission(f"the submission does not compile: {found}")
        if self._checks_references:
            self._check_references(output, source, includes)

    def _preprocessed(
        self, how: Sequence[str], output: Path, source: str, includes: list[str]
    ) -> str:
        listed = output.with_suffix(".ii")
        words = [*self._recipe.flags, source]
        place = self._room.words(words) if self._room else words
        argv = [self._recipe.compiler, *how, *place, *includes]
        self._run(argv, listed, "the submission does not compile")
        if listed.stat().st_size > macros.BYTES_MAX:
            raise BadSubmission("the submission does not compile: a header is too long")
        text = listed.read_text(encoding="utf-8", errors="replace")
        listed.unlink()
        return text

    def _check_references(self, output: Path, source: str, includes: list[str]) -> None:
        """BadSubmission if a submitted header changes a function of this given source."""
        complaint = "the submission does not compile"
        words = [*self._recipe.flags, *references.WORDS, "-c", source]
        place = self._room.words(words) if self._room else words
        theirs = output.with_suffix(".theirs.o")
        self._run([self._recipe.compiler, *place, *includes], theirs, complaint)
        ours = self._objects / f"{self._object_key(source, includes, STARTER)}.given.o"
        starter = output.with_suffix(".given.o")
        if not cache.copy(ours, starter):
            argv = [self._recipe.compiler, *words, *includes, "-o", str(starter)]
            done = process.run(
                argv, cwd=self._scratch / STARTER, timeout_s=COMPILE_TIMEOUT_S, merge_errors=True
            )
            if done.exit_code != 0:
                raise CannotDo(f"{source} does not compile with the starter", done.output)
            atomic.copy(starter, ours)
        classes = references.classes_in(
            content.decode("utf-8", "replace") for content in self._starter.values()
        )
        try:
            change = references.first_change(starter.read_bytes(), theirs.read_bytes(), classes)
        except ValueError as error:
            raise BadSubmission(f"{complaint}: {error}") from error
        if change:
            named = f"{Path(source).name}: {references.readable(change)}"
            what = f"a header would change given code ({named})"
            raise BadSubmission(f"{complaint}: {what}")
        theirs.unlink()
        starter.unlink()

    def _reads_submitted(self, source: str) -> bool:
        """Whether a given source includes a submitted header, itself or by another of the kit's."""
        directories = [Path(source).parent, *include_directories(self._recipe.flags)]
        submitted = {Path(name).name for name in self._starter}
        seen: set[str] = set()
        left = [Path(source)]
        while left:
            for name in INCLUDES.findall(left.pop().read_text(encoding="utf-8", errors="replace")):
                if name in submitted:
                    return True
                if name not in seen:
                    seen.add(name)
                    left += [each for path in directories if (each := path / name).is_file()]
        return False

    def _lines(self) -> list[str]:
        """Not where the flags are for a debugger."""
        return [] if any(flag.startswith("-g") for flag in self._recipe.flags) else [LINES]

    def _object_key(self, source: str, includes: list[str], tree: str = "src") -> str:
        """A hash of the source, every file it may include, and the compiler's options."""
        here = self._scratch / tree
        digest = hashlib.sha256(self._headers)
        _add(digest, GIVEN_FIRST, b"")  # no object from before macros were checked
        _add(digest, source, (here / source).read_bytes())
        if _is_given(source):
            for path in sorted(Path(source).parent.glob("*.h")):
                _add(digest, str(path), path.read_bytes())
        directories = {
            include: here / include.removeprefix("-I")
            for include in includes
            if not include.startswith("-isystem")
        }
        contents = {
            f"{include} {path.relative_to(directory)}": path.read_bytes()
            for include, directory in directories.items()
            for path in sorted(directory.rglob("*.*"))
            if path.is_file()
        }
        all_count = any(map(may_read_any_file, (*contents.values(), (here / source).read_bytes())))
        for name, content in contents.items():
            if all_count or name.endswith(".h"):
                _add(digest, name, content)
        return digest.hexdigest()[:32]

    def _run(self, words: Sequence[str], output: Path, complaint: str) -> str:
        """Runs the program, which writes `output`, and returns its messages."""
        timeout_s = deadline.left_s(self._end, COMPILE_TIMEOUT_S)
        if self._room:
            done = self._room.run(words, output, timeout_s)
            text = self._room.in_words(done.output)
        else:
            done = process.run(
                [*words, "-o", str(output)],
                cwd=self._scratch / "src",
                env={"TMPDIR": str(self._scratch), **compile_directory.SAME_TIME},
                timeout_s=timeout_s,
                merge_errors=True,
            )
            text = done.output.replace(str(self._scratch), str(self._final))
        if done.timed_out:
            raise BadSubmission(f"{complaint}: the compiler took over {timeout_s:.0f} s")
        if done.exit_code != 0:
            first = FIRST_ERROR.search(text)
            reason = first[1].strip() if first else done.how_it_ended()
            if own := OWN_MESSAGE.search(text):
                reason = f'{own[1]} is a message of yours: #include "depfast/host/codec.h"'
            raise BadSubmission(f"{complaint}: {reason}", text)
        return text


def _starters_headers(kit: Kit, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The headers of a submission as they were handed out, by the same paths. Those of a lab
    without a starter, and the course's own, stay."""
    headers = {name: content for name, content in files.items() if name.endswith(".h")}
    for name in headers:
        directory, _, file = name.partition("/")
        if (handed_out := kit.labs / directory / "src" / file).is_file():
            headers[name] = handed_out.read_bytes()
    return headers


def _kind(walled: bool) -> str:
    """Marks programs and objects by the parts that their keys lack."""
    return f"{WALLED if walled else ''}{LINES}"


def _named(directory: Path, name: str) -> str:
    """The name of a directory in what is compiled."""
    return f"-ffile-prefix-map={directory}={name}"


def key_of(kit: Kit, submission: Submission, recipe: Recipe, targets: list[Target]) -> str:
    """A hash of all inputs: submitted files, flags, compiler, kit headers, drivers, libraries."""
    digest = hashlib.sha256(headers_digest(kit, recipe))
    _add(digest, GIVEN_FIRST, b"")
    for target in targets:
        _add(digest, target.name, "\0".join((*target.sources, *target.link)).encode())
    for name, content in sorted(submission.files.items()):
        _add(digest, name, content)
    for path in sorted(_kit_files(targets)):
        _add(digest, str(path), _read(path))
    for target in targets:
        _add_headers(digest, kit, target.includes)
    return digest.hexdigest()[:20]


def headers_digest(kit: Kit, recipe: Recipe) -> bytes:
    """A hash of the inputs of every compilation: compiler, flags, and the kit's own headers."""
    digest = hashlib.sha256("\0".join([recipe.compiler, *recipe.flags]).encode())
    _add_headers(digest, kit, recipe.flags)
    compiler = Path(shutil.which(recipe.compiler) or recipe.compiler).resolve()
    if compiler.exists():
        status = compiler.stat()
        _add(digest, str(compiler), f"{status.st_size} {status.st_mtime_ns}".encode())
    return digest.digest()


def _add_headers(digest: "hashlib._Hash", kit: Kit, flags: tuple[str, ...]) -> None:
    for include in include_directories(flags):
        if kit.root in include.parents:
            for path in sorted(include.rglob("*.h")):
                _add(digest, str(path), _read(path))


def may_read_any_file(content: bytes) -> bool:
    """Whether the source may read a submitted file that is no header: rare, and allowed."""
    lines = macros.SPLICE.sub(b"", content).splitlines()
    return any(READS.search(line) and not READS_A_HEADER.fullmatch(line) for line in lines)


def _add(digest: "hashlib._Hash", name: str, content: bytes) -> None:
    """Names and lengths go in as well: no two sets of inputs look alike."""
    digest.update(f"{name}\0{len(content)}\0".encode())
    digest.update(content)


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise CannotDo(f"{path} is missing; build the kit first")
    return path.read_bytes()


def _kit_files(targets: list[Target]) -> set[Path]:
    """The kit's own sources, the headers beside them, and the libraries of the targets."""
    files = {Path(source) for target in targets for source in target.sources}
    files |= {header for source in files for header in source.parent.glob("*.h")}
    for target in targets:
        files |= {Path(word) for word in target.link if word.endswith((".a", ".o", ".so"))}
    return files


def include_directories(flags: tuple[str, ...]) -> list[Path]:
    """Directories of -I and -isystem, joined ("-Idir") or separate ("-isystem dir")."""
    directories = []
    for index, flag in enumerate(flags):
        for option in ("-I", "-isystem"):
            if flag == option and index + 1 < len(flags):
                directories.append(Path(flags[index + 1]))
            elif flag.startswith(option) and flag != option:
                directories.append(Path(flag[len(option) :]))
    return directories
