# Checks of the source and of what is installed, as tests.

# a format that clang-format 14 does not agree with
find_program(ORR_CLANG_FORMAT NAMES clang-format-14)
if(ORR_CLANG_FORMAT)
    add_test(NAME formatting COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_format.sh ${ORR_CLANG_FORMAT}
                                     ${PROJECT_SOURCE_DIR})
    set_tests_properties(formatting PROPERTIES LABELS source)
endif()

# clang-tidy's checks (.clang-tidy) of the C files of this build, but of tests
find_program(ORR_CLANG_TIDY NAMES clang-tidy-14)
find_package(Python3 3.8 COMPONENTS Interpreter QUIET)
if(ORR_CLANG_TIDY AND Python3_FOUND AND NOT ORR_SANITIZE AND NOT ORR_INSTRUCTION_SETS STREQUAL "BASELINE")
    add_test(NAME clang_tidy COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_tidy.py
                                     ${ORR_CLANG_TIDY} ${PROJECT_BINARY_DIR})
    set_tests_properties(clang_tidy PROPERTIES LABELS slow PROCESSORS 2 COST 100)
endif()

# lines that are longer than CONTRIBUTING.md allows
if(Python3_FOUND)
    add_test(NAME line_lengths COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_lines.py
                                       ${PROJECT_SOURCE_DIR})
    set_tests_properties(line_lengths PROPERTIES LABELS source)
endif()

# how tests/gpu_check deals with programs that fail, hang or end the machine
if(Python3_FOUND)
    add_test(NAME gpu_check COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/gpu_check_test.py)
    set_tests_properties(gpu_check PROPERTIES LABELS source)
endif()

# the texts of the faults that faults/plant.py plants are still where its tables say
if(Python3_FOUND AND Python3_VERSION VERSION_GREATER_EQUAL 3.11)
    add_test(NAME planted_faults COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/faults/plant.py
                                         check)
    set_tests_properties(planted_faults PROPERTIES LABELS source)
endif()

# the installed library: programs outside the tree that find it with CMake and with pkg-config. A sanitised
# library would ask the same flags of them.
if(ORR_INSTALL AND NOT ORR_SANITIZE)
    add_test(NAME install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/run.sh ${PROJECT_BINARY_DIR}
                                  ${CMAKE_C_COMPILER})
    if(NOT ORR_CUDA STREQUAL "EMULATED") # whose templates of the C++ library nothing hides
        foreach(kind shared static)
            add_test(NAME exported_symbols_${kind}
                     COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_exports.sh $<TARGET_FILE:orrery_${kind}>
                             ${PROJECT_SOURCE_DIR}/engine/orrery.h)
        endforeach()
    endif()
endif()

# the Python package over this build's library, with packages of PyPI where it answers
if(Python3_FOUND AND NOT ORR_SANITIZE AND NOT ORR_CUDA STREQUAL "EMULATED")
    add_test(NAME python COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python.sh ${Python3_EXECUTABLE}
                                 ${PROJECT_SOURCE_DIR}/python $<TARGET_FILE:orrery_shared>
                                 ${CMAKE_C_COMPILER} ${PROJECT_BINARY_DIR}/python)
    set_tests_properties(python PROPERTIES ENVIRONMENT ORRERY_ASSETS=${PROJECT_BINARY_DIR}/assets
                                           SKIP_RETURN_CODE 77 LABELS slow COST 40)
    add_test(NAME python_learners
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python.sh ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/python
                     $<TARGET_FILE:orrery_shared> ${CMAKE_C_COMPILER} ${PROJECT_BINARY_DIR}/learners learners)
    # after the other, which builds the same wheel
    set_tests_properties(python_learners PROPERTIES SKIP_RETURN_CODE 77 LABELS slow COST 30 DEPENDS python)
    add_test(NAME wheel COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/wheel.sh ${Python3_EXECUTABLE}
                                ${PROJECT_SOURCE_DIR}/python ${PROJECT_BINARY_DIR}/wheel)
    set_tests_properties(wheel PROPERTIES SKIP_RETURN_CODE 77 LABELS slow COST 60 PROCESSORS 2)
endif()

# memory stays flat, for 20 seconds here; `tests/soak MINUTES` takes longer
if(Python3_FOUND AND TARGET orrery_assets AND NOT ORR_SANITIZE AND NOT ORR_PACK)
    add_test(NAME soak COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/soak 0.33
                               ${PROJECT_BINARY_DIR})
    set_tests_properties(soak PROPERTIES SKIP_RETURN_CODE 77 LABELS slow COST 20)
endif()

# what a release is built with; a sanitizer has other means
find_program(ORR_READELF readelf)
if(ORR_READELF AND NOT ORR_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "Rel")
    add_test(NAME hardening_library COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_hardening.sh
                                            $<TARGET_FILE:orrery_shared>)
    if(TARGET orrery AND NOT ORR_PACK)
        add_test(NAME hardening_program COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_hardening.sh
                                                $<TARGET_FILE:orrery>)
    endif()
endif()

# the Debian package: its program runs, and its dependencies are complete. install/deb.sh installs it in a
# clean system.
if(ORR_INSTALL AND PROJECT_IS_TOP_LEVEL AND TARGET orrery_assets AND NOT ORR_SANITIZE AND NOT ORR_PACK)
    add_test(NAME package COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/package.sh ${PROJECT_BINARY_DIR}
                                  ${PROJECT_VERSION})
    set_tests_properties(package PROPERTIES SKIP_RETURN_CODE 77 LABELS slow)
endif()

# the engine as a folder of someone else's project, without any optional package
if(NOT ORR_SANITIZE AND NOT ORR_INSTRUCTION_SETS STREQUAL "BASELINE")
    add_test(NAME subproject COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/subproject/run.sh ${CMAKE_C_COMPILER})
    set_tests_properties(subproject PROPERTIES LABELS slow COST 40)
endif()

# files that are opened past engine/core/file.h
add_test(NAME opens COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_opens.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(opens PROPERTIES LABELS source)

# pages that name files or functions that do not exist; includes that docs/architecture.md does not allow
if(EXISTS ${PROJECT_SOURCE_DIR}/.git)
    add_test(NAME docs COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_docs.sh ${PROJECT_SOURCE_DIR})
    set_tests_properties(docs PROPERTIES LABELS source)
endif()
