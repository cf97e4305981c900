// A snapshot of the store in pieces: together they are the snapshot of the moment of its beginning,
// whatever is executed between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "kv_commands.h"
#include "kv_store.h"

namespace depfast::kv {
namespace {

constexpr std::size_t kPieceBytes = 200;
constexpr std::uint64_t kKeys = 60;
// The limit of a key and its value, or a session with its last reply, encoded.
constexpr std::size_t kPairBytesMax = 100;

// A store, and random commands for it that change every kind of state.
class BusyStore {
 public:
  explicit BusyStore(std::uint64_t seed) : stream_(seed, 0) {}

  void Execute(int count) {
    for (int i = 0; i < count; ++i) store.Apply(++index_, EncodeCommand(Any()));
  }

  KvStore store;

 private:
  std::uint64_t Below(std::uint64_t bound) { return stream_.Below(bound); }
  std::string Key() { return "key " + std::to_string(Below(kKeys)); }
  std::string Value() { return std::string(Below(40), static_cast<char>('a' + Below(26))); }

  // A session lives for a few entries, so some expire.
  Command Any() {
    if (sessions_.empty() || Below(8) == 0) {
      sessions_.push_back(index_);
      return {"SESSION", "NEW", std::to_string(1 + Below(60))};
    }
    const std::string session = std::to_string(sessions_[Below(sessions_.size())]);
    switch (Below(8)) {
      case 0:
        return {"DEL", Key(), Key()};
      case 1:
        return {"APPEND", "grows " + std::to_string(Below(4)), "x"};
      case 2:
        return {"SETNX", Key(), Value()};
      case 3:
        return {"INCR", "number " + std::to_string(Below(4))};
      case 4:
        return {"MSET", Key(), Value(), Key(), Value()};
      case 5: {
        const std::string key = Key();
        return {"CAS", key, std::string(Below(2), 'a'), Value()};
      }
      case 6:
        return {"SESSION", session, std::to_string(1 + Below(3)), "GETSET", Key(), Value()};
      default:
        return {"SET", Key(), Value()};
    }
  }

  RandomStream stream_;
  std::uint64_t index_ = 0;
  std::vector<std::uint64_t> sessions_;  // ids, of sessions that may have expired
};

// The pieces that are left, joined; `between` runs after each.
template <typename Between>
std::string Joined(SnapshotPieces& pieces, const Between& between) {
  std::string all;
  for (std::string piece = pieces.Next(kPieceBytes); !piece.empty();
       piece = pieces.Next(kPieceBytes)) {
    EXPECT_LE(piece.size(), kPieceBytes + kPairBytesMax);
    all += piece;
    between();
  }
  return all;
}

TEST(StorePieces, CommandsBetweenPiecesDoNotChangeTheSnapshot) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    BusyStore busy(seed);
    busy.Execute(150);
    const std::string snapshot = busy.store.Snapshot();
    ASSERT_GT(snapshot.size(), 3 * kPieceBytes);
    const auto pieces = busy.store.StartSnapshot();
    ASSERT_EQ(Joined(*pieces, [&] { busy.Execute(5); }), snapshot) << "seed " << seed;
    EXPECT_NE(busy.store.Snapshot(), snapshot) << "seed " << seed;
    EXPECT_EQ(pieces->Next(kPieceBytes), "") << "after the last";
  }
}

TEST(StorePieces, CommandsBeforeTheFirstPieceDoNotChangeTheSnapshot) {
  BusyStore busy(1);
  busy.Execute(150);
  const std::string snapshot = busy.store.Snapshot();
  const auto pieces = busy.store.StartSnapshot();
  busy.Execute(500);
  EXPECT_EQ(Joined(*pieces, [] {}), snapshot);
}

TEST(StorePieces, ASnapshotThatIsGivenUpLeavesNothing) {
  BusyStore busy(2);
  busy.Execute(150);
  auto pieces = busy.store.StartSnapshot();
  EXPECT_NE(pieces->Next(kPieceBytes), "");
  busy.Execute(20);
  pieces = nullptr;
  busy.Execute(20);
  const std::string snapshot = busy.store.Snapshot();
  pieces = busy.store.StartSnapshot();
  EXPECT_EQ(Joined(*pieces, [&] { busy.Execute(5); }), snapshot);
}

TEST(StorePieces, AnEmptyStoreHasASnapshot) {
  KvStore store;
  const auto pieces = store.StartSnapshot();
  store.Apply(1, EncodeCommand({"SET", "x", "1"}));
  EXPECT_EQ(Joined(*pieces, [] {}), KvStore().Snapshot());
}

}  // namespace
}  // namespace depfast::kv
