# `cpack` in a build folder writes orrery_VERSION_ARCHITECTURE.deb: what `cmake --install` installs, under
# /usr. dpkg-shlibdeps (Debian: dpkg-dev, file) derives the packages it depends on from the libraries that it
# links.
if(NOT PROJECT_IS_TOP_LEVEL)
    return()
endif()

# CMake strips programs and shared libraries (CPACK_STRIP_FILES, cmake --install --strip), but no archives
install(CODE "if(CMAKE_INSTALL_DO_STRIP)
    execute_process(COMMAND ${CMAKE_STRIP} --strip-debug
                            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/liborrery.a\"
                    COMMAND_ERROR_IS_FATAL ANY)
endif()")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME orrery)
set(CPACK_PACKAGE_VENDOR "The Orrery developers")
set(CPACK_PACKAGE_CONTACT "The Orrery developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "real-time neural rendering and simulation engine")
set(CPACK_PACKAGE_DESCRIPTION
    "Draws Gaussian splats, meshes and neural fields, trains the fields, and simulates robots,
on CPUs and on GPUs. The program orrery, the C library, its header and example scenes.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(ORR_HAVE_VULKAN) # opened at run time, so that shlibdeps does not see it
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libvulkan1, mesa-vulkan-drivers | vulkan-icd")
endif()
include(CPack)
