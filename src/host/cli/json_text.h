/* Prints JSON on stdout. */
#ifndef TMARING_HOST_JSON_TEXT_H
#define TMARING_HOST_JSON_TEXT_H

#include <jansson.h>

/* Prints the value, indented, with a newline, and gives it up. 0, or an exit code after a message: NULL means that it
 * could not be made. */
int tmaring__json_print(json_t *json);

#endif
