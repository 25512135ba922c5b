# What `cmake --install` puts in place: the header and the version it includes, both libraries, and how CMake
# (find_package(orrery)) and pkg-config find them. The program and the assets install themselves in their own
# folders.
include(CMakePackageConfigHelpers)

set(ORR_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/orrery)
install(FILES engine/orrery.h ${ORR_VERSION_DIR}/orrery_version.h TYPE INCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/generated/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/orrery)
install(TARGETS orrery_shared EXPORT orrerySharedTargets)
install(TARGETS orrery_static EXPORT orreryStaticTargets)
set_target_properties(orrery_shared PROPERTIES EXPORT_NAME orrery)
foreach(kind Shared Static)
    install(EXPORT orrery${kind}Targets NAMESPACE orrery:: DESTINATION ${ORR_CMAKE_DIR})
endforeach()

list(JOIN ORR_PACKAGE_MODULES " " ORR_PACKAGE_MODULE_WORDS)
configure_package_config_file(cmake/orreryConfig.cmake.in ${PROJECT_BINARY_DIR}/generated/orreryConfig.cmake
                              INSTALL_DESTINATION ${ORR_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/orreryConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/orreryConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/orreryConfigVersion.cmake
        DESTINATION ${ORR_CMAKE_DIR})

# The libraries by name instead of Requires.private: that would drag in the private libraries of FFmpeg, whose
# development files nobody has, and ask shared users for packages they do not need.
pkg_check_modules(ORR_ALL_PACKAGES REQUIRED ${ORR_PACKAGE_MODULES})
list(JOIN ORR_ALL_PACKAGES_LDFLAGS " " ORR_PRIVATE_LIBS)
list(JOIN ORR_CUDA_LIBS " " ORR_PRIVATE_CUDA_LIBS)
# the prefix is found from the file's own place, so that an installed tree can be moved
file(RELATIVE_PATH ORR_PKGCONFIG_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/orrery.pc.in ${PROJECT_BINARY_DIR}/generated/orrery.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/orrery.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
