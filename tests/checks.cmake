# Checks of the source and of what is installed, as tests.

# every formula with every compiler that is here; a formula nobody listed cannot be forgotten
file(GLOB_RECURSE formulas CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/engine/*_formula.h
     ${PROJECT_SOURCE_DIR}/render/*_formula.h ${PROJECT_SOURCE_DIR}/neural/*_formula.h
     ${PROJECT_SOURCE_DIR}/physics/*_formula.h)
foreach(machine gcc clang nvcc glslc)
    find_program(ORR_FORMULA_${machine} ${machine} HINTS /usr/local/cuda/bin)
    if(ORR_FORMULA_${machine})
        foreach(formula ${formulas})
            get_filename_component(name ${formula} NAME_WE)
            add_test(NAME ${name}_${machine}
                     COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_formula.sh ${machine} ${ORR_FORMULA_${machine}}
                             ${PROJECT_SOURCE_DIR} ${formula})
        endforeach()
    else()
        message(STATUS "no ${machine}: formulas are not checked with it")
    endif()
endforeach()

# a format that clang-format 14 does not agree with
find_program(ORR_CLANG_FORMAT NAMES clang-format-14)
if(ORR_CLANG_FORMAT)
    add_test(NAME formatting COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_format.sh ${ORR_CLANG_FORMAT} ${PROJECT_SOURCE_DIR})
endif()

# the installed library: programs outside the tree that find it with CMake and with pkg-config. A sanitised library
# would ask the same flags of them.
if(NOT ORR_SANITIZE)
    add_test(NAME install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/run.sh ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})
    add_test(NAME exported_symbols COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_exports.sh $<TARGET_FILE:orrery_shared>
                                           ${PROJECT_SOURCE_DIR}/engine/orrery.h)
endif()
