"""Memory of a submission that the heap of a replica does not count."""

from pathlib import Path

import pytest

from failslow.base import process
from failslow.build import uncounted


def refused(directory: Path, source: str) -> str:
    (directory / "mine.cc").write_text(source)
    argv = ["g++", "-std=c++20", "-O1", "-c", "mine.cc", "-o", "mine.o"]
    done = process.run(argv, cwd=directory, merge_errors=True)
    assert done.exit_code == 0, done.output
    return uncounted.refused((directory / "mine.o").read_bytes())


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("#include <sys/mman.h>\nvoid* f() { return mmap(0, 9, 1, 2, 3, 4); }", "mmap"),
        ("#include <sys/mman.h>\nauto* f() { return &mremap; }", "mremap"),
        ("#include <unistd.h>\nvoid* f() { return sbrk(1 << 20); }", "sbrk"),
        ("#include <unistd.h>\nlong f() { return syscall(9); }", "syscall"),
        ('extern "C" void* __libc_malloc(long); auto* f() { return __libc_malloc(1); }', "__libc_"),
        ('extern "C" void* __real_malloc(long); auto* f() { return __real_malloc(1); }', "__real_"),
        ('void* g() asm("__memalign"); void* f() { return g(); }', "__memalign: memory"),
        ("#include <malloc.h>\nlong f(void* p) { return malloc_usable_size(p); }", "malloc_usable"),
        ("#include <malloc.h>\nvoid* f() { return valloc(1 << 20); }", "valloc"),
        ('void f() { asm("call __mmap64"); }', "__mmap64"),
        ("char all[70'000]; char* f() { return all; }", "70000 bytes"),
        ("thread_local char all[70'000]; char* f() { return all; }", "static storage"),
        ("char* f() { static char all[70'000] = {1}; return all; }", "static storage"),
        ("inline char all[70'000]; char* f() { return all; }", "static storage"),
        ("template <int N> struct S { static inline char all[N]; };"
         "char* f() { return S<70'000>::all; }", "static storage"),
        ("[[gnu::section(\"mine\")]] char all[70'000] = {1}; char* f() { return all; }", "static"),
        ("[[gnu::common]] char all[70'000]; char* f() { return all; }", "static"),
        ('asm(".lcomm all, 70000");', "static storage"),
        ('asm(".comm all, 70000");', "static storage"),
    ],
)  # fmt: skip
def test_memory_that_no_heap_counts_is_refused(tmp_path: Path, source: str, why: str) -> None:
    assert why in refused(tmp_path, source)


def test_memory_that_is_counted_is_allowed(tmp_path: Path) -> None:
    source = """#include <cstdlib>
    #include <cstring>
    #include <memory>
    #include <string>
    const int table[20'000] = {1};
    char* f(int i) { return static_cast<char*>(std::malloc(table[i])); }
    char* g(char* text) { return strdup(static_cast<char*>(std::realloc(text, 9))); }
    struct mmap { virtual ~mmap() = default; static std::string brk() { return "syscall"; } };
    void share(std::shared_ptr<mmap>& a, std::shared_ptr<mmap>& b) { a = b; }
    auto h() { static std::string some; some += mmap::brk(); return std::make_shared<mmap>(); }
    """
    assert refused(tmp_path, source) == ""
