// Compiled only so that the precompiled header has a target of its own (precompiled.cmake).
