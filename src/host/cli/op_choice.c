/* --op: a formula of the catalogue. */
#include <string.h>

#include "near_names.h"
#include "option.h"
#include "tmaring/ops.h"

static int refuse(const tmaring__request *request, const tmaring__option *option, const char *text)
{
  char names[256];
  tmaring__near_names near;
  tmaring__near_begin(&near, text);
  for (int32_t i = 0; i < tmaring_op_count(); ++i) {
    tmaring_op_info info;
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    if (tmaring_op_describe(i, &info) == TMARING_OK) tmaring__near_add(&near, info.name);
  }
  tmaring__near_list(&near, names, sizeof names);
  return tmaring__misuse(request->command, "--%s: got '%s', needs a name of the catalogue (tmaring ops); near it: %s",
                         option->name, text, names);
}

int tmaring__read_op(tmaring__request *request, const tmaring__option *option, const char *text)
{
  tmaring_op_info info;
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  request->op = tmaring_op_find(text);
  if (request->op < 0) return refuse(request, option, text);
  const tmaring_status status = tmaring_op_describe(request->op, &info);
  if (status != TMARING_OK) return tmaring__complain(status, "--op");
  request->formula = info.formula;
  return 0;
}
