#include "real/manifest.h"

#include <optional>

#include "depfast/host/codec.h"
#include "depfast/record_log.h"

namespace depfast::real {
namespace {

enum class Record : std::uint8_t {
  kIdentity = 0,
  kHolds = 1,
  kMayHold = 2,
  kMayBeGone = 3,
  kGone = 4
};

template <typename... Fields>
std::string Encode(Record kind, const Fields&... fields) {
  std::string out;
  AppendRecord(out, [&] {
    frame_internal::StringSink sink(out);
    msgpack::packer<frame_internal::StringSink> packer(sink);
    packer.pack_array(1 + sizeof...(fields));
    packer.pack(static_cast<std::uint8_t>(kind));
    (packer.pack(fields), ...);
  });
  return out;
}

[[noreturn]] void Damaged() {
  throw LostPromise(std::string(kManifestFile) +
                    " is damaged, so nothing says what this replica has promised");
}

template <typename T>
T Field(const msgpack::object_array& fields, std::uint32_t number) {
  if (number >= fields.size) Damaged();
  return fields.ptr[number].as<T>();
}

Promise PromiseIn(const msgpack::object_array& fields) {
  return {Field<std::uint64_t>(fields, 2), Field<std::uint64_t>(fields, 3)};
}

void Take(const msgpack::object_array& fields, Manifest& manifest) {
  const auto kind = static_cast<Record>(Field<std::uint8_t>(fields, 0));
  if (kind == Record::kIdentity) {
    manifest.identity = {Field<std::string>(fields, 1), Field<PeerId>(fields, 2),
                         Field<int>(fields, 3)};
    return;
  }
  const auto file = Field<std::string>(fields, 1);
  switch (kind) {
    case Record::kHolds:
      manifest.files[file] = {{PromiseIn(fields)}, false};
      return;
    case Record::kMayHold:
      manifest.files[file].holds.push_back(PromiseIn(fields));
      return;
    case Record::kMayBeGone:
      manifest.files[file].gone = true;
      return;
    case Record::kGone:
      manifest.files.erase(file);
      return;
    case Record::kIdentity:
      break;
  }
  Damaged();
}

}  // namespace

std::string ToString(const Identity& identity) {
  return "replica " + std::to_string(identity.replica) + " of " +
         std::to_string(identity.replicas) + " of cluster " + identity.cluster;
}

std::string EncodeIdentity(const Identity& identity) {
  return Encode(Record::kIdentity, identity.cluster, identity.replica, identity.replicas);
}

std::string EncodeHolds(const std::string& file, const Promise& promise) {
  return Encode(Record::kHolds, file, promise.length, promise.hash);
}

std::string EncodeMayHold(const std::string& file, const Promise& promise) {
  return Encode(Record::kMayHold, file, promise.length, promise.hash);
}

std::string EncodeMayBeGone(const std::string& file) { return Encode(Record::kMayBeGone, file); }

std::string EncodeGone(const std::string& file) { return Encode(Record::kGone, file); }

std::size_t Manifest::Read(std::string_view bytes) {
  const std::size_t good = ReadRecords(bytes, [this](std::string_view payload) {
    std::string error;
    const frame_internal::Unpacked value(payload, error);
    if (!value || value.get().type != msgpack::type::ARRAY) Damaged();
    try {
      Take(value.get().via.array, *this);
    } catch (const msgpack::type_error&) {
      Damaged();
    }
  });
  if (identity.replicas == 0 || !MayBeTorn(bytes.substr(good))) Damaged();
  return good;
}

}  // namespace depfast::real
