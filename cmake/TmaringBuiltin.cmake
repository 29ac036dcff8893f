# Kernels compiled ahead of time. The tool contains the library itself with an empty table, so that building takes the same way
# as compiling a user's formula at run time.
#
# Sets builtin_table: the source that holds the table.

set(builtin_table "${root}/cmake/builtin_none.c")
add_executable(tmaring-builtin EXCLUDE_FROM_ALL "${root}/src/host/jit/builtin_tool.c" "${builtin_table}"
               $<TARGET_OBJECTS:tmaring_objects>)
tmaring_setup(tmaring-builtin)
set_target_properties(tmaring-builtin PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
target_link_libraries(tmaring-builtin PRIVATE ${tmaring_system_libraries})

if(TMARING_WITH_CUDA AND TMARING_NVRTC_LIBRARY)
  get_filename_component(nvrtc_folder "${TMARING_NVRTC_LIBRARY}" DIRECTORY)
  set(builtin_table "${generated}/builtin_cubins.c")
  set(builtin_code "${generated}/builtin_cubins.bin") # taken in by the table's assembler
  # The tool is linked anew with every change of the library: kernels that did not change come from a cache, one per NVRTC.
  string(SHA1 nvrtc_hash "${TMARING_NVRTC_LIBRARY}")
  string(SUBSTRING "${nvrtc_hash}" 0 8 nvrtc_hash)
  set(kernel_cache "${CMAKE_CURRENT_BINARY_DIR}/kernels-${nvrtc_hash}")
  file(MAKE_DIRECTORY "${kernel_cache}")
  # NVRTC finds its own second library by the search path alone.
  add_custom_command(
    OUTPUT "${builtin_table}" "${builtin_code}"
    COMMAND "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${nvrtc_folder}" "TMARING_NVRTC=${TMARING_NVRTC_LIBRARY}"
            "TMARING_CACHE_DIR=${kernel_cache}" $<TARGET_FILE:tmaring-builtin> "${builtin_table}"
    DEPENDS tmaring-builtin "${TMARING_NVRTC_LIBRARY}"
    COMMENT "Compiling the built-in kernels"
    VERBATIM)
  set_source_files_properties("${builtin_table}" PROPERTIES OBJECT_DEPENDS "${builtin_code}")
endif()
