#include "core/stack_trace.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/short_name.h"
#include "core/static_symbols.h"

namespace depfast {
namespace {

std::string NameOf(void* address) {
  Dl_info info = {};
  const bool known = dladdr(address, &info) != 0 && info.dli_sname != nullptr;
  const char* const name = known ? info.dli_sname : StaticSymbolAt(address);
  if (name == nullptr) return "";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? demangled.get() : name;
}

// The frames that all suspended coroutines have in common, above and below the distinctive part,
// and those of the standard library.
bool IsMachinery(std::string_view name) {
  for (const std::string_view part : {"depfast::CurrentStackTrace", "depfast::Scheduler::",
                                      "depfast::Fiber::", "boost::", "make_fcontext", "std::"}) {
    if (name.starts_with(part)) return true;
  }
  return false;
}

}  // namespace

std::string CurrentStackTrace() {
  std::array<void*, 64> frames;
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  std::string out;
  for (int i = 0; i < depth; ++i) {
    const std::string function = NameOf(frames[static_cast<std::size_t>(i)]);
    const QualifiedName name = QualifiedNameOf(function);
    if (name.text.empty() || IsMachinery(name.text)) continue;
    out += "    at " + ShortName(name) + "\n";
  }
  return out;
}

}  // namespace depfast
