// The code that encodes and decodes these messages.
#include "depfast/host/codec.h"
#include "diagnosis_questions.h"
#include "handover_messages.h"
#include "health_messages.h"
#include "planted_health.h"
#include "planted_streams.h"

DEPFAST_REPLY(depfast::adr::DiagnosisAnswer)
DEPFAST_REPLY(depfast::raft::TimeoutNowReply)
DEPFAST_REPLY(depfast::adr::HealthAnswer)
DEPFAST_REPLY(depfast::adr::PlantHealthReply)
DEPFAST_REPLY(depfast::adr::PlantedReport)
DEPFAST_REQUEST(depfast::adr::AskDiagnosis)
DEPFAST_REQUEST(depfast::adr::AskSendsClientsAway)
DEPFAST_REQUEST(depfast::raft::TimeoutNow)
DEPFAST_REQUEST(depfast::adr::AskHealth)
DEPFAST_REQUEST(depfast::adr::PlantHealth)
DEPFAST_REQUEST(depfast::adr::WatchStreams)
