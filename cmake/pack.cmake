# Programs; with ORR_PACK all of them in one executable, orrery_pack. The engine is then linked once instead
# of 60 times, and a folder with every test is small enough to be sent to a machine where nothing is installed
# (tests/gpu_pack).

# ORR_TEST_LAUNCHER: goes before the name of a program in the COMMAND of a test
set(ORR_TEST_LAUNCHER "")
if(ORR_PACK)
    set(ORR_TEST_LAUNCHER orrery_pack)
endif()

# orr_program(name sources...): an executable, or with ORR_PACK an archive whose main() is called name_main()
function(orr_program name)
    if(NOT ORR_PACK)
        add_executable(${name} ${ARGN})
        return()
    endif()
    add_library(${name} STATIC ${ARGN})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME program_${name}) # liborrery.a is the engine
    target_compile_definitions(${name} PRIVATE main=${name}_main)
    set_property(GLOBAL APPEND PROPERTY ORR_PACKED_PROGRAMS ${name})
endfunction()

# orr_pack(): the executable, after all programs were named. `orrery_pack NAME ARGUMENTS...` runs one of them.
function(orr_pack)
    get_property(programs GLOBAL PROPERTY ORR_PACKED_PROGRAMS)
    list(TRANSFORM programs REPLACE "(.+)" "PROGRAM(\\1)\n" OUTPUT_VARIABLE list)
    list(JOIN list "" list)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/packed_programs.h CONTENT "${list}")
    add_executable(orrery_pack tests/support/pack_main.c)
    target_link_libraries(orrery_pack PRIVATE orrery_flags ${programs})
    # shared libraries lie beside it. The old tag is searched for the libraries of these libraries too.
    set_target_properties(orrery_pack PROPERTIES BUILD_RPATH "$ORIGIN/../lib")
    target_link_options(orrery_pack PRIVATE -Wl,--disable-new-dtags)
endfunction()
