// Gmsh's files: what is read is a mesh that can be used.
#include "engine/mesh/gmsh.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    const orr_bytes bytes = {(uint8_t *)text, size};
    orr_gmsh mesh;
    orr_error error = {0};
    orr_result result = orr_gmsh_read("fuzz.msh", &bytes, &mesh, &error);
    fuzz_expect(result, mesh.element != NULL, &error);
    bool good = result != ORR_OK || mesh.dim == 2 || mesh.dim == 3;
    for (int i = 0; i < mesh.elements * (mesh.dim + 1); i++) {
        good = good && mesh.element[i] >= 0 && mesh.element[i] < mesh.points;
    }
    for (int i = 0; i < 3 * mesh.points; i++) {
        good = good && isfinite(mesh.point[i]);
    }
    if (!good) {
        abort();
    }
    orr_gmsh_free(&mesh);
    free(text);
    return 0;
}
