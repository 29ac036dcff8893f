#include "program.h"

int32_t tmaring__op_operands(tmaring__op op)
{
  static const int32_t operands[TMARING__OP_COUNT] = {
#define OP_OPERANDS(name, operands, text) operands,
      TMARING__OP_LIST(OP_OPERANDS)
#undef OP_OPERANDS
  };
  return operands[op];
}

const char *tmaring__op_text(tmaring__op op)
{
  static const char *const text[TMARING__OP_COUNT] = {
#define OP_TEXT(name, operands, text) text,
      TMARING__OP_LIST(OP_TEXT)
#undef OP_TEXT
  };
  return text[op];
}
