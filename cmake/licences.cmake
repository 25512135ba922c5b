# The licences of what this build links, for who distributes it: installed as share/doc/orrery/copyright,
# which is the Debian package's too, and part of `orrery --version`.
set(modules ${ORR_PACKAGE_MODULES} stb)
if(ORR_HAVE_VULKAN)
    list(APPEND modules volk)
endif()
if(ORR_HAVE_WINDOW)
    list(APPEND modules glfw3 imgui)
endif()
if(ORR_HAVE_CUDA AND NOT ORR_CUDA_EMULATED)
    list(APPEND modules cudart)
endif()

set(ORR_LICENCES "")
# orr_licence("library" "licence" modules...): pkg-config's names of the library
macro(orr_licence library licence)
    set(linked FALSE)
    foreach(module ${ARGN})
        if(module IN_LIST modules)
            set(linked TRUE)
            list(REMOVE_ITEM modules ${module})
        endif()
    endforeach()
    if(linked)
        list(APPEND ORR_LICENCES "${library}: ${licence}")
    endif()
endmacro()

orr_licence("cJSON" "MIT" libcjson)
orr_licence("zlib" "Zlib" zlib)
orr_licence("Zstandard" "BSD-3-Clause" libzstd)
orr_licence("Expat" "MIT" expat)
orr_licence("Qhull" "Qhull's own, which asks to keep its notice with copies" qhull_r)
orr_licence("stb" "MIT or public domain" stb)
orr_licence("OpenEXR and Imath" "BSD-3-Clause" OpenEXR)
orr_licence("libspng" "BSD-2-Clause and libpng-2.0" spng)
orr_licence("libjpeg-turbo" "IJG, BSD-3-Clause and Zlib" libjpeg)
orr_licence("libwebp" "BSD-3-Clause" libwebp)
orr_licence("libzip" "BSD-3-Clause" libzip)
orr_licence("volk" "MIT" volk)
orr_licence("GLFW" "Zlib" glfw3)
orr_licence("Dear ImGui" "MIT" imgui)
orr_licence("CUDA runtime" "NVIDIA's end user licence agreement" cudart)
orr_licence("FFmpeg" "LGPL-2.1-or-later, or the GPL where it was configured so" libavcodec libavformat
            libavutil libswscale)
if(modules)
    message(FATAL_ERROR "cmake/licences.cmake: expected the licence of ${modules}")
endif()

list(JOIN ORR_LICENCES "\n  " ORR_LICENCE_LINES)
list(JOIN ORR_LICENCES "\\n  " ORR_LICENCE_STRING)
file(READ ${PROJECT_SOURCE_DIR}/LICENSE ORR_LICENCE)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/orr_licences.h CONTENT
"// What the program and the libraries link, and under which licences (cmake/licences.cmake).
#define ORR_LICENCES \"  @ORR_LICENCE_STRING@\"
" @ONLY)
set(ORR_LICENCE_NOTE "")
if(ORR_HAVE_VIDEO)
    set(ORR_LICENCE_NOTE "
The packages of Debian and of most other distributions configure FFmpeg with --enable-gpl. A program that is
distributed together with such an FFmpeg is, as a whole, under the GNU General Public License, version 2 or
later.
A build with -DORR_VIDEO=OFF links none of it.
")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/copyright CONTENT
"Orrery, its program and its libraries:

@ORR_LICENCE@
They link these libraries, which are not part of them and have licences of their own:
  @ORR_LICENCE_LINES@
@ORR_LICENCE_NOTE@" @ONLY)
