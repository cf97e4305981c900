"""The objects of a submission must not have memory that the heap of a replica does not count.

The heap counts operator new and the C library's allocator (framework/hosts/sealed/heap.h). Memory
by other names, and variables of static storage, escape the count.
"""

import re

from failslow.build import references

STATIC_BYTES_MAX = 64 << 10
"""The limit of an object's variables. The references have at most 1 KB."""

_MEMORY = re.compile(
    r"(?:__)?(?:mmap|mmap64|mremap|s?brk|syscall|morecore)$|__curbrk$"
    r"|(?:__)?(?:malloc_\w+|mallopt|mallinfo2?|p?valloc)$|_dl_early_allocate$"
    r"|__(?:real|wrap)_|__(?:libc_|rtld_|minimal_|posix_)?(?:[cm]alloc|realloc|free|memalign)$"
    r"|__libc_p?valloc$"
)


def refused(elf: bytes) -> str:
    """Why an object may not be linked; "" if it may. ValueError if it is damaged."""
    for name in references.undefined(elf):
        if _MEMORY.match(name):
            return f"{name}: memory that the grader does not count: use new or malloc"
    size = references.static_bytes(elf)
    if size > STATIC_BYTES_MAX:
        return (
            f"variables of static storage have {size} bytes, and may have {STATIC_BYTES_MAX}:"
            " use a container"
        )
    return ""
