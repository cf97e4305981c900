// Wires: the network interfaces of all nodes, and the connections between them.
//
// A connection is a pair of links, one for each direction. A sent frame waits in its link's queue
// (it is held) until the link's window has room. Then it leaves through the sender's interface,
// arrives after the network's latency, and lies in the receiver's inbox until it is read. Frames
// that are on the wire or unread fill the window: a receiver that does not read makes its senders
// hold frames. A client is outside the model: its links have no window, and frames to it are never
// unread.
//
// All nodes are named by index (see addresses.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/host/random.h"
#include "depfast/time.h"
#include "sim/addresses.h"
#include "sim/agenda.h"
#include "sim/effects.h"
#include "sim/inbox.h"
#include "sim/observer.h"
#include "sim/profile.h"

namespace depfast::sim {

class Wires {
 public:
  // The fate of a frame at its receiver's end of the wire.
  enum class Arrival : std::uint8_t {
    kLost,
    kUnread,    // in a replica's inbox
    kAtClient,  // the caller hands it to the client
  };

  // All arguments outlive the wires. Replicas are disconnected until Connect.
  Wires(const NetModel& model, std::uint64_t seed, const Addresses& addresses,
        const Effects& effects, Agenda& agenda, Observers& observers);

  // Requires: the address book has just added the client.
  void AddClient() { Grow(); }

  // From now on frames reach the replica.
  void Connect(std::size_t replica) { ends_[replica].connected = true; }
  // The replica has died. Its unread frames and the frames that it holds are lost. So are frames
  // that are held for it or on the wire to it. Frames that it had put on the wire still arrive.
  void Disconnect(std::size_t replica);

  // Sends a frame. Nothing happens if nobody has the address `to`. A frame to oneself takes no
  // wire. Requires: ids of one sender grow (clients may use 0).
  void Send(std::size_t from, std::size_t to, FrameId id, Bytes bytes);
  // Drops a frame that is still held; nothing happens if it is not.
  void Release(std::size_t from, std::size_t to, FrameId id);

  // Handles a kArrive event. Requires: it is one of these wires.
  Arrival Arrive(Event& event);

  // Takes frames from the replica's inbox as the model of its processor bounds it, and adds them to
  // `out`.
  void Read(std::size_t replica, const CpuModel& cpu, std::vector<FrameArrival>& out);
  bool HasUnread(std::size_t replica) const { return ends_[replica].inbox.frames() > 0; }
  std::size_t UnreadBytes(std::size_t replica) const { return ends_[replica].inbox.bytes(); }

  // Bytes that `from` holds for `to`: sent, and not taken by the wire.
  std::size_t HeldBytes(std::size_t from, std::size_t to) const {
    return links_[from][to].held_bytes;
  }
  // For all nodes together.
  std::size_t HeldBytes(std::size_t from) const;
  // Frames that the replica has not read, and those that it holds for others.
  std::size_t WaitingFrames(std::size_t replica) const;
  // The most that `from` has held for one replica since the last ResetPeaks.
  std::size_t PeakHeldBytes(std::size_t from) const;
  void ResetPeaks();

 private:
  struct HeldFrame {
    FrameId id;
    Bytes bytes;
  };

  struct Link {
    std::deque<HeldFrame> held;
    std::size_t held_bytes = 0;
    std::size_t peak_held_bytes = 0;
    std::size_t in_flight_bytes = 0;  // on the wire, or unread by the receiver
    Time last_arrival{0};             // frames do not overtake each other
    std::uint64_t epoch = 0;          // counts the connection's breaks
    std::uint64_t frames = 0;         // that have gone on the wire: numbers the fault draws
    std::unique_ptr<RandomStream> jitter;
  };

  // A node's end of its connections.
  struct End {
    bool connected = false;  // replicas only: a frame to one that is not connected is lost
    Time nic_free{0};        // when the interface has sent everything it was given
    Inbox inbox;
  };

  // The effects of the sender's faults on one frame.
  struct FrameFate {
    bool lost = false;
    bool twice = false;
    Duration late{0};  // younger frames may overtake it
  };

  void Grow();
  bool Refuses(std::size_t to) const { return addresses_.IsReplica(to) && !ends_[to].connected; }
  void LoseHeld(std::size_t from, std::size_t to);
  void Pump(std::size_t from, std::size_t to);
  void Transmit(std::size_t from, std::size_t to, const Bytes& bytes);
  Duration DelayOf(std::size_t from, std::size_t to, std::uint64_t number, std::size_t bytes) const;
  FrameFate FateOf(std::size_t from, std::size_t to, std::uint64_t number) const;
  bool Hits(const faults::Fault& fault, std::size_t from, std::size_t to,
            std::uint64_t number) const;
  void ScheduleArrival(std::size_t from, std::size_t to, Time when, const Bytes& bytes);
  void Tell(FrameStage stage, std::size_t from, std::size_t to, const Bytes& bytes) const;

  const NetModel& model_;
  const std::uint64_t seed_;
  const Addresses& addresses_;
  const Effects& effects_;
  Agenda& agenda_;
  Observers& observers_;
  std::vector<std::vector<Link>> links_;  // [from][to]
  std::vector<End> ends_;
};

}  // namespace depfast::sim
