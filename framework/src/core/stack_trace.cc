#include "core/stack_trace.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

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

// The frames that all suspended coroutines have in common, above and below the distinctive part.
bool IsMachinery(std::string_view name) {
  for (const std::string_view part :
       {"depfast::CurrentStackTrace", "depfast::Scheduler::", "depfast::Fiber::", "boost::co",
        "make_fcontext", "std::_Function_handler", "std::function<"}) {
    if (name.substr(0, part.size()) == part) return true;
  }
  return name.find("boost::context") != std::string_view::npos;
}

}  // namespace

std::string CurrentStackTrace() {
  std::array<void*, 64> frames;
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  std::string out;
  for (int i = 0; i < depth; ++i) {
    const std::string name = NameOf(frames[static_cast<std::size_t>(i)]);
    if (name.empty() || IsMachinery(name)) continue;
    out += "    at " + name + "\n";
  }
  return out;
}

}  // namespace depfast
