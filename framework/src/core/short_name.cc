#include "core/short_name.h"

#include <cctype>
#include <cstddef>

namespace depfast {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";
constexpr std::string_view kCall = "operator()";
constexpr std::string_view kConst = " const";

// The text outside brackets, up to the first lambda. An operator that is itself a bracket keeps the
// word "operator" alone.
std::string OutsideBrackets(std::string_view function) {
  std::string out;
  int depth = 0;
  while (!function.empty()) {
    std::size_t length = 1;
    if (function.starts_with(kAnonymous)) {
      length = kAnonymous.size();
    } else if (depth == 0 && function.starts_with(kCall)) {
      length = kCall.size();
      out += kCall;
    } else if (std::string_view("(<[").find(function.front()) != std::string_view::npos) {
      ++depth;
    } else if (depth > 0) {
      if (std::string_view(")>]").find(function.front()) != std::string_view::npos) --depth;
    } else if (function.front() == '{') {
      break;
    } else {
      out += function.front();
    }
    function.remove_prefix(length);
  }
  return out;
}

}  // namespace

QualifiedName QualifiedNameOf(std::string_view function) {
  std::string name = OutsideBrackets(function);
  const bool lambda_inside = name.ends_with("::");
  if (lambda_inside) name.resize(name.size() - 2);
  while (name.ends_with(' ')) name.pop_back();
  if (name.ends_with(kConst)) name.resize(name.size() - kConst.size());
  return {name.substr(name.rfind(' ') + 1), lambda_inside};
}

std::string ShortName(const QualifiedName& name) {
  const std::string& text = name.text;
  std::size_t begin = text.rfind("::");
  if (begin != std::string::npos && begin > 0) {
    const std::size_t before = text.rfind("::", begin - 1);
    const std::size_t scope = before == std::string::npos ? 0 : before + 2;
    // Classes begin with a capital, namespaces do not: see the style guide.
    const bool is_class = std::isupper(static_cast<unsigned char>(text[scope])) != 0;
    begin = is_class ? scope : begin + 2;
  } else {
    begin = 0;
  }
  return (name.lambda_inside ? "a lambda in " : "") + text.substr(begin);
}

}  // namespace depfast
