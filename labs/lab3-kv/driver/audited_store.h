// AuditedStore: the store as the log sees it, and its twin, which has its state from snapshots: see
// kv_audit.h. Without audits there is no twin, and an Apply costs nothing more.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kv_audit.h"
#include "kv_store.h"
#include "state_machine.h"
#include "tally.h"

namespace depfast::kv {

class AuditedStore final : public StateMachine {
 public:
  // The store must outlive this.
  explicit AuditedStore(KvStore& store) : store_(store) {}

  std::string Apply(std::uint64_t index, std::string_view command) override {
    std::string reply = store_.Apply(index, command);
    if (twin_ != nullptr) {
      Check(twin_->Apply(index, command) == reply,
            "a store restored from a snapshot gives another reply to the entry at index " +
                std::to_string(index));
    }
    return reply;
  }

  void Expect(std::span<const std::string_view> commands) override {
    static_cast<StateMachine&>(store_).Expect(commands);  // a store may use this name for its own
  }

  std::string Snapshot() const override { return store_.Snapshot(); }

  std::unique_ptr<SnapshotPieces> StartSnapshot() override { return store_.StartSnapshot(); }

  void Restore(std::string_view snapshot) override {
    store_.Restore(snapshot);
    if (twin_ != nullptr) twin_->Restore(snapshot);
  }

  KvAuditReply Audit() {
    try {
      const std::string state = store_.Snapshot();
      Compare(state);
      latest_ = state;
      return {CommandHash(state), problem_, state.size()};
    } catch (const std::exception& error) {  // else the test would hear of no problem
      Check(false, std::string("a snapshot cannot be taken: ") + error.what());
      return {0, problem_, 0};
    }
  }

 private:
  void Compare(const std::string& state) {
    if (twin_ == nullptr) {
      twin_ = std::make_unique<KvStore>();
    } else {
      Check(twin_->Snapshot() == state,
            "a store restored from a snapshot has another state after the same entries");
      RestoreTwin(latest_);
    }
    RestoreTwin(state);
    RefuseDamage(state);
  }

  void Check(bool holds, const std::string& otherwise) {
    if (!holds && problem_.empty()) problem_ = otherwise;
  }

  // The twin holds another state before.
  void RestoreTwin(const std::string& snapshot) {
    try {
      twin_->Restore(snapshot);
      Check(twin_->Snapshot() == snapshot,
            "a snapshot restored over another state does not give the same snapshot again");
    } catch (const std::exception& error) {
      Check(false, std::string("Restore refuses a snapshot: ") + error.what());
    }
  }

  // Requires: `state` is the twin's.
  void RefuseDamage(const std::string& state) {
    RefuseDamaged(std::string(64, '\xc1'), state);  // a byte that MessagePack does not use
    RefuseDamaged("\x07", state);                   // a number of MessagePack
    RefuseDamaged("12345678", state);
    if (!state.empty()) RefuseDamaged(state.substr(0, state.size() - 1), state);
  }

  void RefuseDamaged(const std::string& damaged, const std::string& state) {
    try {
      twin_->Restore(damaged);
      Check(false, "Restore accepts bytes that are no snapshot");
    } catch (const std::runtime_error&) {
      Check(twin_->Snapshot() == state, "Restore refuses bytes, and has changed the state");
    } catch (const std::exception& error) {
      Check(false, std::string("Restore throws no std::runtime_error: ") + error.what());
    }
  }

  KvStore& store_;
  std::unique_ptr<KvStore> twin_;  // null until the first audit
  std::string latest_;             // the snapshot of the latest audit
  std::string problem_;
};

}  // namespace depfast::kv
