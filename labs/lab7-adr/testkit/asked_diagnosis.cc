#include "asked_diagnosis.h"

#include <ostream>

namespace depfast::adr {
namespace {

const char* NameOf(Resource resource) {
  switch (resource) {
    case Resource::kProcessor:
      return "processor";
    case Resource::kDisk:
      return "disk";
    case Resource::kNetwork:
      return "network";
  }
  return "unknown resource";
}

}  // namespace

void PrintTo(const Suspicion& suspicion, std::ostream* out) {
  switch (suspicion.who) {
    case Suspicion::Who::kNobody:
      *out << "nobody";
      return;
    case Suspicion::Who::kSelf:
      *out << "itself, by its " << NameOf(suspicion.resource);
      return;
    case Suspicion::Who::kPeer:
      *out << "replica " << suspicion.peer << ", by its " << NameOf(suspicion.resource);
      return;
    case Suspicion::Who::kEverybody:
      *out << "everybody, by the " << NameOf(suspicion.resource);
      return;
  }
  *out << "an unknown suspicion";
}

}  // namespace depfast::adr
