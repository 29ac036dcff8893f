# Writes a C file that holds text files as byte arrays:
#   cmake -DOUTPUT=embedded_sources.c -DBASES=dir:prefix,... -DFILES_LIST=list.txt -P embed.cmake
# list.txt has one "name=path" a line; the name is what the library looks the text up by.

file(STRINGS "${FILES_LIST}" entries)
set(arrays "")
set(rows "")
set(count 0)
foreach(entry IN LISTS entries)
  string(REGEX MATCH "^([^=]+)=(.+)$" matched "${entry}")
  set(name "${CMAKE_MATCH_1}")
  set(path "${CMAKE_MATCH_2}")
  file(READ "${path}" hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," list "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" list "${list}")
  string(APPEND arrays "static const unsigned char text_${count}[] = {\n${list}0x00};\n\n")
  string(APPEND rows "  {\"${name}\", (const char *)text_${count}, ${bytes}},\n")
  math(EXPR count "${count} + 1")
endforeach()

set(declaration "struct tmaring__source {\n  const char *name;\n  const char *text;\n  size_t bytes;\n};\n
extern const struct tmaring__source tmaring__sources[];\nextern const size_t tmaring__source_count;\n")
file(WRITE "${OUTPUT}" "/* Generated. */\n#include <stddef.h>\n\n${declaration}\n${arrays}"
     "const struct tmaring__source tmaring__sources[] = {\n${rows}  {NULL, NULL, 0}};\n"
     "const size_t tmaring__source_count = ${count};\n")
