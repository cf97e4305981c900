// The reference Raft's leader and a follower that refuses every entry, as one does that has lost
// what it had acknowledged. The test is the other two replicas, and the disk.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "depfast/host/frame.h"
#include "raft.h"
#include "raft_messages.h"
#include "tally.h"
#include "test_support.h"

namespace depfast::raft {
namespace {

constexpr PeerId kRefuser = 2;

class RaftRepair : public ::testing::Test {
 protected:
  RaftRepair() {
    replica_.In([this] {
      raft_ = std::make_unique<Raft>(replica_.runtime, tally_);
      raft_->Start();
    });
  }
  ~RaftRepair() override { replica_.runtime.Shutdown(); }

  // Frames and writes take 1 ms.
  void RunFor(Duration duration) {
    for (const Time end = replica_.host.now + duration; replica_.host.now < end;) {
      replica_.Advance(1ms);
      for (; !replica_.host.submitted.empty(); replica_.host.submitted.pop_front()) {
        const IoRequest& request = replica_.host.submitted.front();
        const bool reads = request.kind == IoRequest::Kind::kRead;
        replica_.runtime.DeliverIo({request.id, reads ? ENOENT : 0, nullptr});
      }
      for (const auto& frame : std::exchange(replica_.host.sent, {})) Answer(frame);
      replica_.Run();
    }
  }

  void Answer(const testing::ManualHost::Frame& frame) {
    std::string error;
    const auto decoded = DecodeFrame(*frame.bytes, error);
    FrameHeader header = decoded->header;
    if (header.kind != FrameKind::kRequest) return;
    header.kind = FrameKind::kReply;
    if (header.method == RequestVote::kMethod) {
      const auto request = DecodeBody<RequestVote>(decoded->body, error);
      const std::uint64_t term = request->term - (request->pre_vote ? 1 : 0);
      Deliver(frame.peer, header, RequestVoteReply{term, true});
    } else {
      const auto request = DecodeBody<AppendEntries>(decoded->body, error);
      const std::uint64_t last = request->prev_log_index + request->entries.size();
      const bool accepts = frame.peer != kRefuser || !refuses_;
      refused_ += accepts ? 0 : 1;
      Deliver(frame.peer, header,
              accepts ? AppendEntriesReply{request->term, true, last, 0}
                      : AppendEntriesReply{request->term, false, 0, 1});
    }
  }

  template <typename Body>
  void Deliver(PeerId from, const FrameHeader& header, const Body& body) {
    replica_.runtime.DeliverFrame(from, EncodeFrame(header, body));
  }

  Tally tally_;
  testing::Replica replica_{RuntimeOptions{.self = 0, .replicas = 3}};
  std::unique_ptr<Raft> raft_;
  bool refuses_ = false;
  int refused_ = 0;  // requests of the leader
};

TEST_F(RaftRepair, RefusedRepairMakesPauses) {
  RunFor(2s);
  ASSERT_EQ(raft_->proposers(), std::vector<PeerId>{0});
  refuses_ = true;
  replica_.In([this] { raft_->Submit("command", {}, [](const SubmitReply&) {}); });
  RunFor(1s);
  refused_ = 0;
  RunFor(1s);
  EXPECT_GE(refused_, 20) << "heartbeats alone";
  EXPECT_LE(refused_, 45) << "a heartbeat and a request in each heartbeat interval";
}

}  // namespace
}  // namespace depfast::raft
