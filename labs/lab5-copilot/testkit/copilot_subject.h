// Lab 5's subject of measurements: a Copilot, and clients that submit each command to both pilots.
#pragma once

#include "subject.h"

namespace depfast::copilot {

// See MakeSubject.
Subject MakeCopilotSubject(sim::Simulator& simulator, testkit::History& history,
                           Duration answer_timeout);

}  // namespace depfast::copilot
