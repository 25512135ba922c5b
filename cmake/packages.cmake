# Finds the packages and decides the features. A missing optional package drops one feature and is named in
# the summary; nothing is downloaded.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(STB REQUIRED IMPORTED_TARGET stb)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(QHULL REQUIRED IMPORTED_TARGET qhull_r)
set(ORR_PACKAGES Threads::Threads PkgConfig::CJSON PkgConfig::ZLIB PkgConfig::ZSTD PkgConfig::STB
                 PkgConfig::EXPAT PkgConfig::QHULL m)
set(ORR_PACKAGE_MODULES libcjson zlib libzstd expat qhull_r)

set(ORR_FEATURES "")
# orr_feature(NAME "what it is for" "Debian packages" modules...): sets ORR_HAVE_NAME and links its packages
function(orr_feature name purpose debian)
    set(found OFF)
    set(wanted ${ORR_${name}})
    if(NOT wanted STREQUAL "OFF")
        pkg_check_modules(${name}_PACKAGES IMPORTED_TARGET ${ARGN})
        if(${name}_PACKAGES_FOUND)
            set(found ON)
            set(ORR_PACKAGES ${ORR_PACKAGES} PkgConfig::${name}_PACKAGES PARENT_SCOPE)
            set(ORR_PACKAGE_MODULES ${ORR_PACKAGE_MODULES} ${ARGN} PARENT_SCOPE)
        elseif(wanted STREQUAL "ON")
            message(FATAL_ERROR "ORR_${name}=ON but ${ARGN} was not found (Debian: ${debian})")
        endif()
    endif()
    set(ORR_HAVE_${name} ${found} PARENT_SCOPE)
    set(ORR_FEATURES "${ORR_FEATURES}${name}|${found}|${purpose}|${debian};" PARENT_SCOPE)
endfunction()

orr_feature(EXR "OpenEXR pictures" "libopenexr-dev" OpenEXR)
orr_feature(SPNG "PNG by libspng, not stb_image" "libspng-dev" spng)
orr_feature(JPEG "JPEG by libjpeg-turbo, not stb_image" "libjpeg62-turbo-dev" libjpeg)
orr_feature(WEBP "WebP pictures and SOG splat clouds" "libwebp-dev" libwebp)
orr_feature(ZIP "bundled .sog files" "libzip-dev" libzip)
orr_feature(VIDEO "video files (.mp4)" "libavcodec-dev libavformat-dev libswscale-dev" libavcodec libavformat
            libavutil libswscale)

# Vulkan: headers, volk and glslc at build time; the loader is opened at run time by volk
find_program(ORR_GLSLC glslc)
find_path(ORR_VOLK_DIR volk.h)
set(ORR_HAVE_VULKAN OFF)
if(NOT ORR_VULKAN STREQUAL "OFF")
    pkg_check_modules(VULKAN_PACKAGES IMPORTED_TARGET vulkan)
    if(VULKAN_PACKAGES_FOUND AND ORR_GLSLC AND ORR_VOLK_DIR)
        set(ORR_HAVE_VULKAN ON)
    elseif(ORR_VULKAN STREQUAL "ON")
        message(FATAL_ERROR "ORR_VULKAN=ON needs libvulkan-dev, libvulkan-volk-dev and glslc")
    endif()
endif()
string(APPEND ORR_FEATURES
       "VULKAN|${ORR_HAVE_VULKAN}|drawing on any GPU|libvulkan-dev libvulkan-volk-dev glslc;")

# the window needs Vulkan to present, Dear ImGui for its panel, and a font for it; the program links them,
# the library does not
set(ORR_HAVE_WINDOW OFF)
if(ORR_HAVE_VULKAN AND NOT ORR_WINDOW STREQUAL "OFF")
    pkg_check_modules(WINDOW_PACKAGES IMPORTED_TARGET glfw3 imgui fontconfig)
    if(WINDOW_PACKAGES_FOUND)
        set(ORR_HAVE_WINDOW ON)
    elseif(ORR_WINDOW STREQUAL "ON")
        message(FATAL_ERROR "ORR_WINDOW=ON needs libglfw3-dev, libimgui-dev and libfontconfig-dev")
    endif()
endif()
string(APPEND ORR_FEATURES
       "WINDOW|${ORR_HAVE_WINDOW}|the viewer|libglfw3-dev libimgui-dev libfontconfig-dev;")

include(${CMAKE_CURRENT_LIST_DIR}/cuda.cmake)

function(orr_print_features)
    message(STATUS "Orrery ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, instruction sets: ${ORR_ISAS}")
    foreach(line ${ORR_FEATURES})
        string(REPLACE "|" ";" part "${line}")
        list(GET part 0 name)
        list(GET part 1 found)
        list(GET part 2 purpose)
        list(GET part 3 debian)
        if(found)
            message(STATUS "  with    ${name}: ${purpose}")
        else()
            message(STATUS "  without ${name}: ${purpose} (Debian: ${debian})")
        endif()
    endforeach()
endfunction()

configure_file(${CMAKE_CURRENT_LIST_DIR}/orr_features.h.in ${PROJECT_BINARY_DIR}/generated/orr_features.h)
