// Measures its own steps by the time-stamp counter.
// Stopped-by: not deterministic
namespace {
[[maybe_unused]] const auto attack = __builtin_ia32_rdtsc();
}  // namespace
