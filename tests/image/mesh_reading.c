#include "tests/image/mesh_reading.h"

#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

orr_mesh_file mesh;

orr_result read_bytes(const char *name, const void *data, size_t size, orr_error *why)
{
    char *copy = malloc(size + 1); // of its size, so that AddressSanitizer sees what is read behind it
    assert_non_null(copy);
    memcpy(copy, data, size);
    copy[size] = 0;
    const orr_bytes bytes = {(uint8_t *)copy, size};
    const orr_mesh_file_desc desc = {.path = name, .bytes = &bytes, .read_textures = true};
    orr_mesh_file_free(&mesh);
    orr_result result = orr_mesh_file_read(&desc, &mesh, why);
    free(copy);
    return result;
}

void read_good(const char *name, const char *text)
{
    assert_ok(read_bytes(name, text, strlen(text), &error));
}

void assert_refused(const char *name, const void *data, size_t size, const char *because)
{
    orr_error why = {0};
    assert_int_equal(read_bytes(name, data, size, &why), ORR_ERROR_FORMAT);
    assert_int_equal(why.code, ORR_CODE_MESH_FILE);
    assert_null(mesh.vertices);
    if (!strstr(why.message, name) || !strstr(why.message, because) || strchr(why.message, '\n')) {
        fail_msg("expected the file and \"%s\" in one line: %s", because, why.message);
    }
}

void assert_text_refused(const char *name, const char *text, const char *because)
{
    assert_refused(name, text, strlen(text), because);
}

const orr_mesh_file_vertex *corner(int i)
{
    assert_true(i < mesh.index_count);
    return &mesh.vertices[mesh.indices[i]];
}

void assert_at(int i, float x, float y, float z)
{
    const float *p = corner(i)->position;
    if (fabsf(p[0] - x) > 1e-5f || fabsf(p[1] - y) > 1e-5f || fabsf(p[2] - z) > 1e-5f) {
        fail_msg("corner %d: %g %g %g, expected %g %g %g", i, (double)p[0], (double)p[1], (double)p[2],
                 (double)x, (double)y, (double)z);
    }
}

void assert_close(float a, double b)
{
    assert_true(fabs((double)a - b) < 1e-5);
}

double area(void)
{
    double sum = 0.0;
    for (int i = 0; i < mesh.index_count; i += 3) {
        const float *a = corner(i)->position, *b = corner(i + 1)->position, *c = corner(i + 2)->position;
        sum += 0.5 * (double)((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
    }
    return sum;
}

void assert_texel(int texture, int red, int green, int blue)
{
    const int expected[3] = {red, green, blue};
    assert_in_range(texture, 0, mesh.texture_count - 1);
    for (int i = 0; i < 3; i++) {
        // a step of the encoded byte is at most 2.3 of the decoded one
        double value = srgb_decode((double)mesh.textures[texture].rgba[i] / 255.0) * 255.0;
        assert_true(fabs(value - expected[i]) <= 1.2);
    }
}

int free_last(void **state)
{
    (void)state;
    orr_mesh_file_free(&mesh);
    return 0;
}
