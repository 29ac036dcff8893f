#include "emit_loop.h"

#include <string.h>

int tmaring__is_reduced_in(const tmaring__node *n, int32_t pass)
{
  return tmaring__op_reduces(n->op) && n->level == pass + 1;
}

int32_t tmaring__maximum_of(const tmaring__program *program, int32_t node)
{
  const tmaring__node *n = &program->node[node];
  for (int32_t i = 0; n->op == TMARING__OP_REDUCE_EXPSUM && i < program->node_count; ++i) {
    if (program->node[i].op == TMARING__OP_REDUCE_MAX && program->node[i].arg[0] == n->arg[0]) return i;
  }
  return -1;
}

int tmaring__is_joined_in(const tmaring__program *program, int32_t node, int32_t pass)
{
  if (!tmaring__is_reduced_in(&program->node[node], pass) || program->node[node].op == TMARING__OP_GATHER) return 0;
  for (int32_t i = 0; i < program->node_count; ++i) {
    if (tmaring__maximum_of(program, i) == node) return 0;
  }
  return 1;
}

int tmaring__is_output_pass(const tmaring__program *program, int32_t pass)
{
  return pass == program->passes - 1 &&
         program->output_count + program->group_output_count + program->column_output_count > 0;
}

int tmaring__loop_exists(const tmaring__program *program, int32_t pass)
{
  int exists = tmaring__is_output_pass(program, pass);
  for (int32_t i = 0; i < program->node_count; ++i) exists |= tmaring__is_joined_in(program, i, pass);
  return exists;
}

int tmaring__loop_groups(const tmaring__program *program, const tmaring__loop *loop)
{
  int groups = 0;
  for (int32_t i = 0; i < program->node_count; ++i) groups |= loop->has[i] && tmaring__op_groups(program->node[i].op);
  return groups;
}

int tmaring__loop_holds(const tmaring__kernel_spec *spec, const tmaring__loop *loop)
{
  return spec->held_steps > 0 && tmaring__is_output_pass(spec->program, loop->pass);
}

/* ---- what it evaluates ---- */

static void need(tmaring__loop *loop, const tmaring__program *program, int32_t node)
{
  if (loop->has[node] || !program->node[node].per_col) return;
  loop->has[node] = 1;
  for (int32_t i = 0; i < tmaring__op_operands(program->node[node].op); ++i)
    need(loop, program, program->node[node].arg[i]);
}

/* Calls visit for each node whose value the loop is for. */
static void each_result(tmaring__loop *loop, const tmaring__program *program,
                        void (*visit)(tmaring__loop *, const tmaring__program *, int32_t))
{
  for (int32_t i = 0; i < program->node_count; ++i) {
    if (tmaring__is_joined_in(program, i, loop->pass)) visit(loop, program, program->node[i].arg[0]);
  }
  if (!tmaring__is_output_pass(program, loop->pass)) return;
  for (int32_t i = 0; i < program->output_count; ++i) visit(loop, program, program->output[i]);
  for (int32_t i = 0; i < program->group_output_count; ++i) visit(loop, program, program->group_output[i]);
  for (int32_t i = 0; i < program->column_output_count; ++i) visit(loop, program, program->column_output[i].node);
}

/* ---- what is the same for a vector ---- */

static int operands_are_uniform(const tmaring__loop *loop, const tmaring__program *program, const tmaring__node *n)
{
  const int32_t count = tmaring__op_operands(n->op);
  for (int32_t i = 0; i < count; ++i) {
    if (program->node[n->arg[i]].per_col && !loop->uniform[n->arg[i]]) return 0;
  }
  return count > 0;
}

/* No vector reaches into a second group: plans have no groups that are narrower than one. */
static int is_uniform(const tmaring__loop *loop, const tmaring__program *program, const tmaring__node *n)
{
  return n->op == TMARING__OP_GROUP_SCALE || tmaring__op_groups(n->op) || operands_are_uniform(loop, program, n);
}

/* ---- segments ---- */

static int32_t available(const tmaring__loop *loop, int32_t node)
{
  return loop->segment[node] + loop->joint[node];
}

/* The first segment in which a node can be evaluated. */
static void find_earliest(tmaring__loop *loop, const tmaring__kernel_spec *spec)
{
  const tmaring__program *program = spec->program;
  for (int32_t i = 0; i < program->node_count; ++i) {
    const tmaring__node *n = &program->node[i];
    if (!loop->has[i]) continue;
    loop->uniform[i] = (unsigned char)is_uniform(loop, program, n);
    loop->joint[i] = (unsigned char)(tmaring__op_groups(n->op) ||
                                     (!loop->uniform[i] && tmaring__is_shared_quotient(spec, n, loop->uniform)));
    for (int32_t k = 0; k < tmaring__op_operands(n->op); ++k) {
      if (!program->node[n->arg[k]].per_col) continue;
      const int32_t from = available(loop, n->arg[k]);
      if (from > loop->segment[i]) loop->segment[i] = (unsigned char)from;
    }
    if (available(loop, i) >= loop->segments) loop->segments = available(loop, i) + 1;
  }
}

/* Elements move to the segment that needs them first, so that few of them are kept. */
static void find_latest(tmaring__loop *loop, const tmaring__program *program)
{
  unsigned char wanted[TMARING__MAX_NODES];
  memset(wanted, loop->segments - 1, sizeof wanted); /* results are made in the last one */
  for (int32_t i = program->node_count - 1; i >= 0; --i) {
    const tmaring__node *n = &program->node[i];
    if (!loop->has[i]) continue;
    if (!loop->uniform[i] && !loop->joint[i]) loop->segment[i] = wanted[i];
    for (int32_t k = 0; k < tmaring__op_operands(n->op); ++k) {
      if (loop->segment[i] < wanted[n->arg[k]]) wanted[n->arg[k]] = loop->segment[i];
    }
  }
}

/* ---- arrays and inlined expressions ---- */

static void read_by_result(tmaring__loop *loop, const tmaring__program *program, int32_t node)
{
  if (!program->node[node].per_col) return;
  loop->readers[node] += 1;
  loop->reader[node] = -1;
  if (!loop->uniform[node] && loop->segment[node] < loop->segments - 1) loop->kept[node] = 1;
}

static void find_readers(tmaring__loop *loop, const tmaring__program *program)
{
  for (int32_t i = 0; i < program->node_count; ++i) {
    const tmaring__node *n = &program->node[i];
    if (loop->joint[i] && !loop->uniform[i]) loop->kept[i] = 1;
    for (int32_t k = 0; loop->has[i] && k < tmaring__op_operands(n->op); ++k) {
      const int32_t from = n->arg[k];
      loop->readers[from] += 1;
      loop->reader[from] = i;
      if (loop->has[from] && !loop->uniform[from] && loop->segment[i] > loop->segment[from]) loop->kept[from] = 1;
    }
  }
  each_result(loop, program, read_by_result);
}

/* 1 where the one reader stands at the same place: among the elements, or with what is uniform. */
static int reader_is_near(const tmaring__loop *loop, int32_t node)
{
  const int32_t reader = loop->reader[node];
  if (loop->readers[node] != 1 || loop->kept[node]) return 0;
  if (reader < 0) return !loop->uniform[node];
  if (loop->joint[reader]) return !loop->uniform[node]; /* what it joins is an element's value */
  return loop->uniform[node] == loop->uniform[reader];
}

/* A node with one reader becomes part of that reader's expression, as long as this stays short. */
static void inline_nodes(tmaring__loop *loop, const tmaring__program *program)
{
  unsigned char size[TMARING__MAX_NODES];
  memset(size, 1, sizeof size);
  for (int32_t i = 0; i < program->node_count; ++i) {
    const tmaring__node *n = &program->node[i];
    if (!loop->has[i] || tmaring__op_operands(n->op) == 0 || loop->joint[i]) continue;
    for (int32_t k = 0; k < tmaring__op_operands(n->op); ++k) {
      if (program->node[n->arg[k]].per_col && loop->inlined[n->arg[k]])
        size[i] = (unsigned char)(size[i] + size[n->arg[k]]);
    }
    loop->inlined[i] = reader_is_near(loop, i) && size[i] < TMARING__INLINED_MOST;
  }
}

void tmaring__loop_plan(tmaring__loop *loop, const tmaring__kernel_spec *spec, int32_t pass)
{
  memset(loop, 0, sizeof *loop);
  loop->pass = pass;
  loop->segments = 1;
  each_result(loop, spec->program, need);
  find_earliest(loop, spec);
  find_latest(loop, spec->program);
  find_readers(loop, spec->program);
  inline_nodes(loop, spec->program);
}
