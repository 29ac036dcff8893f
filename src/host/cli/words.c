#include "words.h"

#include <stdio.h>
#include <string.h>

#include "tmaring/launch.h"
#include "tmaring/plan.h"

const tmaring__word tmaring__words_mode[] = {
    {"pipelined", TMARING_MODE_PIPELINED}, {"ws", TMARING_MODE_WARP_SPECIALIZED}, {NULL, 0}};
const tmaring__word tmaring__words_axis[] = {
    {"x", TMARING_AXIS_X}, {"y", TMARING_AXIS_Y}, {"z", TMARING_AXIS_Z}, {NULL, 0}};
const tmaring__word tmaring__words_war[] = {
    {"cta", TMARING_WAR_CTA_BARRIER}, {"mbarrier", TMARING_WAR_MBARRIER}, {NULL, 0}};
const tmaring__word tmaring__words_policy[] = {
    {"wrap", TMARING_POLICY_WRAP}, {"skip", TMARING_POLICY_SKIP}, {"exact", TMARING_POLICY_EXACT}, {NULL, 0}};
const tmaring__word tmaring__words_order[] = {{"split", TMARING_ORDER_SPLIT},
                                              {"blocked", TMARING_ORDER_BLOCKED},
                                              {"cyclic", TMARING_ORDER_CYCLIC},
                                              {"ticket", TMARING_ORDER_TICKET},
                                              {NULL, 0}};
const tmaring__word tmaring__words_scope[] = {{"flat", TMARING_SCOPE_FLAT},
                                              {"lanes", TMARING_SCOPE_LANES},
                                              {"warp", TMARING_SCOPE_WARP},
                                              {"group", TMARING_SCOPE_GROUP},
                                              {"cta", TMARING_SCOPE_CTA},
                                              {"cluster", TMARING_SCOPE_CLUSTER},
                                              {NULL, 0}};
const tmaring__word tmaring__words_store[] = {
    {"direct", TMARING_STORE_DIRECT}, {"bulk", TMARING_STORE_BULK}, {"tile", TMARING_STORE_TILE}, {NULL, 0}};
const tmaring__word tmaring__words_load[] = {{"bulk", TMARING_LOAD_BULK},     {"tile", TMARING_LOAD_TILE},
                                             {"async", TMARING_LOAD_ASYNC},   {"ordinary", TMARING_LOAD_ORDINARY},
                                             {"direct", TMARING_LOAD_DIRECT}, {NULL, 0}};
const tmaring__word tmaring__words_turns[] = {
    {"cooperative", TMARING_TURNS_COOPERATIVE}, {"alternating", TMARING_TURNS_ALTERNATING}, {NULL, 0}};
const tmaring__word tmaring__words_release[] = {
    {"warp", TMARING_RELEASE_WARP}, {"thread", TMARING_RELEASE_THREAD}, {NULL, 0}};
#define TYPE_WORD(name, value, text, bytes) {text, value},
const tmaring__word tmaring__words_type[] = {TMARING_DTYPE_LIST(TYPE_WORD){NULL, 0}};
#undef TYPE_WORD
const tmaring__word tmaring__words_backend[] = {
    {"auto", TMARING__BACKEND_AUTO}, {"cuda", TMARING_BACKEND_CUDA}, {"cpu", TMARING_BACKEND_CPU}, {NULL, 0}};
const tmaring__word tmaring__words_machine[] = {
    {"h200", TMARING__MACHINE_H200}, {"device", TMARING__MACHINE_DEVICE}, {NULL, 0}};
const tmaring__word tmaring__words_shape[] = {{"[]", TMARING_SHAPE_SCALAR},     {"[N]", TMARING_SHAPE_ROW},
                                              {"[M]", TMARING_SHAPE_COLUMN},    {"[M,N]", TMARING_SHAPE_MATRIX},
                                              {"[M,2N]", TMARING_SHAPE_DOUBLE}, {NULL, 0}};

const char *tmaring__word_text(const tmaring__word *words, int32_t value)
{
  for (; words->text; ++words)
    if (words->value == value) return words->text;
  return "?";
}

const char *tmaring__shape_word(const tmaring_parameter *parameter, char out[24])
{
  if (parameter->shape == TMARING_SHAPE_GROUP)
    snprintf(out, 24, "[M,N/%d]", parameter->group_cols);
  else
    snprintf(out, 24, "%s", tmaring__word_text(tmaring__words_shape, (int32_t)parameter->shape));
  return out;
}

int tmaring__word_find(const tmaring__word *words, const char *text, size_t length, int32_t *value)
{
  for (; words->text; ++words) {
    if (strlen(words->text) != length || memcmp(words->text, text, length) != 0) continue;
    *value = words->value;
    return 1;
  }
  return 0;
}

void tmaring__word_list(const tmaring__word *words, char *out, size_t capacity)
{
  size_t used = 0;
  out[0] = 0;
  for (const tmaring__word *w = words; w->text && used < capacity; ++w) {
    const char *const join = w == words ? "" : w[1].text ? ", " : " or ";
    const int count = snprintf(out + used, capacity - used, "%s%s", join, w->text);
    used += count > 0 ? (size_t)count : 0;
  }
}
