# How the engine is compiled: common flags, the rooms' sources, and the CPU files once per instruction set.

add_library(orrery_flags INTERFACE)
# what orrery.h includes: the version, which is project()'s
set(ORR_VERSION_DIR ${PROJECT_BINARY_DIR}/generated/version)
configure_file(engine/orrery_version.h.in ${ORR_VERSION_DIR}/orrery_version.h @ONLY)
target_include_directories(orrery_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated
                                                  ${ORR_VERSION_DIR})
target_compile_options(
    orrery_flags
    INTERFACE -Wall
              -Wextra
              -Wpedantic
              -Wshadow
              -Wconversion
              # fused multiply-add only where the code says fma_: bits do not depend on the optimiser's mood
              -ffp-contract=off
              -fno-math-errno
              -fno-trapping-math
              # where each variable lives in optimised code, for debuggers, took a third of the time to
              # compile; a Debug build shows them
              $<$<COMPILE_LANG_AND_ID:C,GNU>:-fno-var-tracking>
              # asserts stay in an optimised build (CMake's RelWithDebInfo drops them): a bug in a caller
              # should stop with a line, not draw nonsense
              $<$<NOT:$<CONFIG:Release>>:-UNDEBUG>
              $<$<COMPILE_LANG_AND_ID:C,GNU>:-Wno-psabi>
              $<$<BOOL:${ORR_WERROR}>:-Werror>)
set(ORR_SANITIZE_FLAGS "")
if(ORR_SANITIZE)
    # Lines are all that a report names. More optimisation takes longer to compile than the tests then save.
    set(ORR_SANITIZE_FLAGS -fsanitize=${ORR_SANITIZE} -fno-sanitize-recover=all -O1 -g1)
    if(ORR_SANITIZE MATCHES "undefined")
        # With AddressSanitizer beside them these find hardly more, and take half of the time to compile and
        # run. Misaligned pointers are looked for where the bytes of files are read.
        list(APPEND ORR_SANITIZE_FLAGS -fno-sanitize=null,object-size,pointer-overflow)
        if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
            list(APPEND ORR_SANITIZE_FLAGS
                 -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/tests/support/not_sanitized.txt)
            # An undefined operation is an illegal instruction, whose place AddressSanitizer reports
            # (handle_sigill in CMakePresets.json). What would say which operation it was took a tenth to a
            # quarter of the time to compile; alone, with -DORR_SANITIZE=undefined, it is said.
            if(ORR_SANITIZE MATCHES "address")
                list(APPEND ORR_SANITIZE_FLAGS -fsanitize-trap=undefined)
            endif()
        endif()
    endif()
    target_compile_options(orrery_flags INTERFACE -fno-omit-frame-pointer)
    target_compile_definitions(orrery_flags INTERFACE ORR_SANITIZED)
endif()
if(ORR_FUZZ) # coverage for libFuzzer, which only the fuzz targets link
    list(APPEND ORR_SANITIZE_FLAGS -fsanitize=fuzzer-no-link
         -fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/tests/fuzz/not_covered.txt)
endif()
# programs are linked as C, without the runtime for this check of C++
set(ORR_SANITIZE_COMPILE_FLAGS ${ORR_SANITIZE_FLAGS})
if(ORR_SANITIZE)
    # clang makes functions inline that are said to be: all others a second time cost a fifth of the time
    list(APPEND ORR_SANITIZE_COMPILE_FLAGS $<$<COMPILE_LANG_AND_ID:C,Clang>:-finline-hint-functions>
         $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-finline-hint-functions>)
    # which gcc gets wrong with -O1
    list(APPEND ORR_SANITIZE_COMPILE_FLAGS $<$<COMPILE_LANG_AND_ID:C,GNU>:-Wno-maybe-uninitialized>)
    list(APPEND ORR_SANITIZE_COMPILE_FLAGS $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=function>)
endif()
target_compile_options(orrery_flags INTERFACE ${ORR_SANITIZE_COMPILE_FLAGS})
target_link_options(orrery_flags INTERFACE ${ORR_SANITIZE_FLAGS})

# What turns an error in the handling of memory into the end of the program rather than into someone's code.
# The lane programs, which read no files, are left out: they keep the stack frames that were measured.
add_library(orrery_hardening INTERFACE)
include(CheckPIESupported)
check_pie_supported() # programs are linked at no fixed address
if(NOT ORR_SANITIZE)
    target_compile_options(
        orrery_hardening
        INTERFACE -fstack-protector-strong -fstack-clash-protection
                  # it needs an optimised build
                  "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
    target_link_options(orrery_hardening INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()

add_library(orrery_objects OBJECT)
target_link_libraries(orrery_objects PRIVATE orrery_flags orrery_hardening ${ORR_PACKAGES})

# engine/core/isa.c asks the CPU for each flag below, and chooses at run time among the levels that are
# compiled
set(ORR_ISA_FLAGS_baseline "")
set(ORR_ISA_FLAGS_avx2 -mavx2 -mfma -mbmi -mbmi2)
set(ORR_ISA_FLAGS_avx512 ${ORR_ISA_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl
                         -mprefer-vector-width=512)
set(ORR_ISA_CPU_avx2 avx2 fma bmi1 bmi2) # the same flags as Linux names them
set(ORR_ISA_CPU_avx512 ${ORR_ISA_CPU_avx2} avx512f avx512bw avx512dq avx512vl)

set(ORR_BEST_ISA baseline) # of this CPU
set(cpu "")
if(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo cpu REGEX "^flags" LIMIT_COUNT 1)
endif()
string(REGEX MATCHALL "[a-z0-9_]+" cpu "${cpu}")
foreach(isa avx2 avx512)
    set(missing ${ORR_ISA_CPU_${isa}})
    list(REMOVE_ITEM missing ${cpu} "")
    if(NOT missing)
        set(ORR_BEST_ISA ${isa})
    endif()
endforeach()

set(ORR_ISAS baseline)
if(ORR_INSTRUCTION_SETS STREQUAL "ALL")
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        list(APPEND ORR_ISAS avx2 avx512)
    endif()
elseif(ORR_INSTRUCTION_SETS STREQUAL "NATIVE")
    set(ORR_ISAS ${ORR_BEST_ISA})
elseif(NOT ORR_INSTRUCTION_SETS STREQUAL "BASELINE")
    message(FATAL_ERROR "ORR_INSTRUCTION_SETS=${ORR_INSTRUCTION_SETS}: expected ALL, NATIVE or BASELINE")
endif()

foreach(isa baseline avx2 avx512)
    if(NOT isa IN_LIST ORR_ISAS)
        string(TOUPPER ${isa} upper)
        target_compile_definitions(orrery_flags INTERFACE ORR_WITHOUT_${upper})
    endif()
endforeach()
foreach(isa ${ORR_ISAS})
    set(ORR_OPTIMIZATION_${isa} ${ORR_LANE_OPTIMIZATION})
    if(ORR_LANE_OPTIMIZATION_OTHER AND NOT isa STREQUAL ORR_BEST_ISA)
        set(ORR_OPTIMIZATION_${isa} ${ORR_LANE_OPTIMIZATION_OTHER})
    endif()
endforeach()
foreach(isa ${ORR_ISAS})
    add_library(orrery_${isa} OBJECT)
    target_link_libraries(orrery_${isa} PRIVATE orrery_flags)
    target_compile_definitions(orrery_${isa} PRIVATE ORR_ISA=${isa})
    target_compile_options(orrery_${isa} PRIVATE ${ORR_ISA_FLAGS_${isa}} ${ORR_OPTIMIZATION_${isa}})
endforeach()

if(ORR_CUDA_EMULATED OR (ORR_TESTS AND CMAKE_CXX_COMPILER))
    orr_cuda_emulation()
endif()
if(ORR_HAVE_CUDA)
    orr_cuda_library()
endif()

# orr_sources(files...): sources of the folder whose CMakeLists.txt calls
function(orr_sources)
    target_sources(orrery_objects PRIVATE ${ARGN})
endfunction()

# orr_lane_sources(files...): compiled once per instruction set
function(orr_lane_sources)
    foreach(isa ${ORR_ISAS})
        target_sources(orrery_${isa} PRIVATE ${ARGN})
    endforeach()
endfunction()

# orr_extension_source(NAME file flags...): a file for an extension of AVX-512 that only some CPUs have, when
# this compiler has its flags; ORR_HAVE_NAME tells the sources
include(CheckCCompilerFlag)
function(orr_extension_source name file)
    list(JOIN ARGN " " flags)
    check_c_compiler_flag("${flags}" ORR_COMPILER_HAS_${name})
    if(ORR_COMPILER_HAS_${name} AND "avx512" IN_LIST ORR_ISAS)
        orr_sources(${file})
        set_source_files_properties(
            ${file} TARGET_DIRECTORY orrery_objects
            PROPERTIES COMPILE_OPTIONS "${ORR_ISA_FLAGS_avx512};${ARGN};${ORR_OPTIMIZATION_avx512}")
        target_compile_definitions(orrery_flags INTERFACE ORR_HAVE_${name})
        set(ORR_HAVE_${name} ON PARENT_SCOPE)
    endif()
endfunction()

function(orr_libraries)
    set(objects $<TARGET_OBJECTS:orrery_objects>)
    foreach(isa ${ORR_ISAS})
        list(APPEND objects $<TARGET_OBJECTS:orrery_${isa}>)
    endforeach()
    if(ORR_HAVE_CUDA)
        list(APPEND objects $<TARGET_OBJECTS:orrery_cuda>)
        if(NOT ORR_CUDA_EMULATED)
            list(APPEND objects $<TARGET_OBJECTS:orrery_cuda_programs>)
        endif()
    endif()
    if(ORR_CUDA_EMULATED)
        list(APPEND objects $<TARGET_OBJECTS:orrery_cuda_emulation>)
    endif()
    # what the tests, the assets and the program orrery link: they call functions of all folders
    add_library(orrery_internal STATIC EXCLUDE_FROM_ALL ${objects})
    target_include_directories(orrery_internal PUBLIC engine ${ORR_VERSION_DIR})
    target_link_libraries(orrery_internal PRIVATE orrery_flags ${ORR_PACKAGES} ${ORR_CUDA_PACKAGES}
                                                  ${CMAKE_DL_LIBS})

    # What others link holds one object, in which every name but those of orrery.h is local: a program that
    # defines vkCreateInstance, as volk does, or any other name of the engine's, links and calls its own.
    # Sections that C++ shares between objects become ordinary ones, because their names become local too.
    set(closed ${PROJECT_BINARY_DIR}/generated/orrery_closed.o)
    add_custom_command(
        OUTPUT ${closed}
        COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${closed}.part -Wl,--force-group-allocation
                -Wl,--whole-archive $<TARGET_FILE:orrery_internal>
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${closed}.part ${closed}
        COMMAND ${CMAKE_COMMAND} -E rm ${closed}.part
        DEPENDS orrery_internal
        COMMENT "Hiding the names of orrery_static"
        VERBATIM)
    add_library(orrery_static STATIC ${closed})
    set_target_properties(orrery_static PROPERTIES LINKER_LANGUAGE C)
    add_library(orrery_shared SHARED ${objects})

    foreach(kind static shared)
        add_library(orrery::orrery_${kind} ALIAS orrery_${kind})
        set_target_properties(orrery_${kind} PROPERTIES OUTPUT_NAME orrery VERSION ${PROJECT_VERSION}
                                                        SOVERSION 0)
        target_include_directories(orrery_${kind} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/engine>
                                                         $<BUILD_INTERFACE:${ORR_VERSION_DIR}>
                                                         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        # who links a sanitised library needs the sanitizer too
        target_link_options(orrery_${kind} INTERFACE "$<BUILD_INTERFACE:${ORR_SANITIZE_FLAGS}>")
        target_link_libraries(
            orrery_${kind} PRIVATE $<BUILD_INTERFACE:orrery_flags> $<BUILD_INTERFACE:orrery_hardening>
                                   "$<BUILD_INTERFACE:${ORR_PACKAGES}>"
                                   "$<BUILD_INTERFACE:${ORR_CUDA_PACKAGES}>" ${CMAKE_DL_LIBS} m)
    endforeach()
    # who links the installed static library finds its packages in orreryConfig.cmake
    target_link_libraries(orrery_static PRIVATE "$<INSTALL_INTERFACE:${ORR_CUDA_LIBS}>"
                                                $<INSTALL_INTERFACE:PkgConfig::ORRERY_PACKAGES>
                                                $<INSTALL_INTERFACE:Threads::Threads>)
    # packages that are static archives stay inside
    target_link_options(orrery_shared PRIVATE -Wl,--exclude-libs,ALL)
    if(ORR_PACK) # whose programs share one copy of the engine
        add_library(orrery::orrery ALIAS orrery_internal)
    else()
        add_library(orrery::orrery ALIAS orrery_shared)
    endif()
endfunction()
