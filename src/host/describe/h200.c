#include "tmaring/machine.h"

#include <string.h>

/* Limits per SM and block: CUDA C++ programming guide, compute capability 9.0. */
void tmaring_machine_h200(tmaring_machine *machine)
{
  if (!machine) return;
  memset(machine, 0, sizeof *machine);
  machine->size = sizeof *machine;
  machine->compute_major = 9;
  machine->compute_minor = 0;
  machine->sm_count = 132;
  machine->smem_per_block_bytes = 232448;
  machine->smem_default_bytes = 49152;
  machine->smem_per_sm_bytes = 233472;
  machine->smem_reserved_bytes = 1024;
  machine->threads_per_sm = 2048;
  machine->registers_per_sm = 65536;
  machine->l2_bytes = 62914560;
  strcpy(machine->name, "NVIDIA H200");
}
