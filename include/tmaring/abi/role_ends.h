/* Before the roles of a CTA and after them: [N] inputs by multicast, and the end of a ring. Part of abi/roles.h, which
 * includes it: a text for the same binding, not to be included alone. */
#ifndef ROLE_FN
#error "abi/role_ends.h is a part of abi/roles.h: include that"
#endif

/* [N] inputs by multicast, by every thread of every CTA of the cluster, those without rows too. A copy may come before
 * this CTA expects it; it may not come before the CTA has its barrier, which the barrier of the cluster says. */
ROLE_FN(tmaring_vectors_run)(ROLE_ENV *e, tmaring_vectors_frame *f)
{
  tmaring_u32 first, end, whole;
  ROLE_BEGIN(f);
  ROLE_CLUSTER_SYNC(f, e);
  if (ROLE_IS_FEEDER(e)) {
    for (f->vector = 0; f->vector < ROLE_ARGS(e)->vector_count; ++f->vector) {
      ROLE_POINT(f);
      whole = tmaring_multicast_whole(ROLE_ARGS_AS_GIVEN(e), f->vector);
      end = tmaring_multicast_end(ROLE_ARGS_AS_GIVEN(e), f->vector);
      ROLE_VECTORS_REST(e, f->vector, whole, end - whole);
    }
    ROLE_POINT(f);
    ROLE_VECTORS_EXPECT(e, tmaring_multicast_bytes(ROLE_ARGS_AS_GIVEN(e)));
    for (f->vector = 0; f->vector < ROLE_ARGS(e)->vector_count; ++f->vector) {
      ROLE_POINT(f);
      first = tmaring_multicast_share(ROLE_ARGS_AS_GIVEN(e), f->vector, ROLE_RANK(e));
      end = tmaring_multicast_share(ROLE_ARGS_AS_GIVEN(e), f->vector, ROLE_RANK(e) + 1);
      if (end > first) {
        ROLE_VECTORS_LOAD(e, f->vector, first, end - first);
      }
    }
  }
  if (ROLE_IS_CONSUMER(e)) {
    ROLE_WAIT(f, ROLE_TRY_VECTORS(e), ROLE_BLOCK_VECTORS(e));
  }
  ROLE_END(f);
}

/* The end of a CTA of such a cluster: nothing that it loads, or that comes to it, is under way after this. */
ROLE_FN(tmaring_vectors_leave_run)(ROLE_ENV *e, tmaring_vectors_frame *f)
{
  ROLE_BEGIN(f);
  ROLE_CLUSTER_SYNC(f, e);
  ROLE_END(f);
}

/* After a ring, by every thread of the CTA: its barriers' words may then be anything, another ring's barriers among it;
 * and all of its shared memory, and what was written to global memory, may be read and written by the copy engine. A
 * word that is a barrier must be invalidated before it is initialised again or used as data. */
ROLE_FN(tmaring_ring_end_run)(ROLE_ENV *e, tmaring_end_frame *f)
{
  ROLE_BEGIN(f);
  ROLE_POINT(f);
  ROLE_FENCE_ALL(e);
  ROLE_END_SYNC(f, e);
  if (ROLE_IS_ISSUER(e)) {
    for (f->stage = 0; f->stage < ROLE_ARGS(e)->stages; ++f->stage) {
      ROLE_POINT(f);
      ROLE_INVAL(e, f->stage);
    }
    ROLE_POINT(f);
    ROLE_FENCE_ALL(e);
  }
  ROLE_END_SYNC(f, e);
  ROLE_END(f);
}
