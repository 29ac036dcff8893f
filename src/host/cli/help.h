/* What --help prints, on stdout. */
#ifndef TMARING_HOST_HELP_H
#define TMARING_HOST_HELP_H

void tmaring__help_print(void);
/* Of one command, by its TMARING__FOR_ bit. */
void tmaring__help_print_command(unsigned bit);

#endif
