// Defines an inline function of the kit, which the linker would take instead of the kit's copies.
// Stopped-by: is defined by given code
extern "C" void Idle() asm("_ZN7depfast12RuntimeProbe6OnIdleERKNS_7RuntimeE");
extern "C" void Idle() {}
