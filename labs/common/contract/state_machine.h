// StateMachine: the state that a replicated log's commands change. Given, not submitted: lab 2's
// driver has a Tally, lab 3's is your key-value store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace depfast {

// A snapshot that is handed out in pieces. Together they are the bytes that Restore understands.
class SnapshotPieces {
 public:
  virtual ~SnapshotPieces() = default;

  // The next piece: about `bytes`, and never empty. Empty after the last. Must not wait.
  virtual std::string Next(std::size_t bytes) = 0;
};

// The pieces of a snapshot that is encoded already.
class EncodedPieces final : public SnapshotPieces {
 public:
  explicit EncodedPieces(std::string snapshot) : snapshot_(std::move(snapshot)) {}

  std::string Next(std::size_t bytes) override {
    std::string piece = snapshot_.substr(given_, bytes);
    given_ += piece.size();
    return piece;
  }

 private:
  std::string snapshot_;
  std::size_t given_ = 0;
};

class StateMachine {
 public:
  virtual ~StateMachine() = default;

  // Applies the command at `index` and returns the result that its client is sent. Called once for
  // each committed command, in order of the index; never for no-ops. Must not wait. The result must
  // depend on nothing but the commands applied so far: all replicas must get the same.
  virtual std::string Apply(std::uint64_t index, std::string_view command) = 0;

  // A hint: these commands are applied next, in this order. An empty one is a no-op, and is not
  // applied. Optional on both sides: a log need not give hints, and a state machine may use them to
  // fetch data into the processor's caches. Must not wait, and must not change the state. The views
  // are valid during the call.
  virtual void Expect(std::span<const std::string_view> /*commands*/) {}

  // The whole state after the latest Apply, as bytes that Restore understands on any replica.
  virtual std::string Snapshot() const = 0;

  // Replaces the state by that of a snapshot. Throws std::runtime_error, in one line, if the bytes
  // are not a snapshot; the state is unchanged then.
  virtual void Restore(std::string_view snapshot) = 0;

  // A snapshot of the state after the latest Apply, in pieces. Later commands do not change it.
  // Optional: this one encodes all of the state at once. A state machine that encodes a piece when
  // it is asked for one never keeps its replica for long.
  //
  // There is one such snapshot at a time, and none during a Restore. The state machine must outlive
  // it.
  virtual std::unique_ptr<SnapshotPieces> StartSnapshot() {
    return std::make_unique<EncodedPieces>(Snapshot());
  }
};

}  // namespace depfast
