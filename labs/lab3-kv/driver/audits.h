// Audits: answers a test's questions about the store's snapshots, see kv_audit.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/runtime.h"
#include "kv_audit.h"
#include "state_machine.h"

namespace depfast::kv {

class Audits {
 public:
  // The store must outlive this.
  explicit Audits(StateMachine& store) : store_(store) {}

  void Serve(Rpc& rpc) {
    rpc.HandleInline<KvAudit>([this](const KvAudit&, const Responder<KvAuditReply>& responder) {
      responder.Send(Take());
    });
    rpc.HandleInline<KvRestore>(
        [this](const KvRestore& request, const Responder<KvRestoreReply>& responder) {
          responder.Send(Restore(request.snapshot));
        });
    rpc.HandleInline<KvExecute>(
        [this](const KvExecute& request, const Responder<KvExecuteReply>& responder) {
          responder.Send(Execute(request));
        });
  }

 private:
  KvAuditReply Take() const {
    try {
      return {store_.Snapshot(), ""};
    } catch (const std::exception& error) {
      return {"", error.what()};
    }
  }

  KvRestoreReply Restore(const std::string& snapshot) {
    try {
      store_.Restore(snapshot);
      return {true, false, ""};
    } catch (const std::runtime_error& error) {
      return {false, true, error.what()};
    } catch (const std::exception& error) {
      return {false, false, error.what()};
    }
  }

  // Acts for a log that tells the store what comes, and writes a snapshot meanwhile.
  KvExecuteReply Execute(const KvExecute& request) {
    KvExecuteReply reply;
    const auto pieces = store_.StartSnapshot();
    store_.Expect(std::vector<std::string_view>(request.commands.begin(), request.commands.end()));
    const std::size_t count = std::min(request.indexes.size(), request.commands.size());
    for (std::size_t i = 0; i < count; ++i) {
      reply.replies.push_back(store_.Apply(request.indexes[i], request.commands[i]));
      reply.snapshot += pieces->Next(request.piece_bytes);
    }
    for (std::string piece = pieces->Next(request.piece_bytes); !piece.empty();
         piece = pieces->Next(request.piece_bytes)) {
      reply.snapshot += piece;
    }
    return reply;
  }

  StateMachine& store_;
};

}  // namespace depfast::kv
