# CUDA: nvcc's objects, or the same files through g++ on the emulated device of tests/cuda_emu
# (ORR_CUDA=EMULATED). Sets ORR_HAVE_CUDA; the runtime is linked statically, so that a program starts where
# there is no driver.
set(ORR_CUDA_ARCHITECTURES "75-real;80-real;86-real;89-real;90" CACHE STRING
    "GPUs that kernels are compiled for; the last one as PTX too, for later ones")
set(ORR_CUDA_PROGRAM_ARCHITECTURES "75-real;80-real;90" CACHE STRING
    "The same for the lane programs of physics, which take minutes to compile")
set(ORR_HAVE_CUDA OFF)
set(ORR_CUDA_EMULATED OFF)
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
endif()
if(ORR_CUDA STREQUAL "EMULATED")
    set(ORR_HAVE_CUDA ON)
    set(ORR_CUDA_EMULATED ON)
elseif(NOT ORR_CUDA STREQUAL "OFF")
    if(NOT CMAKE_CUDA_COMPILER)
        find_program(ORR_NVCC nvcc HINTS /usr/local/cuda/bin)
    endif()
    if(CMAKE_CUDA_COMPILER OR ORR_NVCC)
        if(NOT CMAKE_CUDA_COMPILER)
            set(CMAKE_CUDA_COMPILER ${ORR_NVCC})
        endif()
        set(CMAKE_CUDA_ARCHITECTURES ${ORR_CUDA_ARCHITECTURES})
        set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
        enable_language(CUDA)
        find_package(CUDAToolkit)
        if(TARGET CUDA::cudart_static)
            set(ORR_HAVE_CUDA ON)
        endif()
    endif()
    if(ORR_CUDA STREQUAL "ON" AND NOT ORR_HAVE_CUDA)
        message(FATAL_ERROR "ORR_CUDA=ON needs NVIDIA's CUDA toolkit, 12 or later: nvcc and cudart_static")
    endif()
endif()
string(APPEND ORR_FEATURES "CUDA|${ORR_HAVE_CUDA}|NVIDIA GPUs|NVIDIA's CUDA toolkit;")

# orr_emulate_cuda(target files...): adds .cu files to a target, through g++ for the emulated device
function(orr_emulate_cuda target)
    target_sources(${target} PRIVATE ${ARGN})
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CXX)
    target_link_libraries(${target} PRIVATE orrery_cuda_language)
endfunction()

# orr_cuda_emulation(): the emulated device, and how a .cu file reaches g++
macro(orr_cuda_emulation)
    set(emulation ${PROJECT_SOURCE_DIR}/tests/cuda_emu)
    add_library(orrery_cuda_language INTERFACE)
    target_include_directories(orrery_cuda_language INTERFACE ${PROJECT_SOURCE_DIR}
                                                              ${PROJECT_SOURCE_DIR}/engine ${ORR_VERSION_DIR})
    target_include_directories(orrery_cuda_language SYSTEM INTERFACE ${emulation}/include)
    target_compile_definitions(orrery_cuda_language INTERFACE ORR_CUDA_EMULATED=1 __CUDACC__)
    target_compile_options(
        orrery_cuda_language
        INTERFACE "SHELL:-x c++" "SHELL:-include cuda_runtime.h" -Wall -Wextra -Wno-missing-field-initializers
                  -ffp-contract=off $<$<CXX_COMPILER_ID:GNU>:-fno-var-tracking> ${ORR_SANITIZE_COMPILE_FLAGS})
    add_library(orrery_cuda_emulation OBJECT ${emulation}/block.cpp ${emulation}/memory.cpp
                                             ${emulation}/runtime.cpp)
    target_include_directories(
        orrery_cuda_emulation
        PUBLIC ${emulation}/include ${emulation}
        PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(orrery_cuda_emulation PRIVATE -Wall -Wextra ${ORR_SANITIZE_COMPILE_FLAGS})
endmacro()

# orr_cuda_sources(files...): .cu files of the folder whose CMakeLists.txt calls
function(orr_cuda_sources)
    list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    if(ORR_CUDA_EMULATED)
        target_sources(orrery_cuda PRIVATE ${ARGN})
        set_source_files_properties(${ARGN} TARGET_DIRECTORY orrery_cuda PROPERTIES LANGUAGE CXX)
    else()
        target_sources(orrery_cuda PRIVATE ${ARGN})
    endif()
endfunction()

# orr_cuda_program_sources(files...): the same for files so large that they are compiled for few kinds of
# GPU. A binary for 8.0 runs on 8.6 and 8.9 too.
function(orr_cuda_program_sources)
    if(ORR_CUDA_EMULATED)
        orr_cuda_sources(${ARGN})
    else()
        list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
        target_sources(orrery_cuda_programs PRIVATE ${ARGN})
    endif()
endfunction()

# orr_cuda_library(): the target of those files, and the packages that come with them
macro(orr_cuda_library)
    add_library(orrery_cuda OBJECT ${PROJECT_SOURCE_DIR}/engine/device/cuda_sort.cu)
    if(ORR_CUDA_EMULATED)
        target_link_libraries(orrery_cuda PRIVATE orrery_cuda_language)
        if(ORR_SANITIZE MATCHES "address")
            # The emulated device guards its memory itself, and UndefinedBehaviorSanitizer bounds arrays
            # of a thread; with AddressSanitizer kernels take twice the time to compile.
            target_compile_options(orrery_cuda PRIVATE -fno-sanitize=address)
        endif()
        set(ORR_CUDA_PACKAGES stdc++)
        set(ORR_CUDA_LIBS -lstdc++)
        set(ORR_CUDA_INCLUDE ${emulation}/include)
    else()
        add_library(orrery_cuda_programs OBJECT)
        set_target_properties(orrery_cuda_programs PROPERTIES CUDA_ARCHITECTURES
                                                              "${ORR_CUDA_PROGRAM_ARCHITECTURES}")
        foreach(target orrery_cuda orrery_cuda_programs)
            target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/engine
                                                         ${ORR_VERSION_DIR})
            # fused multiply-add only where a formula says fma_, as on the CPU
            target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false -lineinfo>)
            if(ORR_CUDA_FAST_COMPILE AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
                target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Ofc=max>)
            endif()
            if(ORR_PACK AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
                target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
            endif()
        endforeach()
        set(ORR_CUDA_PACKAGES CUDA::cudart_static stdc++ rt)
        get_target_property(ORR_CUDART CUDA::cudart_static IMPORTED_LOCATION)
        set(ORR_CUDA_LIBS ${ORR_CUDART} -lstdc++ -lrt) # for who links the installed static library
        set(ORR_CUDA_INCLUDE ${CUDAToolkit_INCLUDE_DIRS})
    endif()
    target_include_directories(orrery_objects SYSTEM PRIVATE ${ORR_CUDA_INCLUDE})
endmacro()
