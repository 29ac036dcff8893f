/* The ring model: everything one CTA's roles can observe or break, without the data.
 *
 * The state is one block of memory without pointers: it is copied with memcpy, hashed and compared as bytes, so that a
 * scheduler may go on from it and an explorer may come back to it.
 *
 * Besides what the hardware has (barrier words, copies and stores in flight) the state holds what the hardware only
 * lets you assume: who knows of what. Every actor has a vector clock, which arrivals carry into a barrier and waits
 * carry out of it. An access is checked against what the actor *knows*, not against what happens to be true in this
 * interleaving, so that a missing wait or barrier is found in whatever order the actors are played. */
#ifndef TMARING_HOST_RING_MODEL_H
#define TMARING_HOST_RING_MODEL_H

#include <stddef.h>

#include "../base/detail.h"
#include "../plan/plan_state.h"
#include "mbarrier.h"
#include "tmaring/abi/frames.h"

#define TMARING__MAX_SLOTS  (2 * TMARING_MAX_STREAMS)
#define TMARING__MAX_GROUPS (TMARING_MAX_STAGES + 4)

/* X(enumerator, text) */
#define TMARING__FAULT_LIST(X)                                                                                         \
  X(NONE, "no fault")                                                                                                  \
  X(HULL, "copy outside the tensor")                                                                                   \
  X(SLOT, "copy outside the slot")                                                                                     \
  X(ALIGNMENT, "bulk copy not made of aligned 16-byte units")                                                          \
  X(STAGE, "stage is not the fill's")                                                                                  \
  X(WALK, "fill is not the walk's")                                                                                    \
  X(READ_EARLY, "read before full")                                                                                    \
  X(READ_LATE, "access after release")                                                                                 \
  X(REFILL, "refill before release")                                                                                   \
  X(REFILL_STORE, "refill while a store still reads")                                                                  \
  X(REFILL_FENCE, "refill over unfenced writes")                                                                       \
  X(STORE_EARLY, "store of bytes not yet written")                                                                     \
  X(STORE_FENCE, "store of unfenced writes")                                                                           \
  X(BOX, "box does not fit its map or its fill")                                                                       \
  X(TX, "bytes do not match the expectation")                                                                          \
  X(ARRIVAL, "too many arrivals")                                                                                      \
  X(LEAD, "producer too far ahead")                                                                                    \
  X(SCRATCH, "partial results without a barrier")                                                                      \
  X(PEER, "partial results of a CTA that has left")                                                                    \
  X(COLUMNS, "accumulators of columns not begun and ended once per tile")                                              \
  X(TICKET, "ticket read or replaced without a barrier")                                                               \
  X(COVERAGE, "tile stored twice, never, or though it is surplus")                                                     \
  X(DEADLOCK, "impossible wait")                                                                                       \
  X(LIVE, "barrier initialised while live")                                                                            \
  X(INVAL, "barrier invalidated while in use")                                                                         \
  X(VECTORS, "row vectors of a cluster")                                                                               \
  X(WORDS, "words of a live barrier used as data")                                                                     \
  X(LEAVE, "CTA left with copies in flight")

typedef enum tmaring__fault_kind {
#define TMARING__FAULT_ENUM(name, text) TMARING__FAULT_##name,
  TMARING__FAULT_LIST(TMARING__FAULT_ENUM)
#undef TMARING__FAULT_ENUM
} tmaring__fault_kind;

typedef struct tmaring__fault_note {
  tmaring__fault_kind kind; /* NONE: nothing was found */
  char text[400];
} tmaring__fault_note;

/* The data of one CTA; every call may be NULL as a whole (tags only). `self` is its memory and lanes. */
typedef struct tmaring__data_calls {
  /* Global to shared memory: a bulk copy that completes, or ordinary loads. */
  void (*copy)(void *self, uint64_t address, uint32_t offset, uint32_t bytes);
  /* A box that completes: input `tensor` at these coordinates. */
  void (*copy_box)(void *self, int32_t tensor, const int32_t *coordinates, uint32_t offset);
  /* Bytes of shared memory whose contents are given up: a slot that a new fill takes over. */
  void (*poison)(void *self, uint32_t offset, uint32_t bytes);
  /* A bulk store of an actor: its source is read later, at the latest in `drain`. */
  void (*store)(void *self, int32_t actor, uint64_t address, uint32_t offset, uint32_t bytes);
  void (*store_box)(void *self, int32_t actor, int32_t tensor, const int32_t *coordinates, uint32_t offset);
  void (*store_edge)(void *self, uint64_t address, uint32_t offset, uint32_t bytes);
  void (*commit)(void *self, int32_t actor);
  /* All but the last `pending` groups of the actor read their source now. */
  void (*drain)(void *self, int32_t actor, uint32_t pending);
  void (*accumulate)(void *self, int32_t warp, const tmaring_fill *fill, uint32_t stage, int32_t iteration,
                     int32_t pass);
  void (*partial)(void *self, int32_t warp, uint32_t buffer, int32_t pass);
  void (*finish)(void *self, int32_t warp, uint32_t buffer, const tmaring_fill *fill, int32_t iteration, int32_t pass);
  void (*row_store)(void *self, int32_t warp, const tmaring_fill *fill, int32_t iteration);
  void (*columns)(void *self, int32_t warp, const tmaring_fill *fill, int end); /* accumulators start or end */
  uint32_t (*claim)(void *self);
} tmaring__data_calls;

typedef struct tmaring__env tmaring__env;

/* What the CTAs of a cluster share: its barrier, and the sight of one another's partial results. Changes along with the
 * states. */
typedef struct tmaring__cluster {
  int32_t count;
  tmaring__env *member[TMARING_MAX_CLUSTER]; /* by rank */
  uint32_t arrived, generation;              /* of the barrier */
  uint32_t ended;                            /* ranks whose roles have all ended, as a mask */
} tmaring__cluster;

/* What a run of an actor came to. */
typedef enum tmaring__outcome { TMARING__YIELDED = 0, TMARING__BLOCKED = 1, TMARING__DONE = 2 } tmaring__outcome;

/* The fixed side of a CTA: what is played. The caller fills the first part; tmaring__ring_prepare the second. */
typedef struct tmaring__ring {
  const tmaring_args *args;
  const tmaring__boxes *boxes; /* NULL where no stream is tiled */
  const tmaring__code *code;
  const tmaring__program *program;
  tmaring_walk walk; /* with the rows of this launch, and the CTA's rank */
  int32_t worker;
  int32_t rank;              /* among the CTAs of a team */
  tmaring__cluster *cluster; /* code of a cluster, or with multicast: set by tmaring__team_make; else NULL */
  tmaring__outcome (*step)(tmaring__env *env); /* role code: tmaring__role_step, or a mutant */
  const tmaring__data_calls *data;             /* NULL: tags only */
  void *self;
  uint64_t *covered; /* a bit per tile and rank over all workers; NULL: coverage of this CTA alone */
  int32_t ends;      /* 1: the kernel goes on after the ring, and ends it (tmaring_ring_end_run) */

  int32_t stages, warps, actors, issuer, units; /* warps: consumers; issuer: actor that feeds the ring */
  int32_t loads;                                /* inputs that have a slot */
  int32_t async, wide;                          /* some input goes by cp.async; or by that or ordinary loads */
  int32_t squads, squad_warps;
  uint32_t turn; /* fills of a squad's turn */
  int32_t slot_count;
  int32_t output_slot[TMARING_MAX_STREAMS]; /* in place: the input's slot */
  uint32_t output_slots;                    /* as a mask */
  uint32_t copies_per_stage;
  size_t at_stage, at_mark, at_clock, at_barrier, at_sync, at_scratch, at_copy, at_actor, bytes;
} tmaring__ring;

/* Words of 8 bytes at the begin of shared memory: barriers lie there. */
#define TMARING__WORDS 512

/* The changing side: this header, then arrays at the offsets above. Fills are counted from 1 in the tags; 0 is none. */
typedef struct tmaring__ring_state {
  uint32_t issued;                       /* fills expected so far, the end marks of the tickets included */
  uint32_t released;                     /* phases of all empty barriers that have ended */
  uint32_t tickets;                      /* claimed; tags only */
  uint32_t ended;                        /* end marks put */
  tmaring__mbarrier vectors;             /* multicast */
  uint32_t vectors_flying, vectors_sent; /* copies in flight to this CTA; vectors whose share it has loaded, as masks */
  uint64_t live[TMARING__WORDS / 64];    /* a bit per word: it is a barrier, of this ring or of one before */
} tmaring__ring_state;

typedef struct tmaring__stage_state {
  tmaring__mbarrier full, empty;
  uint32_t tag[TMARING__MAX_SLOTS];    /* fill a slot holds or receives */
  uint32_t flying[TMARING__MAX_SLOTS]; /* its copies in flight */
  uint32_t copies;                     /* of all slots */
  uint32_t reading;                    /* groups of bulk stores that may still read this stage */
  uint32_t edge_fill, edge_epoch;      /* last ordinary loads into the stage */
  uint32_t ticket_fill, ticket_epoch;
  int32_t ticket_part;
  uint32_t arriving; /* cp.async in flight, the oldest ones, that the lanes' arrival at full waits for; 0: no arrival */
  int64_t ticket_tile;
} tmaring__stage_state;

/* What the model remembers of one actor at one stage. Epochs are values of the actor's own clock. */
typedef struct tmaring__mark {
  uint32_t phases;                  /* of the full barrier that the actor has seen ending */
  uint32_t done_fill, done_epoch;   /* last fill the actor was through with */
  uint32_t wrote_fill, wrote_epoch; /* last results in the stage; the epoch moves to the fence */
  uint32_t dirty;                   /* slots with unfenced writes */
  uint32_t read_epoch;              /* its last bulk store was known to have read the stage */
  uint32_t ticket_epoch;            /* it last read the ticket */
} tmaring__mark;

typedef struct tmaring__copy {
  uint64_t address; /* of a box its number among the fill's copies */
  uint32_t offset;  /* in shared memory */
  uint32_t bytes;
  uint32_t slot;
  uint32_t fill;
} tmaring__copy;

typedef struct tmaring__sync {
  uint32_t arrived, generation;
} tmaring__sync;

/* Of one buffer. Epochs are values of the actor's own clock; in a cluster, whose barrier alone orders partial results,
 * the number of that barrier's next phase. */
typedef struct tmaring__scratch_mark {
  uint32_t round, wrote_epoch, read_epoch, unused;
} tmaring__scratch_mark;

typedef enum tmaring__wait_kind {
  TMARING__WAIT_NONE = 0,
  TMARING__WAIT_FULL,
  TMARING__WAIT_EMPTY,
  TMARING__WAIT_GROUP,
  TMARING__WAIT_CTA,
  TMARING__WAIT_CLUSTER,
  TMARING__WAIT_TURN,
  TMARING__WAIT_END,
  TMARING__WAIT_VECTORS
} tmaring__wait_kind;

/* A warp's accumulators of column reductions, in the course of a tile. */
typedef enum tmaring__columns_state {
  TMARING__COLUMNS_NONE = 0,
  TMARING__COLUMNS_BEGUN,
  TMARING__COLUMNS_ENDED
} tmaring__columns_state;

typedef struct tmaring__actor {
  union {
    tmaring_producer_frame producer;
    tmaring_consumer_frame consumer;
    tmaring_pipeline_frame pipeline;
  } frame;
  tmaring_fill fill; /* the current fill as the walk has it */
  int64_t tile;      /* its raw tile */
  uint32_t known;    /* 1: these two hold */
  uint32_t finished;
  uint32_t fills; /* the current fill's number, from 1: that of the last full wait passed */
  uint32_t ended; /* 1: it is an end mark */
  uint32_t freed; /* empty waits passed */
  uint32_t wait, wait_stage, wait_parity;
  uint32_t passes, row_stores; /* of the current fill */
  uint32_t columns;            /* tmaring__columns_state of the current tile */
  uint32_t meets;              /* phases of the cluster's barrier that it has passed */
  uint32_t commits;
  uint32_t rounds; /* partial results left: the next go to buffer rounds & 1 */
  tmaring_vectors_frame vectors;
  tmaring_end_frame end;
  uint32_t has_vectors; /* it has waited for them */
  uint32_t part;        /* tmaring__part that it is at */
  uint32_t ending;      /* its role has ended */
  uint32_t end_epoch;   /* when */
  uint64_t stored;      /* bytes of the open group */
  uint32_t open;        /* stages read by the open group, as a mask */
  uint32_t groups;      /* committed and perhaps still reading */
  uint32_t group[TMARING__MAX_GROUPS];
} tmaring__actor;

/* What a thread runs one after another. */
typedef enum tmaring__part {
  TMARING__PART_VECTORS = 0, /* multicast */
  TMARING__PART_ROLE,
  TMARING__PART_LEAVE, /* multicast */
  TMARING__PART_END,   /* where the kernel goes on */
  TMARING__PARTS
} tmaring__part;

/* One actor at play. The budgets say how far it may go before it yields. */
struct tmaring__env {
  const tmaring__ring *ring;
  tmaring__ring_state *state;
  int32_t actor;
  uint32_t points;  /* primitives left */
  uint32_t visible; /* primitives left that other actors can observe */
  uint32_t choice;  /* explorer: tickets that other workers claim just before this actor does */
  uint32_t chose;   /* 1: `choice` was used */
  uint64_t steps;   /* primitives played */
  uint64_t copies;  /* bulk loads and stores issued */
  tmaring__fault_note *fault;
};

#define TMARING__UNLIMITED 0xffffffffu

/* The CTAs of a worker at play, each a ring of its own: one, or those of a cluster. */
typedef struct tmaring__team {
  int32_t count;
  tmaring__cluster cluster;
  tmaring__ring ring[TMARING_MAX_CLUSTER]; /* by rank */
  tmaring__env env[TMARING_MAX_CLUSTER];
} tmaring__team;

/* Derives the second part of a ring. ERROR_ARGUMENT names what no ring can be made of. */
tmaring_status tmaring__ring_prepare(tmaring__ring *ring);
/* The state in which a CTA starts: barriers initialised, every actor at its first primitive. */
void tmaring__ring_start(const tmaring__ring *ring, tmaring__ring_state *state, tmaring__fault_note *fault);
/* The same where the CTA has run another ring before, whose state it was: what that one left are barriers still. */
void tmaring__ring_follow(const tmaring__ring *ring, tmaring__ring_state *state, const tmaring__ring_state *before,
                          tmaring__fault_note *fault);
/* A team of CTAs like this prepared ring; it is not to be moved. Their states are to be one block, of
 * count * ring->bytes. */
void tmaring__team_make(tmaring__team *team, const tmaring__ring *ring);
/* Starts every CTA, and points the team at the block and at the place for a fault; budgets unlimited. */
void tmaring__team_start(tmaring__team *team, tmaring__ring_state *states, tmaring__fault_note *fault);
/* Points the team at a block that has been started. */
void tmaring__team_point(tmaring__team *team, tmaring__ring_state *states, tmaring__fault_note *fault);
/* Where all roles of a CTA have ended, and it was not seen before: checks what must hold then, and remembers it. */
void tmaring__team_close(tmaring__team *team, int32_t rank);
/* Completes copy `index` in flight to a stage. */
void tmaring__ring_complete(tmaring__env *env, uint32_t stage, uint32_t index);
/* The same of vectors in flight to the CTA: how many there are; completes one of them. 0: there is none. */
uint32_t tmaring__ring_vectors_flying(const tmaring__env *env);
int tmaring__ring_complete_vectors(tmaring__env *env, uint32_t index);
/* Nobody can move: writes the fault. */
void tmaring__ring_deadlock(tmaring__env *env);
/* Fill `number` (from 1) of this worker as the walk has it; 0: there is none. Tickets: as put into the stage, so that
 * it can be asked for only until the stage is released. */
int tmaring__ring_fill(const tmaring__env *env, uint32_t number, tmaring_fill *fill, int64_t *tile);
/* Enters a fault unless there is one already: "worker 3, consumer 1, wait full, stage 2, fill 17: ...". */
void tmaring__ring_fault(tmaring__env *env, tmaring__fault_kind kind, const char *primitive, uint32_t stage,
                         uint32_t fill, const char *format, ...) TMARING__PRINTF(6, 7);
const char *tmaring__fault_text(tmaring__fault_kind kind);

static inline tmaring__stage_state *tmaring__at_stage(const tmaring__ring *r, tmaring__ring_state *s, uint32_t stage)
{
  return (tmaring__stage_state *)(void *)((char *)s + r->at_stage) + stage;
}

static inline tmaring__mark *tmaring__at_mark(const tmaring__ring *r, tmaring__ring_state *s, uint32_t stage,
                                              int32_t actor)
{
  return (tmaring__mark *)(void *)((char *)s + r->at_mark) + stage * (uint32_t)r->actors + (uint32_t)actor;
}

/* What an actor knows of every actor. */
static inline uint32_t *tmaring__at_clock(const tmaring__ring *r, tmaring__ring_state *s, int32_t actor)
{
  return (uint32_t *)(void *)((char *)s + r->at_clock) + (size_t)actor * (size_t)r->actors;
}

/* What a barrier carries: `ended` 1: out of its last ended phase; 0: what arrivals have brought so far. Barriers: full
 * and empty per stage, then units, then the CTA, then the cluster, then the turns of squads, then the end. */
static inline uint32_t *tmaring__at_barrier(const tmaring__ring *r, tmaring__ring_state *s, uint32_t barrier, int ended)
{
  return (uint32_t *)(void *)((char *)s + r->at_barrier) + (size_t)(2 * barrier + (ended != 0)) * (size_t)r->actors;
}

static inline tmaring__sync *tmaring__at_sync(const tmaring__ring *r, tmaring__ring_state *s, int32_t index)
{
  return (tmaring__sync *)(void *)((char *)s + r->at_sync) + index;
}

static inline tmaring__scratch_mark *tmaring__at_scratch(const tmaring__ring *r, tmaring__ring_state *s,
                                                         uint32_t buffer, int32_t actor)
{
  return (tmaring__scratch_mark *)(void *)((char *)s + r->at_scratch) + buffer * (uint32_t)r->actors + (uint32_t)actor;
}

static inline tmaring__copy *tmaring__at_copy(const tmaring__ring *r, tmaring__ring_state *s, uint32_t stage,
                                              uint32_t index)
{
  return (tmaring__copy *)(void *)((char *)s + r->at_copy) + stage * r->copies_per_stage + index;
}

static inline tmaring__actor *tmaring__at_actor(const tmaring__ring *r, tmaring__ring_state *s, int32_t actor)
{
  return (tmaring__actor *)(void *)((char *)s + r->at_actor) + actor;
}

#endif
