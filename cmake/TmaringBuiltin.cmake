# Kernels compiled ahead of time. The tool contains the library itself with an empty table, so that building takes the same way
# as compiling a user's formula at run time.
#
# Sets builtin_table: the source that holds the table.

set(builtin_table "${root}/cmake/builtin_none.c")
if(NOT EXISTS "${root}/src/host/jit/code_store.h")
  set(builtin_table "")
endif()
set(builtin_tool "${root}/src/host/jit/builtin_tool.c")
if(EXISTS "${builtin_tool}" AND TMARING_NVRTC_LIBRARY)
  add_executable(tmaring-builtin "${builtin_tool}" "${builtin_table}" $<TARGET_OBJECTS:tmaring_objects>)
  tmaring_setup(tmaring-builtin)
  target_link_libraries(tmaring-builtin PRIVATE ${tmaring_system_libraries})
  get_filename_component(nvrtc_folder "${TMARING_NVRTC_LIBRARY}" DIRECTORY)
  set(builtin_table "${generated}/builtin_cubins.c")
  # NVRTC finds its own builtins library by the search path alone.
  add_custom_command(
    OUTPUT "${builtin_table}"
    COMMAND "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${nvrtc_folder}" "TMARING_NVRTC=${TMARING_NVRTC_LIBRARY}"
            ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:tmaring-builtin> "${builtin_table}"
    DEPENDS tmaring-builtin "${TMARING_NVRTC_LIBRARY}"
    COMMENT "Compiling the built-in kernels"
    VERBATIM)
endif()
