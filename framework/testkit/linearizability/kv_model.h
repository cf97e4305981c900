// The sequential model of the key-value store: what one command after another answers.
//
// It is the specification that histories are checked against, so it is as small as it can be and
// does what Redis does for the same words. Keys and values are strings of bytes; a key that was
// never set, or was deleted, is absent.
//
//   GET key              the value, or nil
//   SET key value        OK
//   DEL key...           how many of the keys were there
//   EXISTS key...        how many of the keys are there; a key named twice counts twice
//   INCR key             the value as a decimal integer, plus one (absent counts as 0); an error,
//                        and no change, if it is not an integer of 64 bits or would overflow
//   APPEND key value     the new length; an absent key counts as empty
//   MGET key...          the values, nil for absent keys; all read at one instant
//   MSET key value...    OK; all set at one instant; of a key named twice the last value stays
//   SETNX key value      1 and sets it if the key is absent, else 0
//   STRLEN key           the length, 0 if absent
//   GETSET key value     the old value or nil, and sets the new one
//   CAS key old new      1 and sets it if the key holds exactly `old`, else 0 (absent, too).
//                        Redis has no such command; the course's store does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace depfast::testkit {

enum class KvVerb {
  kGet,
  kSet,
  kDel,
  kExists,
  kIncr,
  kAppend,
  kMget,
  kMset,
  kSetnx,
  kStrlen,
  kGetset,
  kCas,
};

// One command, known to be well formed.
class KvCommand {
 public:
  // {"SET", "x", "1"}; the name in any case. Throws std::invalid_argument, in one line, if there is
  // no such command or it has the wrong number of arguments.
  explicit KvCommand(std::vector<std::string> words);

  KvVerb verb() const { return verb_; }
  const std::vector<std::string>& arguments() const { return arguments_; }
  // In the order of the command, with repetitions.
  std::vector<std::string> Keys() const;
  // GET, EXISTS, MGET, STRLEN: never changes anything.
  bool IsRead() const;
  // "SET x 1"; arguments with other than printable characters are quoted and escaped.
  std::string Text() const;

 private:
  KvVerb verb_;
  std::vector<std::string> arguments_;
};

// What a client got back.
struct KvReply {
  enum class Kind { kNil, kOk, kInteger, kString, kArray, kError };

  static KvReply Nil() { return {}; }
  static KvReply Ok();
  static KvReply Integer(std::int64_t integer);
  static KvReply String(std::string text);
  static KvReply Array(std::vector<std::optional<std::string>> items);
  static KvReply Error(std::string text);

  // Errors are equal whatever they say: their words are not part of the contract.
  friend bool operator==(const KvReply& a, const KvReply& b);

  // `nil`, `OK`, `7`, `"v1"`, `["v1", nil]`, `error: not an integer`
  std::string Text() const;

  Kind kind = Kind::kNil;
  std::int64_t integer = 0;                       // kInteger
  std::string text;                               // kString, kError
  std::vector<std::optional<std::string>> items;  // kArray; nothing: nil
};

class KvStore {
 public:
  KvReply Execute(const KvCommand& command);

  // Nothing: absent.
  std::optional<std::string> Get(const std::string& key) const;
  void Put(const std::string& key, std::optional<std::string> value);

  // The keys that are there.
  const std::map<std::string, std::string>& values() const { return values_; }

  friend bool operator==(const KvStore&, const KvStore&) = default;

 private:
  KvReply Increment(const std::string& key);

  std::map<std::string, std::string> values_;
};

}  // namespace depfast::testkit
