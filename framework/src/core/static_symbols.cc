#include "core/static_symbols.h"

#ifndef __ELF__

namespace depfast {

const char* StaticSymbolAt(const void*) { return nullptr; }

}  // namespace depfast

#else

#include <link.h>

#include <algorithm>
#include <cstdint>

namespace depfast {
namespace {

// A program's symbols, by its dynamic section.
struct Symbols {
  const ElfW(Sym) * first = nullptr;
  const char* names = nullptr;
  const std::uint32_t* hashes = nullptr;  // GNU's hash table: the only one that counts them
  ElfW(Addr) base = 0;
};

int ReadFirstObject(dl_phdr_info* info, std::size_t, void* out) {
  auto& symbols = *static_cast<Symbols*>(out);
  symbols.base = info->dlpi_addr;
  const auto* const segments_end = info->dlpi_phdr + info->dlpi_phnum;
  const auto* const dynamic =
      std::find_if(info->dlpi_phdr, segments_end,
                   [](const ElfW(Phdr) & segment) { return segment.p_type == PT_DYNAMIC; });
  if (dynamic == segments_end) return 1;
  const auto at = [&](ElfW(Addr) address) {
    // A dynamic linker has relocated these addresses, and a static start has not.
    return address < symbols.base ? symbols.base + address : address;
  };
  for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(symbols.base + dynamic->p_vaddr);
       entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) address = at(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) symbols.first = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) symbols.names = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_GNU_HASH) {
      symbols.hashes = reinterpret_cast<const std::uint32_t*>(address);
    }
  }
  return 1;  // the program itself is the first
}

// The table lists each bucket's symbols one after the other, the last one with an odd hash.
std::uint32_t CountOf(const std::uint32_t* hashes) {
  const std::uint32_t buckets = hashes[0];
  const std::uint32_t first = hashes[1];
  const std::uint32_t filter_words = hashes[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const bucket = hashes + 4 + filter_words;
  const std::uint32_t* const chain = bucket + buckets;
  std::uint32_t last = *std::max_element(bucket, bucket + buckets);
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

Symbols Read() {
  Symbols symbols;
  dl_iterate_phdr(ReadFirstObject, &symbols);
  return symbols;
}

}  // namespace

const char* StaticSymbolAt(const void* address) {
  static const Symbols symbols = Read();
  if (symbols.first == nullptr || symbols.names == nullptr || symbols.hashes == nullptr) {
    return nullptr;
  }
  const auto offset = reinterpret_cast<ElfW(Addr)>(address) - symbols.base;
  const auto* const end = symbols.first + CountOf(symbols.hashes);
  const auto* const found = std::find_if(symbols.first, end, [&](const ElfW(Sym) & symbol) {
    return symbol.st_value <= offset && offset - symbol.st_value < symbol.st_size;
  });
  return found == end ? nullptr : symbols.names + found->st_name;
}

}  // namespace depfast

#endif
