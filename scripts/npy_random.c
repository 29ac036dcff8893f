/* Writes a .npy file of random floats: npy_random ROWS COLS SEED FILE. Values are spread over [-8, 8), none repeated by
 * design: an input of zeros or of a small pattern would hide misplaced rows. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

/* splitmix64 */
static uint64_t next_random(void)
{
  uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Format 1.0: magic, version, header length (little endian), header padded with spaces to a multiple of 64 in all. */
static int write_header(FILE *file, long rows, long cols)
{
  char header[128];
  unsigned char prefix[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0};
  const size_t length = sizeof header - sizeof prefix;
  memset(header, ' ', sizeof header);
  const int text =
      snprintf(header, length, "{'descr': '<f4', 'fortran_order': False, 'shape': (%ld, %ld), }", rows, cols);
  header[text] = ' ';
  header[length - 1] = '\n';
  prefix[8] = (unsigned char)length;
  return fwrite(prefix, sizeof prefix, 1, file) == 1 && fwrite(header, length, 1, file) == 1;
}

static int write_values(FILE *file, long count)
{
  for (long i = 0; i < count; i++) {
    const float value = (float)(int32_t)(next_random() >> 40) * (1.0f / 1048576.0f) - 8.0f;
    if (fwrite(&value, sizeof value, 1, file) != 1) return 0;
  }
  return 1;
}

int main(int argc, char **argv)
{
  if (argc != 5) {
    fprintf(stderr, "usage: npy_random ROWS COLS SEED FILE\n");
    return 2;
  }
  const long rows = atol(argv[1]), cols = atol(argv[2]);
  state = strtoull(argv[3], NULL, 10);
  FILE *file = fopen(argv[4], "wb");
  if (!file) {
    perror(argv[4]);
    return 1;
  }
  const int written = write_header(file, rows, cols) && write_values(file, rows * cols);
  if (fclose(file) != 0 || !written) {
    perror(argv[4]);
    return 1;
  }
  return 0;
}
