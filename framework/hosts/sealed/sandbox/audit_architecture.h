// The name that the kernel's filters of system calls have for this processor.
#pragma once

#include <linux/audit.h>

#include <cstdint>

namespace depfast::sealed {

#if defined(__x86_64__)
inline constexpr std::uint32_t kAuditArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr std::uint32_t kAuditArchitecture = AUDIT_ARCH_AARCH64;
#else
inline constexpr std::uint32_t kAuditArchitecture = 0;  // we have no filters for it
#endif

}  // namespace depfast::sealed
