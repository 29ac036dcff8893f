/* Files as memory: mapped, from a pipe, refused, and cut short while they are mapped. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../src/host/cli/file_view.h"
#include "support/tool.h"

static void expect_words(const char *words)
{
  cr_expect(strstr(tmaring_last_detail(), words), "'%s' is not in: %s", words, tmaring_last_detail());
}

static const char *make_file(size_t bytes)
{
  const char *const path = tool_path(1, "view");
  FILE *const file = fopen(path, "wb");
  cr_assert_not_null(file);
  for (size_t i = 0; i < bytes; ++i) fputc((int)(i * 7 + 1) & 255, file);
  cr_assert_eq(fclose(file), 0);
  return path;
}

Test(file_view, maps_files_read_only, .timeout = 10)
{
  static const size_t sizes[] = {0, 1, 4096, 100003};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    tmaring__file_view view;
    const char *const path = make_file(sizes[k]);
    cr_assert_eq(tmaring__file_view_open(&view, path, "other", 5), TMARING_OK, "%s", tmaring_last_detail());
    cr_expect_eq(view.bytes, sizes[k]);
    cr_expect_eq(view.mapped, sizes[k] > 0);
    for (size_t i = 0; i < view.bytes; ++i) cr_assert_eq(view.data[i], (i * 7 + 1) & 255);
    tmaring__file_view_close(&view);
    cr_expect(view.data == NULL && view.bytes == 0);
    tmaring__file_view_close(&view); /* twice is once */
    unlink(path);
  }
}

/* A view of a pipe that a child of the shell fills. */
static tmaring_status open_pipe(tmaring__file_view *view, const char *writer, const char *start)
{
  char command[640];
  const char *const path = tool_path(2, "pipe");
  cr_assert_eq(mkfifo(path, 0600), 0);
  snprintf(command, sizeof command, "(%s) >'%s' 2>/dev/null &", writer, path);
  cr_assert_eq(system(command), 0);
  const tmaring_status status = tmaring__file_view_open(view, path, start, strlen(start));
  unlink(path);
  return status;
}

Test(file_view, reads_a_pipe_to_its_end, .timeout = 30)
{
  tmaring__file_view view;
  cr_assert_eq(open_pipe(&view, "printf head; head -c 300000 /dev/zero; printf tail", "head"), TMARING_OK);
  cr_expect(!view.mapped);
  cr_assert_eq(view.bytes, 300008);
  cr_expect(memcmp(view.data, "head\0", 5) == 0 && memcmp(view.data + 300003, "\0tail", 5) == 0);
  tmaring__file_view_close(&view);
  cr_assert_eq(open_pipe(&view, "true", "head"), TMARING_OK);
  cr_expect_eq(view.bytes, 0);
  tmaring__file_view_close(&view);
}

/* What cannot be the file that is wanted is not read for ever. */
Test(file_view, leaves_a_pipe_that_starts_otherwise, .timeout = 30)
{
  tmaring__file_view view;
  cr_assert_eq(open_pipe(&view, "cat /dev/zero", "head"), TMARING_OK);
  cr_expect_lt(view.bytes, 1 << 20);
  tmaring__file_view_close(&view);
}

Test(file_view, refuses_what_is_no_file, .timeout = 10)
{
  tmaring__file_view view;
  cr_expect_eq(tmaring__file_view_open(&view, "/nonexistent", "", 0), TMARING_ERROR_IO);
  expect_words("/nonexistent: got 'No such file or directory', needs a file that can be read");
  cr_expect_eq(tmaring__file_view_open(&view, "/dev", "", 0), TMARING_ERROR_IO);
  expect_words("/dev: got a folder, needs a file or a pipe");
  cr_expect_eq(tmaring__file_view_open(&view, "/dev/zero", "", 0), TMARING_ERROR_IO);
  expect_words("/dev/zero: got a device, needs a file or a pipe");
}

/* Exit code 3, and no signal. */
Test(file_view, a_file_cut_short_ends_with_the_code_for_files, .timeout = 10, .exit_code = 3)
{
  tmaring__file_view view;
  const char *const path = make_file(3 * 65536);
  tmaring__file_view_guard();
  cr_assert_eq(tmaring__file_view_open(&view, path, "", 0), TMARING_OK);
  cr_assert_eq(truncate(path, 0), 0);
  unlink(path);
  volatile unsigned char byte = view.data[2 * 65536];
  (void)byte;
  _exit(0);
}
