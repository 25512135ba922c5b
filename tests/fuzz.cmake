# One fuzz target per parser. orr_fuzz(name libraries...): fuzz/fuzz_NAME.c, with the inputs of fuzz/corpus/NAME. With
# ORR_FUZZ (clang) libFuzzer runs it for a few seconds; otherwise its corpus is replayed, whole and cut short.
# Longer: build/clang/tests/fuzz_NAME -max_total_time=600 SCRATCH_FOLDER tests/fuzz/corpus/NAME
set(ORR_FUZZ_SECONDS 5 CACHE STRING "How long a test runs each fuzz target")

function(orr_fuzz name)
    set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
    add_executable(fuzz_${name} fuzz/fuzz_${name}.c)
    target_link_libraries(fuzz_${name} PRIVATE orrery_flags orrery_static ${ORR_PACKAGES} ${ARGN})
    if(ORR_FUZZ)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        # finds go to the build folder; an input that breaks the parser stays there too
        set(finds ${CMAKE_CURRENT_BINARY_DIR}/fuzz/${name})
        file(MAKE_DIRECTORY ${finds})
        add_test(NAME fuzz_${name}
                 COMMAND fuzz_${name} -max_total_time=${ORR_FUZZ_SECONDS} -timeout=10 -max_len=65536 -seed=1
                         -print_final_stats=1 -artifact_prefix=${finds}/ ${finds} ${corpus})
    else()
        target_sources(fuzz_${name} PRIVATE fuzz/replay.c)
        add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${corpus})
    endif()
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz)
endfunction()
