#include "linearizability/replies.h"

#include <ostream>
#include <string_view>

#include "kv_errors.h"
#include "testkit/json.h"

namespace depfast::kv {

bool AreSame(const Reply& a, const Reply& b) {
  return a == b || (a.kind == Reply::Kind::kError && b.kind == Reply::Kind::kError);
}

bool IsPermitted(const Reply& reply, const Reply& permitted) {
  if (reply.kind != Reply::Kind::kError) return reply == permitted;
  const std::string_view text = reply.text;
  return HasCode(permitted, text.substr(0, text.find(' ')));
}

std::string ToText(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::kNil:
      return "nil";
    case Reply::Kind::kInteger:
      return std::to_string(reply.integer);
    case Reply::Kind::kString:
      return testkit::JsonString(reply.text);
    case Reply::Kind::kStatus:
    case Reply::Kind::kError:
      return reply.text;
    case Reply::Kind::kArray:
      break;
  }
  std::string items;
  for (const auto& item : reply.items) {
    items += (items.empty() ? "" : ", ") + (item ? testkit::JsonString(*item) : "nil");
  }
  return "[" + items + "]";
}

void PrintTo(const Reply& reply, std::ostream* out) { *out << ToText(reply); }

}  // namespace depfast::kv
