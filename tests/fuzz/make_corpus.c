// Writes the corpora of the fuzz targets: a few whole files of each format, and the same with bytes changed,
// cut and repeated. Nothing is random but by a fixed seed.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/maths/rng.h"
#include "neural/ingp/ingp.h"
#include "orr_features.h"
#include "physics/grid/collider_file.h"
#include "render/training/splat_state.h"
#include "tests/image/picture_samples.h"
#include "tests/splats/splat_samples.h"
#if ORR_HAVE_WEBP && ORR_HAVE_ZIP
#include "tests/splats/sog_sample.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MUTATIONS = 48 };

static const char *root;

static void stop(const char *what)
{
    fprintf(stderr, "make_corpus: %s\n", what);
    exit(1);
}

static void put(const char *target, const char *name, const uint8_t *data, size_t size)
{
    char path[4096];
    orr_error error;
    snprintf(path, sizeof path, "%s/%s", root, target);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", root, target, name);
    if (orr_file_write(path, data, size, &error) != ORR_OK) {
        stop(error.message);
    }
}

// Changes a few bytes, or a number, or cuts, or repeats a piece; returns the new size.
static size_t mutate(uint8_t *data, size_t size, orr_rng *rng)
{
    size_t at = orr_rng_next(rng) % size;
    // headers decide the most: every second change is in the first bytes
    at = orr_rng_next(rng) % 2 ? at % 512 : at;
    static const uint32_t numbers[] = {0,          1,          0xff,       0xffff,    0x7fffffff,
                                       0x80000000, 0xffffffff, 0x7f800000, 0x7fc00000};
    switch (orr_rng_next(rng) % 4) {
    case 0:
        for (uint32_t n = 1 + orr_rng_next(rng) % 4; n > 0; n--) {
            data[orr_rng_next(rng) % size] = (uint8_t)orr_rng_next(rng);
        }
        return size;
    case 1: {
        uint32_t number = numbers[orr_rng_next(rng) % (sizeof numbers / sizeof numbers[0])];
        memcpy(data + at, &number, size - at < 4 ? size - at : 4);
        return size;
    }
    case 2:
        return at;
    default:
        memmove(data + at, data, size - at);
        return size;
    }
}

static void put_seed(const char *target, const char *name, orr_bytes seed)
{
    if (!seed.data || seed.size == 0) {
        stop("a sample could not be made");
    }
    put(target, name, seed.data, seed.size);
    uint8_t *copy = malloc(seed.size);
    for (uint32_t m = 0; copy && m < MUTATIONS; m++) {
        char mutation[256];
        orr_rng rng = {.seed = m, .stream = (uint32_t)seed.size};
        memcpy(copy, seed.data, seed.size);
        size_t size = mutate(copy, seed.size, &rng);
        size = m % 3 == 0 && size > 0 ? mutate(copy, size, &rng) : size;
        snprintf(mutation, sizeof mutation, "%s-%u", name, m);
        put(target, mutation, copy, size);
    }
    free(copy);
    orr_free(seed.data);
}

static void put_written(const char *target, const char *ending, int highest_degree)
{
    for (int degree = 0; degree <= highest_degree; degree++) {
        char path[4096], name[64];
        orr_error error;
        orr_bytes bytes = {0};
        orr_splats *cloud = sample_cloud(3 + degree, degree, 1);
        snprintf(path, sizeof path, "%s/seed%s", root, ending);
        snprintf(name, sizeof name, "degree%d%s", degree, ending);
        if (!cloud || orr_splats_save(cloud, path, &error) != ORR_OK ||
            orr_file_read(path, &bytes, &error) != ORR_OK) {
            stop("a cloud could not be written");
        }
        put_seed(target, name, bytes);
        remove(path);
        orr_splats_destroy(cloud);
    }
}

static void put_collider(void)
{
    char path[4096];
    orr_error error;
    orr_bytes bytes = {0};
    orr_distance_grid *grid;
    snprintf(path, sizeof path, "%s/seed.collider", root);
    if (orr_distance_grid_create((const int32_t[3]){2, 2, 1}, 2, &grid, &error) != ORR_OK) {
        stop(error.message);
    }
    grid->cell = 0.5;
    grid->brick[0] = 1;
    grid->brick[3] = 0;
    for (int i = 0; i < 2 * ORR_GRID_SAMPLES; i++) {
        grid->sample[i] = (float)(i % ORR_GRID_EDGE) - 3.0f;
    }
    if (orr_distance_grid_save(grid, path, &error) != ORR_OK ||
        orr_file_read(path, &bytes, &error) != ORR_OK) {
        stop(error.message);
    }
    put_seed("collider", "grid", bytes);
    remove(path);
    orr_distance_grid_destroy(grid);
}

static void put_splat_state(void)
{
    char path[4096];
    orr_error error;
    orr_bytes bytes = {0};
    int images[2] = {1, 0};
    const orr_splat_seed seed = {{1.0f, 2.0f, 3.0f}, {0.2f, 0.5f, 0.9f}, -2.0f, 1.5f};
    orr_splat_view views[2] = {{.steps = 1}};
    orr_splat_state state = {.step = 5,
                             .most = 4,
                             .rest_steps = 1,
                             .progress = 0.25,
                             .extent = 1.0f,
                             .image_count = 2,
                             .images = images,
                             .views = views};
    snprintf(path, sizeof path, "%s/seed.training", root);
    if (orr_splat_params_create(4, false, &state.params, &error) != ORR_OK) {
        stop(error.message);
    }
    orr_splat_params_add(&state.params, &seed, 1);
    if (orr_splat_state_save(&state, path, &error) != ORR_OK ||
        orr_file_read(path, &bytes, &error) != ORR_OK) {
        stop(error.message);
    }
    put_seed("splat_state", "small", bytes);
    remove(path);
    orr_splat_params_destroy(&state.params);
}

static void put_text_ply(void)
{
    static const char text[] =
        "ply\nformat ascii 1.0\ncomment antialiased 1\nelement camera 1\nproperty int id\nelement vertex 2\n"
        "property double x\nproperty float y\nproperty float z\nproperty uchar f_dc_0\nproperty float "
        "f_dc_1\n"
        "property float f_dc_2\nproperty float opacity\nproperty float scale_0\nproperty float scale_1\n"
        "property float rot_0\nproperty float rot_1\nproperty float rot_2\nproperty float rot_3\n"
        "element face 0\nproperty list uchar int vertex_index\nend_header\n7\n"
        "1 2 3 4 5 6 7 8 9 1 0 0 0\n-1e3 +2.5 .5 4 5 6e-3 7 8 9 0 0 1 0\n";
    uint8_t *copy = orr_alloc(sizeof text - 1, 1);
    if (copy) {
        memcpy(copy, text, sizeof text - 1);
    }
    put_seed("ply", "text", (orr_bytes){copy, sizeof text - 1});
}

static void put_sog(void)
{
#if ORR_HAVE_WEBP && ORR_HAVE_ZIP
    for (int n = 0; n < 4; n++) {
        char name[64];
        orr_splats *cloud = sample_cloud(20, n, 1);
        orr_splats_view d = orr_splats_data(cloud);
        sog_sample sample;
        if (!sog_sample_make(&d, 1 + n % 2, &sample)) {
            stop("a SOG cloud could not be made");
        }
        snprintf(name, sizeof name, "bundle%d", n);
        put_seed("sog", name, sog_sample_bundle(&sample));
        snprintf(name, sizeof name, "meta%d", n);
        put_seed("sog", name, sample.file[0]);
        sample.file[0].data = NULL;
        sog_sample_free(&sample);
        orr_splats_destroy(cloud);
    }
#endif
}

// small fields of every kind, plain, so that mutations meet what is inside
static void put_models(void)
{
    static const char *const names[] = {"image", "sdf", "nerf", "volume"};
    static const char plain[] = "{\"encoding\": {\"n_levels\": 2, \"log2_hashmap_size\": 4}, "
                                "\"network\": {\"n_neurons\": 16}}";
    static const char coloured[] = "{\"encoding\": {\"n_levels\": 2, \"log2_hashmap_size\": 4}, "
                                   "\"network\": {\"n_neurons\": 16}, \"rgb_network\": {\"n_neurons\": 16}}";
    for (int kind = ORR_FIELD_IMAGE; kind <= ORR_FIELD_VOLUME; kind++) {
        orr_error error;
        orr_field_desc desc = {
            .kind = (orr_field_kind)kind, .desired_resolution = 32.0, .isa = orr_isa_best()};
        orr_field_model model = {.size = 1.0};
        orr_bytes bytes = {0};
        char path[4096];
        snprintf(path, sizeof path, "%s/seed.msgpack", root);
        if (orr_field_config_base((orr_field_kind)kind, &desc.config, &error) != ORR_OK ||
            orr_field_config_parse(kind == ORR_FIELD_NERF ? coloured : plain, "seed", &desc.config, &error) !=
                ORR_OK ||
            orr_field_create(&desc, &model.field, &error) != ORR_OK ||
            orr_field_model_save(&model, path, &error) != ORR_OK ||
            orr_file_read(path, &bytes, &error) != ORR_OK) {
            stop("a model could not be written");
        }
        put_seed("ingp", names[kind], bytes);
        remove(path);
        orr_field_config_free(&desc.config);
        orr_field_destroy(model.field);
    }
}

// for both readers of .npy files
static void put_arrays(void)
{
    static const char *const targets[] = {"density", "npy"};
    static const char *const kinds[] = {"<f4", "<f8"};
    double values[24];
    for (int i = 0; i < 24; i++) {
        values[i] = i * 0.5;
    }
    for (int i = 0; i < 4; i++) {
        char *array = orr_alloc(512, 1);
        if (!array) {
            stop("out of memory");
        }
        int length = snprintf(
            array + 10, 256, "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3, 4), }\n", kinds[i % 2]);
        memcpy(array, "\x93NUMPY\x01", 8);
        array[8] = (char)length, array[9] = 0;
        size_t bytes =
            (size_t)(i % 2 ? 8 : 4) * 24; // floats: half of the bytes of the doubles, other numbers
        memcpy(array + 10 + length, values, bytes);
        put_seed(targets[i / 2], kinds[i % 2] + 1,
                 (orr_bytes){(uint8_t *)array, 10 + (size_t)length + bytes});
    }
}

static void put_pictures(void)
{
    char path[4096];
    picture_sample samples[PICTURE_SAMPLES_MAX];
    snprintf(path, sizeof path, "%s/seed.exr", root);
    int pictures = picture_samples_make(samples, path);
    for (int i = 0; i < pictures; i++) {
        put_seed(samples[i].format, samples[i].name, (orr_bytes){samples[i].data, samples[i].size});
        samples[i].data = NULL; // put_seed has freed it
    }
    picture_samples_free(samples, pictures);
}

// A triangle in the container of glTF.
static void put_glb(void)
{
    enum { JSON = 0x4e4f534a, BINARY = 0x004e4942 };
    static const char json[] =
        "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{"
        "\"attributes\":"
        "{\"POSITION\":0},\"indices\":1}]}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,"
        "\"count\":3,"
        "\"type\":\"VEC3\"},{\"bufferView\":1,\"componentType\":5121,\"count\":3,\"type\":\"SCALAR\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},{\"buffer\":0,\"byteOffset\":36,\"byteLength\":4}]"
        ","
        "\"buffers\":[{\"byteLength\":40}]}";
    const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const uint8_t indices[4] = {0, 1, 2, 0};
    uint32_t length = sizeof json - 1, padded = (length + 3) / 4 * 4, size = 12 + 8 + padded + 8 + 40;
    const uint32_t head[5] = {0x46546c67, 2, size, padded, JSON}, second[2] = {40, BINARY};
    uint8_t *file = orr_alloc(size, 1);
    if (file) {
        memset(file, ' ', size);
        memcpy(file, head, sizeof head);
        memcpy(file + 20, json, length);
        memcpy(file + 20 + padded, second, sizeof second);
        memcpy(file + 28 + padded, positions, sizeof positions);
        memcpy(file + 64 + padded, indices, sizeof indices);
    }
    put_seed("glb", "triangle", (orr_bytes){file, size});
}

static void put_stl(void)
{
    enum { FACETS = 3, SIZE = 84 + 50 * FACETS };
    uint8_t *file = orr_alloc_zero(SIZE, 1);
    const uint32_t count = FACETS;
    const float facet[12] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
    for (int i = 0; file && i < FACETS; i++) {
        memcpy(file, "COLOR=", 6);
        memcpy(file + 80, &count, 4);
        memcpy(file + 84 + 50 * i, facet, sizeof facet);
        file[84 + 50 * i + 49] = (uint8_t)(i << 7);
    }
    put_seed("stl", "binary", (orr_bytes){file, SIZE});
}

// ---- Gmsh: a tetrahedron in both formats, as text and binary

typedef struct gmsh_file {
    uint8_t data[1024];
    size_t size;
    bool binary;
} gmsh_file;

static void put_line(gmsh_file *file, const char *line)
{
    file->size +=
        (size_t)snprintf((char *)file->data + file->size, sizeof file->data - file->size, "%s\n", line);
}

// Whole numbers of `bytes` each, or a line of them.
static void put_whole(gmsh_file *file, size_t bytes, int count, const int64_t *values)
{
    for (int i = 0; i < count && file->binary; i++) { // little endian: the low bytes are the first
        memcpy(file->data + file->size, &values[i], bytes);
        file->size += bytes;
    }
    for (int i = 0; i < count && !file->binary; i++) {
        file->size += (size_t)snprintf((char *)file->data + file->size, sizeof file->data - file->size,
                                       "%d%c", (int)values[i], i + 1 < count ? ' ' : '\n');
    }
}

static void put_point(gmsh_file *file, int point)
{
    const double at[3] = {point == 1, point == 2, point == 3};
    char line[64];
    if (file->binary) {
        memcpy(file->data + file->size, at, sizeof at);
        file->size += sizeof at;
    } else {
        snprintf(line, sizeof line, "%g %g %g", at[0], at[1], at[2]);
        put_line(file, line);
    }
}

static void put_gmsh_22(gmsh_file *file)
{
    put_line(file, "$Nodes\n4");
    for (int i = 0; i < 4; i++) {
        put_whole(file, 4, 1, (const int64_t[]){i + 1});
        put_point(file, i);
    }
    put_line(file, "$EndNodes\n$Elements\n1");
    if (file->binary) {
        put_whole(file, 4, 10, (const int64_t[]){4, 1, 2, 1, 0, 1, 1, 2, 3, 4});
    } else {
        put_whole(file, 4, 9, (const int64_t[]){1, 4, 2, 0, 1, 1, 2, 3, 4});
    }
}

static void put_gmsh_41(gmsh_file *file)
{
    static const int64_t nodes[] = {1, 4, 1, 4}, elements[] = {1, 1, 1, 1}, element[] = {1, 1, 2, 3, 4};
    put_line(file, "$Nodes");
    put_whole(file, 8, 4, nodes);
    put_whole(file, 4, 3, (const int64_t[]){3, 1, 0});
    put_whole(file, 8, 1, (const int64_t[]){4});
    put_whole(file, 8, 4, (const int64_t[]){1, 2, 3, 4});
    for (int i = 0; i < 4; i++) {
        put_point(file, i);
    }
    put_line(file, "$EndNodes\n$Elements");
    put_whole(file, 8, 4, elements);
    put_whole(file, 4, 3, (const int64_t[]){3, 1, 4});
    put_whole(file, 8, 1, (const int64_t[]){1});
    put_whole(file, 8, 5, element);
}

static void put_gmsh(void)
{
    for (int kind = 0; kind < 4; kind++) {
        gmsh_file *file = orr_alloc_zero(1, sizeof *file);
        char line[64], name[64];
        if (!file) {
            stop("out of memory");
        }
        file->binary = kind % 2 != 0;
        snprintf(line, sizeof line, "$MeshFormat\n%s %d 8", kind < 2 ? "2.2" : "4.1", kind % 2);
        put_line(file, line);
        if (file->binary) {
            put_whole(file, 4, 1, (const int64_t[]){1});
        }
        put_line(file, "$EndMeshFormat");
        if (kind < 2) {
            put_gmsh_22(file);
        } else {
            put_gmsh_41(file);
        }
        put_line(file, "$EndElements");
        snprintf(name, sizeof name, "tetrahedron%d", kind);
        uint8_t *data = orr_alloc(file->size, 1); // put_seed frees it
        if (data) {
            memcpy(data, file->data, file->size);
        }
        put_seed("gmsh", name, (orr_bytes){data, file->size});
        orr_free(file);
    }
}

// Two triangles, in both orders of bytes.
static void put_mesh_ply(void)
{
    for (int big = 0; big < 2; big++) {
        char *file = orr_alloc_zero(512, 1);
        if (!file) {
            stop("out of memory");
        }
        int length = snprintf(file, 256,
                              "ply\nformat binary_%s_endian 1.0\nelement vertex 3\nproperty short x\n"
                              "property short y\nproperty short z\nelement face 2\n"
                              "property list uchar ushort vertex_index\nend_header\n",
                              big ? "big" : "little");
        static const uint8_t values[] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0,
                                         0, 0, 3, 0, 0, 1, 0, 2, 0, 3, 0, 0, 1, 0, 2, 0};
        memcpy(file + length, values, sizeof values);
        for (int i = 19; big && i < 32; i += i == 23 ? 3 : 2) { // indices
            char swap = file[length + i];
            file[length + i] = file[length + i + 1];
            file[length + i + 1] = swap;
        }
        put_seed("mesh_ply", big ? "big" : "little",
                 (orr_bytes){(uint8_t *)file, (size_t)length + sizeof values});
    }
}

int main(int count, char **arguments)
{
    if (count != 2) {
        stop("usage: make_corpus FOLDER");
    }
    root = arguments[1];
    mkdir(root, 0777);
    put_written("ply", ".ply", 3);
    put_text_ply();
    put_collider();
    put_splat_state();
    put_written("compressed_ply", ".compressed.ply", 3);
    put_written("splat", ".splat", 0);
    put_written("spz", ".spz", 3);
    put_written("spz", ".v3.spz", 1);
    for (int version = 1; version <= 3; version++) {
        char name[64];
        snprintf(name, sizeof name, "version%d", version);
        put_seed("spz", name, sample_spz(version, 3, 4 - version));
    }
    for (int mode = 0; mode < 3; mode++) {
        char name[64];
        orr_splats *cloud = sample_cloud(22, mode, 1);
        orr_splats_view d = orr_splats_data(cloud);
        snprintf(name, sizeof name, "mode%d", mode);
        put_seed("ksplat", name, sample_ksplat(&d, mode));
        orr_splats_destroy(cloud);
    }
    put_sog();
    put_models();
    put_arrays();
    put_pictures();
    put_glb();
    put_stl();
    put_mesh_ply();
    put_gmsh();
    return 0;
}
