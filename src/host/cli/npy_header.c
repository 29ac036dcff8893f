/* The dictionary of a .npy header. Only what numpy writes is taken: three keys in any order, strings in either quote,
 * False or True, and a tuple of integers. */
#include <string.h>

#include "npy.h"

typedef struct scanner {
  const char *at, *end;
} scanner;

typedef struct entries {
  int has_descr, has_order, has_shape;
} entries;

static void skip_space(scanner *s)
{
  while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r')) ++s->at;
}

/* Takes a character if it is next, after space. */
static int take(scanner *s, char wanted)
{
  skip_space(s);
  if (s->at >= s->end || *s->at != wanted) return 0;
  ++s->at;
  return 1;
}

static int take_word(scanner *s, const char *word)
{
  const size_t length = strlen(word);
  skip_space(s);
  if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0) return 0;
  s->at += length;
  return 1;
}

/* Takes a quoted string without escapes. */
static int take_string(scanner *s, const char **begin, size_t *length)
{
  skip_space(s);
  if (s->at >= s->end || (*s->at != '\'' && *s->at != '"')) return 0;
  const char quote = *s->at;
  const char *const start = s->at + 1;
  const char *const stop = memchr(start, quote, (size_t)(s->end - start));
  if (!stop || memchr(start, '\\', (size_t)(stop - start))) return 0;
  *begin = start;
  *length = (size_t)(stop - start);
  s->at = stop + 1;
  return 1;
}

/* Takes a decimal integer in [0, 2^63). Python 2 wrote a trailing L. */
static int take_integer(scanner *s, int64_t *value)
{
  int64_t v = 0;
  skip_space(s);
  const char *const start = s->at;
  for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; ++s->at) {
    const int digit = *s->at - '0';
    if (v > (INT64_MAX - digit) / 10) return 0;
    v = v * 10 + digit;
  }
  if (s->at == start) return 0;
  if (s->at < s->end && *s->at == 'L') ++s->at;
  *value = v;
  return 1;
}

static tmaring_status malformed(const char *what)
{
  return tmaring__fail(TMARING_ERROR_FORMAT,
                       "npy header: got %s, needs {'descr': ..., 'fortran_order': ..., 'shape': (...)}; "
                       "write the file again with numpy.save",
                       what);
}

/* A short printable copy of a string of the file. */
static const char *quotable(char *out, size_t capacity, const char *begin, size_t length)
{
  const size_t count = length < capacity - 1 ? length : capacity - 1;
  for (size_t i = 0; i < count; ++i) out[i] = begin[i] >= ' ' && begin[i] <= '~' ? begin[i] : '?';
  out[count] = 0;
  return out;
}

/* How many raw bits a descr stands for, or 0. ml_dtypes writes bf16 and e4m3 as V, e5m2 as f1. */
static int raw_bits(const char *descr)
{
  static const char *const bits16[] = {"<u2", "<V2", "|V2"};
  static const char *const bits8[] = {"|u1", "<u1", "|V1", "<V1", "|f1", "<f1"};
  for (size_t i = 0; i < sizeof bits16 / sizeof bits16[0]; ++i)
    if (strcmp(descr, bits16[i]) == 0) return 16;
  for (size_t i = 0; i < sizeof bits8 / sizeof bits8[0]; ++i)
    if (strcmp(descr, bits8[i]) == 0) return 8;
  return 0;
}

/* Type of a descr that says all, or -1. */
static int32_t native_type(const char *descr)
{
  static const struct {
    const char *descr;
    tmaring_dtype type;
  } native[] = {{"<f8", TMARING_F64}, {"<f4", TMARING_F32}, {"<f2", TMARING_F16}, {"|i1", TMARING_I8},
                {"<i1", TMARING_I8},  {"<i4", TMARING_I32}, {"<i8", TMARING_I64}};
  for (size_t i = 0; i < sizeof native / sizeof native[0]; ++i)
    if (strcmp(descr, native[i].descr) == 0) return (int32_t)native[i].type;
  return -1;
}

static tmaring_status refuse_descr(const char *descr)
{
  if (descr[0] == '>')
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "descr: got '%s' (big endian), needs little endian; save a.astype('<%s')", descr, descr + 1);
  if (strchr(descr, 'O'))
    return tmaring__fail(TMARING_ERROR_FORMAT, "descr: got '%s' (pickled objects), needs numbers; save a.astype('<f4')",
                         descr);
  return tmaring__fail(TMARING_ERROR_FORMAT,
                       "descr: got '%s', needs '<f8', '<f4', '<f2', '|i1', '<i4' or '<i8', or codes: '<u2' declared "
                       ":bf16, '|u1' declared :e4m3 or :e5m2; save a.astype('<f4')",
                       descr);
}

static tmaring_status refuse_declared(const char *descr, tmaring_dtype found, int32_t wanted)
{
  const char *const name = tmaring_dtype_name((tmaring_dtype)wanted);
  return tmaring__fail(TMARING_ERROR_FORMAT,
                       "descr: got '%s' (%s), needs a file of %s as declared; drop the :%s or convert the file", descr,
                       tmaring_dtype_name(found), name, name);
}

static tmaring_status take_raw(tmaring__array *array, const char *descr, int bits, int32_t wanted)
{
  const int fits = bits == 16 ? wanted == TMARING_BF16 : wanted == TMARING_E4M3 || wanted == TMARING_E5M2;
  if (!fits)
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "descr: got '%s' (%d raw bits), needs a declared type; add %s to the file name if it holds %s",
                         descr, bits, bits == 16 ? ":bf16" : ":e4m3 or :e5m2", bits == 16 ? "bf16" : "fp8 codes");
  array->dtype = (tmaring_dtype)wanted;
  return TMARING_OK;
}

static tmaring_status set_descr(tmaring__array *array, const char *begin, size_t length, int32_t wanted)
{
  char descr[32];
  quotable(descr, sizeof descr, begin, length);
  const int32_t found = native_type(descr);
  const int bits = raw_bits(descr);
  if (bits) return take_raw(array, descr, bits, wanted);
  if (found < 0) return refuse_descr(descr);
  array->dtype = (tmaring_dtype)found;
  if (wanted == TMARING__NPY_ANY_TYPE || wanted == found) return TMARING_OK;
  return refuse_declared(descr, array->dtype, wanted);
}

static tmaring_status take_descr(tmaring__array *array, scanner *s, int32_t wanted)
{
  const char *begin;
  size_t length;
  skip_space(s);
  if (s->at < s->end && *s->at == '[')
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "descr: got a structured type, needs numbers; save each field as an array of its own");
  if (!take_string(s, &begin, &length)) return malformed("a 'descr' that is no string");
  return set_descr(array, begin, length, wanted);
}

static tmaring_status take_order(scanner *s)
{
  if (take_word(s, "False")) return TMARING_OK;
  if (!take_word(s, "True")) return malformed("a 'fortran_order' that is neither True nor False");
  return tmaring__fail(TMARING_ERROR_FORMAT,
                       "fortran_order: got True, needs False (C order); save numpy.ascontiguousarray(a)");
}

static tmaring_status take_shape(tmaring__array *array, scanner *s)
{
  int64_t extent;
  array->dims = 0;
  if (!take(s, '(')) return malformed("a 'shape' that is no tuple");
  while (!take(s, ')')) {
    if (!take_integer(s, &extent)) return malformed("a 'shape' with something else than integers in [0, 2^63)");
    if (array->dims == TMARING__ARRAY_MAX_DIMS)
      return tmaring__fail(TMARING_ERROR_FORMAT,
                           "shape: got more than %d dimensions, needs at most that; save a.reshape(-1, a.shape[-1])",
                           TMARING__ARRAY_MAX_DIMS);
    array->shape[array->dims++] = extent;
    if (take(s, ',')) continue;
    if (!take(s, ')')) return malformed("a 'shape' without its closing parenthesis");
    break;
  }
  return TMARING_OK;
}

static tmaring_status take_value(tmaring__array *array, scanner *s, entries *seen, const char *key, size_t length,
                                 int32_t type)
{
  char text[32];
  quotable(text, sizeof text, key, length);
  if (strcmp(text, "descr") == 0 && !seen->has_descr++) return take_descr(array, s, type);
  if (strcmp(text, "fortran_order") == 0 && !seen->has_order++) return take_order(s);
  if (strcmp(text, "shape") == 0 && !seen->has_shape++) return take_shape(array, s);
  return tmaring__fail(TMARING_ERROR_FORMAT,
                       "npy header: got the key '%s', needs descr, fortran_order and shape, once each; "
                       "write the file again with numpy.save",
                       text);
}

static tmaring_status take_entries(tmaring__array *array, scanner *s, entries *seen, int32_t type)
{
  while (!take(s, '}')) {
    const char *key;
    size_t length;
    if (!take_string(s, &key, &length) || !take(s, ':')) return malformed("something else than a key");
    TMARING__TRY(take_value(array, s, seen, key, length, type));
    if (take(s, ',')) continue;
    if (!take(s, '}')) return malformed("no closing brace");
    break;
  }
  skip_space(s);
  return s->at == s->end ? TMARING_OK : malformed("text after the closing brace");
}

tmaring_status tmaring__npy_header(tmaring__array *array, const char *header, size_t length, int32_t type)
{
  scanner s = {header, header + length};
  entries seen = {0, 0, 0};
  if (!take(&s, '{')) return malformed("no dictionary");
  TMARING__TRY(take_entries(array, &s, &seen, type));
  if (!seen.has_descr) return malformed("no 'descr'");
  if (!seen.has_order) return malformed("no 'fortran_order'");
  if (!seen.has_shape) return malformed("no 'shape'");
  return TMARING_OK;
}
