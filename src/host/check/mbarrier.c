#include "mbarrier.h"

static tmaring__mbarrier_result settle(tmaring__mbarrier *barrier)
{
  if (barrier->pending > 0 || barrier->tx != 0) return TMARING__MBARRIER_OK;
  barrier->pending = barrier->expected;
  barrier->phase += 1;
  return TMARING__MBARRIER_ENDED;
}

static int tx_fits(int64_t tx)
{
  return tx > -TMARING__MBARRIER_LIMIT && tx < TMARING__MBARRIER_LIMIT;
}

tmaring__mbarrier_result tmaring__mbarrier_init(tmaring__mbarrier *barrier, uint32_t count)
{
  if (barrier->expected > 0) return TMARING__MBARRIER_LIVE;
  if (count == 0 || count >= TMARING__MBARRIER_LIMIT) return TMARING__MBARRIER_COUNT;
  barrier->expected = count;
  barrier->pending = count;
  barrier->tx = 0;
  barrier->phase = 0;
  return TMARING__MBARRIER_OK;
}

tmaring__mbarrier_result tmaring__mbarrier_inval(tmaring__mbarrier *barrier)
{
  if (barrier->expected == 0) return TMARING__MBARRIER_DEAD;
  barrier->expected = barrier->pending = barrier->phase = 0;
  barrier->tx = 0;
  return TMARING__MBARRIER_OK;
}

tmaring__mbarrier_result tmaring__mbarrier_arrive(tmaring__mbarrier *barrier, uint32_t count)
{
  if (barrier->expected == 0) return TMARING__MBARRIER_DEAD;
  if (count == 0 || count > barrier->pending) return TMARING__MBARRIER_COUNT;
  barrier->pending -= count;
  return settle(barrier);
}

tmaring__mbarrier_result tmaring__mbarrier_arrive_expect(tmaring__mbarrier *barrier, uint32_t bytes)
{
  if (barrier->expected == 0) return TMARING__MBARRIER_DEAD;
  if (!tx_fits((int64_t)barrier->tx + bytes)) return TMARING__MBARRIER_TX_RANGE;
  barrier->tx += (int32_t)bytes;
  return tmaring__mbarrier_arrive(barrier, 1);
}

tmaring__mbarrier_result tmaring__mbarrier_complete(tmaring__mbarrier *barrier, uint32_t bytes)
{
  if (barrier->expected == 0) return TMARING__MBARRIER_DEAD;
  if (!tx_fits((int64_t)barrier->tx - bytes)) return TMARING__MBARRIER_TX_RANGE;
  barrier->tx -= (int32_t)bytes;
  return settle(barrier);
}

int tmaring__mbarrier_test(const tmaring__mbarrier *barrier, uint32_t parity)
{
  return (barrier->phase & 1u) != (parity & 1u);
}
