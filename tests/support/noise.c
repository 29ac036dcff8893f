#include "noise.h"

noise noise_seed(uint64_t seed)
{
  noise n = {seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull};
  if (n.state == 0) n.state = 1;
  for (int i = 0; i < 4; ++i) noise_next(&n);
  return n;
}

/* xorshift64* */
uint64_t noise_next(noise *n)
{
  n->state ^= n->state >> 12;
  n->state ^= n->state << 25;
  n->state ^= n->state >> 27;
  return n->state * 0x2545f4914f6cdd1dull;
}

int32_t noise_below(noise *n, int32_t limit)
{
  return (int32_t)((noise_next(n) >> 33) % (uint64_t)limit);
}

double noise_between(noise *n, double low, double high)
{
  return low + (high - low) * ((double)(noise_next(n) >> 11) / 9007199254740992.0);
}

double data_value(noise *n, data_kind kind, int64_t row)
{
  switch (kind) {
  case DATA_POSITIVE: return noise_between(n, 0.5, 2.0);
  case DATA_OFFSET: return 100.0 + noise_between(n, -0.5, 0.5);
  case DATA_ONES: return 1.0;
  case DATA_ROW_NUMBER: return (double)row;
  case DATA_STEEP: return noise_between(n, -16.0, 16.0);
  case DATA_WHOLE: {
    const int32_t whole = noise_below(n, 14) - 7;
    return whole < 0 ? whole : whole + 1;
  }
  default: break;
  }
  const double magnitude = noise_between(n, 1.0 / 64.0, 2.0);
  return noise_next(n) >> 63 ? magnitude : -magnitude;
}
