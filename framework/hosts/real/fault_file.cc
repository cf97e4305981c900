#include "real/fault_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace depfast::real {
namespace {

constexpr std::size_t kReceiversMax = 64;

enum Word : std::size_t { kUntil, kAmount, kReceivers, kWords };

struct Contents {
  std::int64_t kinds = 0;
  std::array<std::array<std::int64_t, kWords>, faults::kKinds.size()> words{};
};

}  // namespace

void InjectedFaults::Add(faults::FaultKind kind, std::int64_t amount, std::uint64_t receivers) {
  injections_[static_cast<std::size_t>(kind)] = {true, amount, receivers};
  empty_ = false;
}

bool InjectedFaults::Names(faults::FaultKind kind, PeerId receiver) const {
  if (receiver < 0 || static_cast<std::size_t>(receiver) >= kReceiversMax) return false;
  return Has(kind) && (Of(kind).receivers >> receiver & 1) != 0;
}

FaultFile::FaultFile(const std::string& path)
    : file_(Checked(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644),
                    "cannot make the file of faults '" + path + "'")) {
  const Contents none{std::int64_t{faults::kKinds.size()}};
  if (pwrite(file_.get(), &none, sizeof none, 0) != sizeof none) {
    ThrowErrno("cannot write the file of faults '" + path + "'");
  }
}

InjectedFaults FaultFile::At(Time now) const {
  InjectedFaults faults;
  Contents contents;
  if (pread(file_.get(), &contents, sizeof contents, 0) != sizeof contents) return faults;
  for (const faults::KindRow& row : faults::kKinds) {
    const auto& words = contents.words[static_cast<std::size_t>(row.kind)];
    const bool is_on = words[kUntil] > now.count();
    if (!is_on || words[kAmount] < row.amount_min || words[kAmount] > row.amount_max) continue;
    faults.Add(row.kind, words[kAmount], static_cast<std::uint64_t>(words[kReceivers]));
  }
  return faults;
}

}  // namespace depfast::real
