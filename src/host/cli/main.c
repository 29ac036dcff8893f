#include "command.h"

int main(int argc, char **argv)
{
  return tmaring__cli(argc, argv);
}
