# Headers, libraries, the tool, a CMake package and a pkg-config file.

include(CMakePackageConfigHelpers)

install(TARGETS tmaring tmaring_static EXPORT tmaring-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TARGET tmaring_tool)
  install(TARGETS tmaring_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY "${root}/include/tmaring" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tmaring")
install(EXPORT tmaring-targets NAMESPACE tmaring:: DESTINATION "${package_folder}")
configure_package_config_file("${root}/cmake/tmaring-config.cmake.in" "${generated}/tmaring-config.cmake"
                              INSTALL_DESTINATION "${package_folder}")
# Before 1.0 a minor release may change the interface.
write_basic_package_version_file("${generated}/tmaring-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${generated}/tmaring-config.cmake" "${generated}/tmaring-config-version.cmake"
        DESTINATION "${package_folder}")

# The prefix as seen from the folder of the file, so that the installed tree can be moved.
file(RELATIVE_PATH prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
set(private_libs "")
foreach(library IN LISTS tmaring_system_libraries)
  if(NOT library MATCHES "^-")
    string(PREPEND library "-l")
  endif()
  string(APPEND private_libs " ${library}")
endforeach()
configure_file("${root}/cmake/tmaring.pc.in" "${generated}/tmaring.pc" @ONLY)
install(FILES "${generated}/tmaring.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
