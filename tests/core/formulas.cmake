# The formulas: their values on every machine against double, and their text through every compiler.

# the same formulas once per machine (formula_machines.h)
orr_lane_test(test_formula test_formula.c)
function(orr_formula_machine name)
    add_library(formula_${name} OBJECT formula_machine.c)
    target_link_libraries(formula_${name} PRIVATE orrery_flags)
    target_compile_definitions(formula_${name} PRIVATE ORR_ISA=${name})
    target_sources(test_formula PRIVATE $<TARGET_OBJECTS:formula_${name}>)
endfunction()
foreach(isa ${ORR_ISAS})
    orr_formula_machine(${isa})
    target_compile_options(formula_${isa} PRIVATE ${ORR_ISA_FLAGS_${isa}} -O3)
endforeach()
orr_formula_machine(scalar)
target_compile_definitions(formula_scalar PRIVATE ORR_SCALAR)
orr_formula_machine(reference)
target_compile_definitions(formula_reference PRIVATE ORR_SCALAR ORR_SCALAR_DOUBLE)

# every formula with every compiler that is here; a formula nobody listed cannot be forgotten
file(GLOB_RECURSE formulas CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/engine/*_formula.h ${PROJECT_SOURCE_DIR}/render/*_formula.h
     ${PROJECT_SOURCE_DIR}/neural/*_formula.h ${PROJECT_SOURCE_DIR}/physics/*_formula.h)
foreach(machine gcc clang nvcc glslc)
    find_program(ORR_FORMULA_${machine} ${machine} HINTS /usr/local/cuda/bin)
    if(ORR_FORMULA_${machine})
        add_test(NAME formulas_${machine}
                 COMMAND ${ORR_TESTS_DIR}/check_formula.sh ${machine} ${ORR_FORMULA_${machine}}
                         ${PROJECT_SOURCE_DIR} ${formulas})
        set_tests_properties(formulas_${machine} PROPERTIES LABELS source)
    else()
        message(STATUS "no ${machine}: formulas are not checked with it")
    endif()
endforeach()
