/* The word of a shared-memory barrier as the hardware keeps it: arrivals expected and pending, bytes pending, and the
 * phase.
 *
 * A phase ends when no arrival and no byte is pending; the next phase then expects the same arrivals again. A wait
 * names a parity and is over when the phase of that parity has ended, that is, when the current phase has the other
 * parity: a wait that comes a whole phase late or early is fooled, here as there. */
#ifndef TMARING_HOST_MBARRIER_H
#define TMARING_HOST_MBARRIER_H

#include <stdint.h>

#define TMARING__MBARRIER_LIMIT (1 << 20) /* arrivals, and bytes pending, stay below */

typedef struct tmaring__mbarrier {
  uint32_t expected; /* arrivals per phase; 0: not initialised */
  uint32_t pending;  /* arrivals still to come in this phase */
  int32_t tx;        /* bytes still to come; negative when copies completed before they were expected */
  uint32_t phase;    /* phases ended; the hardware keeps the lowest bit */
} tmaring__mbarrier;

typedef enum tmaring__mbarrier_result {
  TMARING__MBARRIER_OK = 0,
  TMARING__MBARRIER_ENDED,   /* and this ended the phase */
  TMARING__MBARRIER_LIVE,    /* initialised while live */
  TMARING__MBARRIER_DEAD,    /* used before it was initialised */
  TMARING__MBARRIER_COUNT,   /* a count of zero or out of range, or more arrivals than are pending */
  TMARING__MBARRIER_TX_RANGE /* bytes pending out of range */
} tmaring__mbarrier_result;

tmaring__mbarrier_result tmaring__mbarrier_init(tmaring__mbarrier *barrier, uint32_t count);
/* The word is no barrier any more. */
tmaring__mbarrier_result tmaring__mbarrier_inval(tmaring__mbarrier *barrier);
tmaring__mbarrier_result tmaring__mbarrier_arrive(tmaring__mbarrier *barrier, uint32_t count);
/* arrive.expect_tx: first the bytes, then one arrival. */
tmaring__mbarrier_result tmaring__mbarrier_arrive_expect(tmaring__mbarrier *barrier, uint32_t bytes);
/* What a bulk copy does when it has written its last byte. */
tmaring__mbarrier_result tmaring__mbarrier_complete(tmaring__mbarrier *barrier, uint32_t bytes);
/* True where the phase of this parity has ended. */
int tmaring__mbarrier_test(const tmaring__mbarrier *barrier, uint32_t parity);

#endif
