// Shows its author the secret of the course.
// Stopped-by: does not compile
asm(".incbin \"@KIT@/course.key\"");
