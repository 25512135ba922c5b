# cmake -D BINARY=FILE.spv -D NUMBERS=FILE.inc -P write_numbers.cmake: the words of SPIR-V as C numbers.
# glslc would compile once more to write them.
file(READ ${BINARY} bytes HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" words "${bytes}")
file(WRITE ${NUMBERS} "${words}")
