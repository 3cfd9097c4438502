// Symbols that only jump to others. The libraries that programs load are made of these: the
// functions themselves are all in libkernevo_cuda.so, under names that no other library has.
#pragma once

#if defined(__x86_64__)
#define KERNEVO_LANDING "endbr64\n"
#define KERNEVO_JUMP(to) "jmp " #to "\n"
#define KERNEVO_JUMP_THROUGH(pointer) "jmp *" #pointer "(%rip)\n"
#elif defined(__aarch64__)
#define KERNEVO_LANDING "bti c\n"
#define KERNEVO_JUMP(to) "b " #to "\n"
#define KERNEVO_JUMP_THROUGH(pointer)                                                              \
  "adrp x16, " #pointer "\nldr x16, [x16, :lo12:" #pointer "]\nbr x16\n"
#else
#error "no jump is known for this processor"
#endif

#define KERNEVO_SYMBOL(name, instructions)                                                         \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name                                \
      ":\n" KERNEVO_LANDING instructions ".size " #name ", .-" #name "\n")

// `from` is `to` under another name.
#define KERNEVO_TRAMPOLINE(from, to) KERNEVO_SYMBOL(from, KERNEVO_JUMP(to))
// `name` is the function that the variable `pointer` of this file holds.
#define KERNEVO_TRAMPOLINE_THROUGH(name, pointer)                                                  \
  KERNEVO_SYMBOL(name, KERNEVO_JUMP_THROUGH(pointer))
