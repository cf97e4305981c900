#include "resp_writer.h"

#include <utility>

namespace depfast::kv {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
// The kind of a text in RESP3, of three letters, and what divides it from the text.
constexpr std::string_view kPlainText = "txt:";

}  // namespace

RespWriter& RespWriter::Line(char kind, std::string_view text) {
  bytes_ += kind;
  bytes_ += text;
  bytes_ += kLineEnd;
  return *this;
}

RespWriter& RespWriter::Bulk(std::string_view bytes) {
  constexpr std::size_t kAroundMax = 16;  // the kind, the size and two ends of lines
  if (bytes_.empty()) bytes_.reserve(bytes.size() + kAroundMax);
  Line('$', std::to_string(bytes.size()));
  bytes_ += bytes;
  bytes_ += kLineEnd;
  return *this;
}

RespWriter& RespWriter::Text(std::string_view text) {
  if (!is_resp3()) return Bulk(text);
  Line('=', std::to_string(kPlainText.size() + text.size()));
  bytes_ += kPlainText;
  bytes_ += text;
  bytes_ += kLineEnd;
  return *this;
}

RespWriter& RespWriter::Map(std::size_t pairs) {
  return is_resp3() ? Line('%', std::to_string(pairs)) : Array(2 * pairs);
}

RespWriter& RespWriter::Set(std::size_t count) {
  return is_resp3() ? Line('~', std::to_string(count)) : Array(count);
}

RespWriter& RespWriter::Append(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::kNil:
      return Nil();
    case Reply::Kind::kStatus:
      return Status(reply.text);
    case Reply::Kind::kInteger:
      return Integer(reply.integer);
    case Reply::Kind::kString:
      return Bulk(reply.text);
    case Reply::Kind::kArray:
      Array(reply.items.size());
      for (const auto& item : reply.items) item ? Bulk(*item) : Nil();
      return *this;
    case Reply::Kind::kError:
      return Error(reply.text);
  }
  return *this;
}

std::string RespWriter::Take() { return std::exchange(bytes_, {}); }

}  // namespace depfast::kv
