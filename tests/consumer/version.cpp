// The umbrella header from C++, against the library that is running.
#include <tmaring/tmaring.h>

int main()
{
  const int header = TMARING_VERSION_MAJOR * 10000 + TMARING_VERSION_MINOR * 100 + TMARING_VERSION_PATCH;
  return tmaring_version() == header ? 0 : 1;
}
