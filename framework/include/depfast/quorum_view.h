// QuorumView: what verification and reports read of a quorum, whoever implements it.
//
// The framework owns this interface and Broadcast; the QuorumEvent over both is the student's
// (lab 1). Nothing here can change the quorum.
#pragma once

namespace depfast {

class QuorumView {
 public:
  virtual ~QuorumView() = default;

  virtual int needed() const = 0;  // yes votes that make a quorum, 1 .. total
  virtual int total() const = 0;   // voters
  virtual int yes() const = 0;     // distinct voters that said yes, late ones included
  virtual int no() const = 0;      // distinct voters that said no, late ones included
};

}  // namespace depfast
