# The libraries tmaring (shared) and tmaring_static, from one list of sources.

set(root "${CMAKE_CURRENT_SOURCE_DIR}")
set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated")

file(GLOB_RECURSE tmaring_sources CONFIGURE_DEPENDS "${root}/src/host/*.c")
# The tool's parts, and tools run while building, are no part of the library.
list(FILTER tmaring_sources EXCLUDE REGEX "/src/host/(cli|bench)/|_tool\\.c$")

# Device sources as data: a user's formula is compiled without any file of ours on disk.
file(GLOB embedded_files CONFIGURE_DEPENDS "${root}/include/tmaring/abi/*.h" "${root}/include/tmaring/device/*.cuh")
set(embedded_list "")
foreach(path IN LISTS embedded_files)
  file(RELATIVE_PATH name "${root}" "${path}")
  string(REGEX REPLACE "^include/" "" name "${name}")
  string(APPEND embedded_list "${name}=${path}\n")
endforeach()
file(CONFIGURE OUTPUT "${generated}/embedded_sources.txt" CONTENT "${embedded_list}" @ONLY)
add_custom_command(
  OUTPUT "${generated}/embedded_sources.c"
  COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${generated}/embedded_sources.c" "-DFILES_LIST=${generated}/embedded_sources.txt"
          -P "${root}/cmake/embed.cmake"
  DEPENDS "${root}/cmake/embed.cmake" "${generated}/embedded_sources.txt" ${embedded_files}
  COMMENT "Embedding the device sources"
  VERBATIM)

# Header-only: keys of compiled kernels.
find_path(TMARING_XXHASH_INCLUDE xxhash.h REQUIRED)
find_package(Threads REQUIRED)
find_library(TMARING_LIBM m)
mark_as_advanced(TMARING_XXHASH_INCLUDE TMARING_LIBM)
# What older C libraries keep apart; glibc has all but libm in libc.so.6 from 2.34 on. Linked only where something is used.
set(tmaring_system_libraries ${CMAKE_DL_LIBS} ${CMAKE_THREAD_LIBS_INIT})
if(TMARING_LIBM)
  list(APPEND tmaring_system_libraries m)
endif()

set(tmaring_warnings "")
if(PROJECT_IS_TOP_LEVEL)
  set(tmaring_warnings -Wall -Wextra)
endif()
if(TMARING_WERROR)
  list(APPEND tmaring_warnings -Werror)
endif()

# Everything of ours is compiled in the same way; nothing is set beyond our own targets.
function(tmaring_setup target)
  set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
                        C_VISIBILITY_PRESET hidden)
  target_compile_options(${target} PRIVATE ${tmaring_warnings})
  target_compile_definitions(${target} PRIVATE TMARING_WITH_CUDA=${TMARING_WITH_CUDA})
  target_include_directories(${target} PRIVATE "${root}/include")
  target_include_directories(${target} SYSTEM PRIVATE "${TMARING_XXHASH_INCLUDE}")
  if(TMARING_WITH_CUDA)
    target_include_directories(${target} SYSTEM PRIVATE "${TMARING_CUDA_INCLUDE}")
  endif()
  if(TMARING_SANITIZE)
    target_compile_options(${target} PRIVATE "-fsanitize=${TMARING_SANITIZE}" -fno-sanitize-recover=all
                           -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE "-fsanitize=${TMARING_SANITIZE}")
  endif()
endfunction()

# Two flavours of the objects: only those of the shared library mark the public calls for export, so that a shared library of
# a user's that contains the static one exports none of ours.
add_library(tmaring_objects OBJECT ${tmaring_sources} "${generated}/embedded_sources.c")
add_library(tmaring_objects_shared OBJECT ${tmaring_sources} "${generated}/embedded_sources.c")
add_dependencies(tmaring_objects_shared tmaring_objects) # the generated file is made once
target_compile_definitions(tmaring_objects_shared PRIVATE TMARING_BUILD_SHARED)
foreach(target tmaring_objects tmaring_objects_shared)
  tmaring_setup(${target})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endforeach()

set(builtin_table "")
include(TmaringBuiltin)

add_library(tmaring_static STATIC $<TARGET_OBJECTS:tmaring_objects> ${builtin_table})
add_library(tmaring SHARED $<TARGET_OBJECTS:tmaring_objects_shared> ${builtin_table})
add_dependencies(tmaring tmaring_static)
add_library(tmaring::tmaring ALIAS tmaring)
add_library(tmaring::static ALIAS tmaring_static)
set(version_map "${root}/src/host/tmaring.map")
foreach(target tmaring_static tmaring)
  tmaring_setup(${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME tmaring POSITION_INDEPENDENT_CODE ON
                        ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
                        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${root}/include>"
                             "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(${target} PRIVATE ${tmaring_system_libraries})
  if(TMARING_SANITIZE)
    target_link_options(${target} INTERFACE "-fsanitize=${TMARING_SANITIZE}")
  endif()
endforeach()
set_target_properties(tmaring_static PROPERTIES EXPORT_NAME static)
set_target_properties(tmaring PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINK_DEPENDS "${version_map}")
target_link_options(tmaring PRIVATE "-Wl,--version-script=${version_map}")
if(NOT TMARING_SANITIZE)
  target_link_options(tmaring PRIVATE "-Wl,--no-undefined" "-Wl,--as-needed")
endif()
