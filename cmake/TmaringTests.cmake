# Each tests/NAME_test.c is a Criterion program build/tests/NAME_test.

find_library(TMARING_CRITERION criterion REQUIRED)
find_path(TMARING_CRITERION_INCLUDE criterion/criterion.h REQUIRED)
mark_as_advanced(TMARING_CRITERION TMARING_CRITERION_INCLUDE)

file(GLOB support_sources CONFIGURE_DEPENDS "${root}/tests/support/*.c")
if(support_sources)
  add_library(tmaring_test_support OBJECT ${support_sources})
  tmaring_setup(tmaring_test_support)
  target_include_directories(tmaring_test_support SYSTEM PRIVATE "${TMARING_CRITERION_INCLUDE}")
endif()

file(GLOB test_sources CONFIGURE_DEPENDS "${root}/tests/*_test.c")
foreach(source IN LISTS test_sources)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} "${source}")
  tmaring_setup(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/tests")
  target_include_directories(${name} SYSTEM PRIVATE "${TMARING_CRITERION_INCLUDE}")
  if(TARGET tmaring_test_support)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:tmaring_test_support>)
  endif()
  target_link_libraries(${name} PRIVATE tmaring_cli "${TMARING_CRITERION}" m)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "TMARING_CLI=${CMAKE_CURRENT_BINARY_DIR}/tmaring"
                       WORKING_DIRECTORY "${root}")
endforeach()
