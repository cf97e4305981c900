// Lets the assembler write an object file that fills the disk.
// Stopped-by: does not compile
asm(".section .data\n.fill 0x3000000000, 1, 1\n.text");
