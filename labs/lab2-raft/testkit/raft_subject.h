// Lab 2's subject of measurements: a Raft, and clients that submit commands to its leader.
#pragma once

#include "subject.h"

namespace depfast::raft {

// See MakeSubject.
Subject MakeRaftSubject(sim::Simulator& simulator, testkit::History& history,
                        Duration answer_timeout);

}  // namespace depfast::raft
