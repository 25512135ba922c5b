// Materials of .obj files.
#include "engine/mesh/mesh_obj.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    orr_mesh_file mesh = {0};
    orr_error error = {0};
    const orr_bytes bytes = {(uint8_t *)text, size};
    const orr_mesh_file_desc desc = {.path = "fuzz.obj", .bytes = &bytes};
    orr_mesh_reader reader = {
        .desc = &desc, .bytes = bytes, .mesh = &mesh, .all_bytes = size, .error = &error};
    orr_obj_materials materials = {0};
    orr_result result = orr_obj_read_mtl(&reader, "fuzz.mtl", &bytes, &materials);
    fuzz_expect(result, result == ORR_OK, &error);
    orr_free(materials.list);
    orr_arena_destroy(&materials.names);
    orr_mesh_file_free(&mesh);
    free(text);
    return 0;
}
