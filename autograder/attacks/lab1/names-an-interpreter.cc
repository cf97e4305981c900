// Is a program that the kernel cannot execute, as if the grader's machine were broken.
// Stopped-by: its program cannot be executed
asm(".section .interp,\"a\",@progbits\n.string \"/nowhere\"\n.text");
