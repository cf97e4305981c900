// Manifest: the promises of the files in a replica's data directory. A later start finds a loss by
// it. The file kManifestFile holds it, as records (depfast/record_log.h), each a MessagePack array:
//
//   [0, cluster, replica, replicas]  the identity of the directory; always the first record
//   [1, file, length, hash]          the file begins with `length` bytes that have this hash; all
//                                    earlier statements on the file are void
//   [2, file, length, hash]          the file may also begin with these: it is about to be
//                                    truncated, or replaced
//   [3, file]                        the file may also be missing: it is about to go
//   [4, file]                        the file is gone; nothing is known of it
//
// A hash is XXH3-64. It finds damage, not forgery.
//
// promised_files.h writes the manifest, and states the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/peer.h"

namespace depfast::real {

inline constexpr const char* kManifestFile = "replica.manifest";
inline constexpr const char* kNewManifestFile = "replica.manifest.new";

// The replica whose data a directory holds.
struct Identity {
  std::string cluster;  // a name that no other cluster has
  PeerId replica = 0;
  int replicas = 0;  // of the cluster

  friend bool operator==(const Identity&, const Identity&) = default;
};

// "replica 1 of 3 of cluster 5f2a".
std::string ToString(const Identity& identity);

// The first bytes of a file.
struct Promise {
  std::uint64_t length = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const Promise&, const Promise&) = default;
};

// The replica must not start: the sentence says why.
class LostPromise : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Each returns one framed record.
std::string EncodeIdentity(const Identity& identity);
std::string EncodeHolds(const std::string& file, const Promise& promise);
std::string EncodeMayHold(const std::string& file, const Promise& promise);
std::string EncodeMayBeGone(const std::string& file);
std::string EncodeGone(const std::string& file);

// The contents of the records.
struct Manifest {
  // The states of a file that break no promise. Never without any.
  struct MayBe {
    std::vector<Promise> holds;
    bool gone = false;
  };

  Identity identity;
  std::map<std::string, MayBe> files;

  // Takes in the whole records of a manifest, and returns the number of their bytes. A crash may
  // have torn the rest. Throws LostPromise if the bytes are damaged, or do not begin with an
  // identity.
  [[nodiscard]] std::size_t Read(std::string_view bytes);
};

}  // namespace depfast::real
