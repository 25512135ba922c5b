// Tests of the orrery program as a user meets it: arguments in, exit code, lines and files out.
#define _GNU_SOURCE
#include "assets/clouds.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "orr_features.h"
#include "render/formats/splat_formats.h"
#include "render/mesh.h"
#include "tests/support/run_program.h"
#include "tests/support/scenes/lit_cloud.h"
#include "tests/support/support.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLOUD_COUNT = 3000 };

// files of this run, made once; scratch_path's strings do not last
static char folder[128];
static char cloud[160], walker[512];

static const char *in_folder(const char *name)
{
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int files_in(const char *path)
{
    DIR *opened = opendir(path);
    assert_non_null(opened);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(opened));) {
        count += entry->d_name[0] != '.';
        count += strstr(entry->d_name, ".orr-tmp-") != NULL; // hidden while it is written
    }
    closedir(opened);
    return count;
}

// Of the files in a folder, hidden ones too.
static int64_t bytes_in(const char *path)
{
    DIR *opened = opendir(path);
    assert_non_null(opened);
    int64_t bytes = 0;
    for (struct dirent *entry; (entry = readdir(opened));) {
        struct stat status;
        if (fstatat(dirfd(opened), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode)) {
            bytes += status.st_size;
        }
    }
    closedir(opened);
    return bytes;
}

typedef struct npy_picture {
    int height, width, channels;
    float *values;
    orr_bytes bytes;
} npy_picture;

// read by the format's description, not by our writer
static npy_picture read_npy(const char *path)
{
    npy_picture npy = {.channels = 1};
    assert_ok(orr_file_read(path, &npy.bytes, &error));
    assert_memory_equal(npy.bytes.data, "\x93NUMPY\x01\x00", 8);
    size_t header = 10 + (size_t)npy.bytes.data[8] + 256 * (size_t)npy.bytes.data[9];
    const char *text = (const char *)npy.bytes.data + 10;
    assert_non_null(strstr(text, "'descr': '<f4'"));
    assert_non_null(strstr(text, "'fortran_order': False"));
    assert_true(sscanf(strstr(text, "'shape'"), "'shape': (%d, %d, %d)", &npy.height, &npy.width,
                       &npy.channels) >= 2);
    assert_int_equal(npy.bytes.size,
                     header + sizeof(float) * (size_t)(npy.height * npy.width * npy.channels));
    npy.values = (float *)(npy.bytes.data + header);
    return npy;
}

// ---- the command line ----

static void help_lists_what_exists(void **state)
{
    (void)state;
    static const char *const names[] = {"render", "bench", "convert", "info", "devices"};
    run_result all = orrery("--help");
    assert_int_equal(all.exit_code, 0);
    assert_int_equal(all.error_lines, 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_non_null(strstr(all.output, names[i]));
        run_result one = orrery(names[i], "--help");
        assert_int_equal(one.exit_code, 0);
        assert_non_null(strstr(one.output, names[i]));
        assert_non_null(strstr(one.output, "--threads"));
        run_result_free(&one);
    }
    run_result_free(&all);
}

static void assert_lines_fit(const char *text)
{
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        if (length > 100) {
            fail_msg("%.*s: %zu columns, expected at most 100", (int)length, line, length);
        }
        line += length + (line[length] == '\n');
    }
}

static void help_fits_a_terminal(void **state)
{
    (void)state;
    static const char *const names[] = {
#if ORR_HAVE_WINDOW
        "view",
#endif
        "render",
        "sim",
        "bench",
        "capture",
        "train",
        "insert",
        "convert",
        "info",
        "devices"
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        run_result one = orrery(names[i], "--help");
        assert_lines_fit(one.output);
        run_result_free(&one);
    }
    run_result all = orrery("--help"), policy = orrery("train", "policy", "--help");
    assert_lines_fit(all.output);
    assert_lines_fit(policy.output);
    // the text begins in the next line where the option leaves no room for it
    run_result render = orrery("render", "--help");
    assert_non_null(strstr(render.output, "FILE.policy\n                             controls of"));
    run_result_free(&render);
    run_result_free(&policy);
    run_result_free(&all);
}

static void help_lists_the_common_options_that_a_command_uses(void **state)
{
    (void)state;
    static const struct {
        const char *command, *options; // spaces around each
    } cases[] = {
#if ORR_HAVE_WINDOW
        {"view", " --device --threads --seed --size "},
#endif
        {"render", " --device --threads --seed --size --json "},
        {"sim", " --device --threads --json "},
        {"train", " --device --threads --seed --json "},
        {"bench", " --device --threads --size --json "},
        {"convert", " --threads --json "},
        {"info", " --threads --size --json "},
        {"devices", " --device --threads --json "},
    };
    static const char *const common[] = {" --device ", " --threads ", " --seed ", " --size ", " --json "};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_result help = orrery(cases[i].command, "--help");
        for (size_t k = 0; k < sizeof common / sizeof common[0]; k++) {
            char line[16];
            snprintf(line, sizeof line, "\n %s", common[k]);
            bool listed = strstr(help.output, line) != NULL;
            bool used = strstr(cases[i].options, common[k]) != NULL;
            if (listed != used) {
                fail_msg("orrery %s --help: %s is %s", cases[i].command, common[k],
                         listed ? "listed" : "missing");
            }
        }
        run_result_free(&help);
    }
}

static void wrong_command_lines_end_with_one_line_and_code_2(void **state)
{
    (void)state;
    static const struct {
        const char *arguments[10];
        const char *text;
    } cases[] = {
        {{"rendr"}, "rendr"},
        {{"render"}, "operand missing"},
        {{"render", cloud}, "-o OUT"},
        {{"render", cloud, cloud, "-o", "a.png"}, "one operand too many"},
        {{"render", cloud, "-o"}, "value missing"},
        {{"render", cloud, "-o", "a.jpg"}, "a.jpg"},
        {{"render", cloud, "-o", "a%s.png"}, "%0Nd"},
        {{"render", cloud, "-o", "a%d%d.png", "--orbit", "2"}, "%0Nd"},
        {{"render", cloud, "-o", "a.png", "--orbit", "2"}, "%04d"},
        {{"render", cloud, "-o", "a.png", "--orbit", "0"}, "--orbit"},
        {{"render", cloud, "-o", "a.png", "--size", "640"}, "WIDTHxHEIGHT"},
        {{"render", cloud, "-o", "a.png", "--size", "640x0"}, "WIDTHxHEIGHT"},
        {{"render", cloud, "-o", "a.png", "--size=99999x2"}, "WIDTHxHEIGHT"},
        {{"render", cloud, "-o", "a.png", "--background", "1,1"}, "R,G,B"},
        {{"render", cloud, "-o", "a.png", "--background", "1,nan,0"}, "R,G,B"},
        {{"render", cloud, "-o", "a.png", "--threads", "-1"}, "--threads"},
        {{"render", cloud, "-o", "a.png", "--threads", "2x"}, "--threads"},
        {{"render", cloud, "-o", "a.png", "--seed", "-1"}, "--seed"},
        {{"render", cloud, "-o", "a.png", "--seed", "99999999999999999999"}, "--seed"},
        {{"render", cloud, "-o", "a.png", "--physics", "vulkan", "--frames", "1"}, "auto, cpu or cuda"},
        {{"render", cloud, "-o", "a.png", "--device", "toaster"}, "auto|cpu|vulkan"},
        {{"render", cloud, "-o", "a.png", "--json=yes"}, "no value"},
        {{"render", cloud, "-o", "a.png", "--smooth", "2"}, "--cameras"},
        {{"render", cloud, "-o", "a.png", "--camera", "0"}, "--camera 0"},
        {{"render", cloud, "-o", "a.png", "--depth", "d.png"}, "d.png"},
        {{"render", cloud, "-o", "a.png", "--normals", "n.png"}, "n.png"},
        {{"render", cloud, "-o", "a.png", "--flow", "f.npy"}, "--flow"},
        {{"render", cloud, "-o", "a.mp4", "--orbit", "2", "--continue"}, "numbered pictures"},
        {{"render", cloud, "-o", "a%d.npy", "--flow", "f%d.npy", "--continue"}, "--flow"},
        {{"render", cloud, "-o", "a%d.png", "--orbit", "2", "--flow", "f%d.png"}, "f%d.png"},
        {{"render", cloud, "-o", "a.png", "--frobnicate"}, "--frobnicate"},
        {{"render", cloud, "-o", "no/such/folder/a.png"}, "no/such/folder/a.png"},
        {{"render", cloud, "-o", "no/such/folder/a.npy"}, "no/such/folder/a.npy"},
        {{"convert", cloud, "a.obj"}, "a.obj"},
        {{"convert", cloud, "no/such/folder/a.ply"}, "no/such/folder/a.ply"},
        {{"convert", "a.glb", "a.spz"}, "a.spz: a.glb is a mesh: expected"},
        {{"convert", "a.glb", "a.ply"}, "a.glb"},
        {{"convert", "a.glb", "a.ply", "--region", "0,0,0,1,1,1"}, "expected a cloud"},
        {{"info"}, "operand missing"},
        {{"devices", "x"}, "one operand too many"},
    };
    assert_int_equal(chdir(folder), 0);
    int before = files_in(folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_result result = run_orrery(cases[i].arguments);
        assert_refused(&result, 2, cases[i].text);
    }
    assert_int_equal(files_in(folder), before);
    run_result bare = run_orrery((const char *const[]){NULL});
    assert_refused(&bare, 2, "--help");
}

static void broken_files_end_with_one_line_that_names_them(void **state)
{
    (void)state;
    orr_bytes whole;
    assert_ok(orr_file_read(cloud, &whole, &error));
    static const char *const names[] = {"cut.ply",    "noise.spz", "empty.splat",  "noise.compressed.ply",
                                        "noise.json", "noise.sog", "noise.ksplat", "missing.ply"};
    char paths[8][256];
    for (int i = 0; i < 8; i++) {
        snprintf(paths[i], sizeof paths[i], "%s", in_folder(names[i]));
    }
    assert_ok(orr_file_write(paths[0], whole.data, whole.size - 1, &error));
    for (int i = 1; i < 7; i++) {
        assert_ok(orr_file_write(paths[i], whole.data + whole.size / 2, i == 2 ? 7 : 999, &error));
    }
    orr_free(whole.data);
    int before = files_in(folder);
    for (int i = 0; i < 8; i++) {
        run_result info = orrery("info", paths[i]);
        assert_refused(&info, 2, paths[i]);
        run_result render = orrery("render", paths[i], "-o", in_folder("broken.png"));
        assert_refused(&render, 2, paths[i]);
        run_result cameras = orrery("render", cloud, "-o", in_folder("broken_%d.png"), "--cameras", paths[i]);
        assert_refused(&cameras, 2, paths[i]);
        run_result convert = orrery("convert", paths[i], in_folder("broken.spz"));
        assert_refused(&convert, 2, paths[i]);
    }
    assert_int_equal(files_in(folder), before);
    // the good file beside a broken one is still described
    run_result both = orrery("info", paths[0], cloud);
    assert_int_equal(both.exit_code, 2);
    assert_int_equal(both.error_lines, 1);
    assert_non_null(strstr(both.output, "3000 splats"));
    run_result_free(&both);
}

// ---- info, convert, devices ----

static void info_counts_what_is_in_a_cloud(void **state)
{
    (void)state;
    run_result result = orrery("info", "--json", cloud);
    cJSON *json = take_json(&result);
    const cJSON *file = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "files"), 0);
    assert_text_at(file, "file", cloud);
    assert_text_at(file, "kind", "splats");
    assert_int_equal(number_at(file, "count"), CLOUD_COUNT);
    assert_int_equal(number_at(file, "sh_degree"), 1);
    static const char *const histograms[] = {"log10_scale", "opacity"};
    for (int i = 0; i < 2; i++) {
        const cJSON *bin;
        double sum = 0.0;
        cJSON_ArrayForEach(bin, cJSON_GetObjectItem(cJSON_GetObjectItem(file, histograms[i]), "counts"))
        {
            sum += bin->valuedouble;
        }
        assert_int_equal(sum, CLOUD_COUNT);
    }
    // the ball of radius 1, to the outermost of 3000 splats
    const cJSON *bounds = cJSON_GetObjectItem(file, "bounds");
    for (int i = 0; i < 3; i++) {
        double low = cJSON_GetArrayItem(cJSON_GetObjectItem(bounds, "low"), i)->valuedouble;
        double high = cJSON_GetArrayItem(cJSON_GetObjectItem(bounds, "high"), i)->valuedouble;
        assert_true(low >= -1.0 && low < -0.9 && high > 0.9 && high <= 1.0);
    }
    cJSON_Delete(json);
    run_result text = orrery("info", cloud);
    assert_non_null(strstr(text.output, "3000 splats, SH degree 1"));
    assert_non_null(strstr(text.output, "####"));
    assert_done(&text);
}

static const char cameras_text[] = "{\"camera_angle_x\": 0.9, \"w\": 48, \"h\": 32, \"frames\": ["
                                   "{\"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,4],[0,0,0,1]]},"
                                   "{\"transform_matrix\": [[1,0,0,1],[0,1,0,0],[0,0,1,4],[0,0,0,1]]},"
                                   "{\"transform_matrix\": [[1,0,0,1],[0,1,0,1],[0,0,1,4],[0,0,0,1]]}]}";

static const char *write_text(const char *name, const char *text)
{
    const char *path = in_folder(name);
    assert_ok(orr_file_write(path, text, strlen(text), &error));
    return path;
}

static void info_tells_cameras_from_scenes(void **state)
{
    (void)state;
    char cameras[256], scene[256];
    snprintf(cameras, sizeof cameras, "%s", write_text("transforms.json", cameras_text));
    snprintf(scene, sizeof scene, "%s",
             write_text("scene.json",
                        "{\"orrery\": 1, \"layers\": [{\"file\": \"cloud.ply\", \"name\": \"ball\"},"
                        "{\"file\": \"cloud.ply\", \"scale\": 2}]}"));
    run_result result = orrery("info", cameras, scene, "--json");
    cJSON *json = take_json(&result);
    const cJSON *files = cJSON_GetObjectItem(json, "files");
    const cJSON *first = cJSON_GetArrayItem(files, 0), *second = cJSON_GetArrayItem(files, 1);
    assert_text_at(first, "kind", "cameras");
    assert_int_equal(number_at(first, "count"), 3);
    assert_int_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(first, "size"), 0)->valueint, 48);
    assert_text_at(second, "kind", "scene");
    const cJSON *layers = cJSON_GetObjectItem(second, "layers");
    assert_int_equal(cJSON_GetArraySize(layers), 2);
    assert_text_at(cJSON_GetArrayItem(layers, 0), "name", "ball");
    assert_int_equal(number_at(cJSON_GetArrayItem(layers, 1), "count"), CLOUD_COUNT);
    assert_true(number_at(cJSON_GetArrayItem(layers, 1), "scale") == 2.0);
    cJSON_Delete(json);
    run_result text = orrery("info", cameras, scene);
    assert_non_null(strstr(text.output, "3 cameras, the first 48 x 32"));
    assert_non_null(strstr(text.output, "scene, 2 layers, 0 cameras"));
    assert_done(&text);
}

static void info_finds_the_sun_of_a_cloud(void **state)
{
    (void)state;
    lit_cloud_desc desc = {.strength = 2.0, .noise = 0.2};
    lit_cloud_aim(&desc, 20.0, 30.0);
    orr_splats *splats = lit_cloud(&desc);
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("lit.ply"));
    assert_ok(orr_splats_save(splats, path, &error));
    orr_splats_destroy(splats);
    run_result result = orrery("info", "--sun", path, cloud, "--json");
    cJSON *json = take_json(&result);
    const cJSON *files = cJSON_GetObjectItem(json, "files");
    const cJSON *sun = cJSON_GetObjectItem(cJSON_GetArrayItem(files, 0), "sun");
    double cosine = 0.0;
    for (int k = 0; k < 3; k++) {
        cosine += desc.sun[k] * cJSON_GetArrayItem(cJSON_GetObjectItem(sun, "direction"), k)->valuedouble;
    }
    assert_true(cosine > 0.9986); // 3 degrees, as in test_sun
    assert_true(number_at(sun, "explained") > 0.5);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetArrayItem(files, 1), "sun")));
    cJSON_Delete(json);
    run_result text = orrery("info", "--sun", path);
    assert_non_null(strstr(text.output, "  sun          towards 0.8"));
    assert_done(&text);
    const char *robot = write_text("no_cloud.xml", "<mujoco/>");
    run_result refused = orrery("info", "--sun", robot);
    assert_refused(&refused, 2, robot);
}

static void info_counts_what_is_in_a_mesh(void **state)
{
    (void)state;
    const char *path = write_text("square.obj", "v 0 0 0\nv 2 0 0\nv 2 3 0\nv 0 3 0\nf 1 2 3 4\n");
    run_result result = orrery("info", path, "--json");
    cJSON *json = take_json(&result);
    const cJSON *file = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "files"), 0);
    assert_text_at(file, "kind", "mesh");
    assert_int_equal(number_at(file, "triangles"), 2);
    cJSON_Delete(json);
    run_result text = orrery("info", path);
    assert_non_null(strstr(text.output, "x 0 .. 2, y 0 .. 3, z 0 .. 0"));
    assert_done(&text);
}

static void convert_writes_every_format_it_reads_back(void **state)
{
    (void)state;
    static const char *const names[] = {"a.spz", "b.v3.spz", "c.compressed.ply", "d.splat", "e.ply"};
    char from[256], to[256];
    snprintf(from, sizeof from, "%s", cloud);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(to, sizeof to, "%s", in_folder(names[i]));
        run_result result = orrery("convert", from, to, "--json");
        cJSON *json = take_json(&result);
        assert_text_at(json, "file", to);
        assert_int_equal(number_at(json, "splats"), CLOUD_COUNT);
        cJSON_Delete(json);
        snprintf(from, sizeof from, "%s", to);
    }
    run_result info = orrery("info", to);                             // the fifth in the chain
    assert_non_null(strstr(info.output, "3000 splats, SH degree 0")); // .splat has no more
    assert_done(&info);
}

static void mesh_is_two_triangles(const char *path)
{
    orr_mesh *mesh;
    assert_ok(orr_mesh_load(path, &mesh, &error));
    assert_int_equal(mesh->index_count, 6);
    static const float corners[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}, {1, 0, 3}, {0, 2, 3}};
    static const uint8_t colours[2][3] = {{255, 188, 0}, {137, 255, 99}}; // linear 1, 0.5, 0; 0.25, 1, 0.125
    for (int i = 0; i < 6; i++) {
        const orr_mesh_vertex *v = &mesh->vertices[mesh->indices[i]];
        for (int k = 0; k < 3; k++) {
            assert_true(v->position[k] == corners[i][k]);
            assert_true(abs(v->colour[k] - colours[i / 3][k]) <= 1);
        }
        assert_true(v->normal[2] > 0.999f);
    }
    for (int i = 0; i < mesh->part_count; i++) { // colours are at the vertices alone
        assert_true(mesh->materials[mesh->parts[i].material].base_colour[0] == 1.0f);
    }
    orr_mesh_destroy(mesh);
}

static void convert_writes_meshes(void **state)
{
    (void)state;
    static const char obj[] = "mtllib two.mtl\nv 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nv 1 0 3\nv 0 2 3\n"
                              "usemtl a\nf 1 2 3\nusemtl b\nf 4 5 6\n",
                      mtl[] = "newmtl a\nKd 1 0.5 0\nnewmtl b\nKd 0.25 1 0.125\n";
    char from[256], to[256];
    snprintf(from, sizeof from, "%s", in_folder("two.obj"));
    assert_ok(orr_file_write(from, obj, sizeof obj - 1, &error));
    assert_ok(orr_file_write(in_folder("two.mtl"), mtl, sizeof mtl - 1, &error));
    static const char *const names[] = {"two.glb", "two.ply", "again.obj", "last.glb"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(to, sizeof to, "%s", in_folder(names[i]));
        run_result result = orrery("convert", from, to, "--json");
        cJSON *json = take_json(&result);
        assert_text_at(json, "file", to);
        assert_int_equal(number_at(json, "triangles"), 2);
        cJSON_Delete(json);
        mesh_is_two_triangles(to);
        snprintf(from, sizeof from, "%s", to);
    }
}

static void convert_cuts_a_cloud_in_two(void **state)
{
    (void)state;
    double count[2];
    for (int outside = 0; outside < 2; outside++) {
        char to[256];
        snprintf(to, sizeof to, "%s", in_folder(outside ? "outside.ply" : "inside.ply"));
        run_result result =
            outside ? orrery("convert", cloud, to, "--region", "0,0,0,1,1,1", "--outside", "--json")
                    : orrery("convert", cloud, to, "--region", "0,0,0,1,1,1", "--json");
        cJSON *json = take_json(&result);
        count[outside] = number_at(json, "splats");
        cJSON_Delete(json);
        orr_splats *part;
        assert_ok(orr_splats_load(to, &part, &error));
        const orr_splats_view view = orr_splats_data(part);
        for (int64_t i = 0; i < view.count; i++) {
            const float *p = view.position + 3 * i;
            const bool in = fabsf(p[0]) < 0.5f && fabsf(p[1]) < 0.5f && fabsf(p[2]) < 0.5f;
            assert_true(in == !outside);
        }
        orr_splats_destroy(part);
    }
    assert_true(count[0] > 100.0 && count[0] + count[1] == CLOUD_COUNT);
    run_result far = orrery("convert", cloud, in_folder("far.ply"), "--region", "9,9,9,1,1,1");
    assert_refused(&far, 2, "region: expected a box with a splat in it");
    run_result flat = orrery("convert", cloud, in_folder("far.ply"), "--region", "9,9,9,1,1,0");
    assert_refused(&flat, 2, "--region 9,9,9,1,1,0: expected X,Y,Z,LX,LY,LZ");
    run_result alone = orrery("convert", cloud, in_folder("far.ply"), "--outside");
    assert_refused(&alone, 2, "expected --region");
}

static void broken_splats_and_losses_are_named_in_one_line(void **state)
{
    (void)state;
    char broken[256], other[256];
    snprintf(broken, sizeof broken, "%s", in_folder("one_broken.ply"));
    snprintf(other, sizeof other, "%s", in_folder("lossy.splat"));
    orr_splats *splats;
    assert_ok(orr_splats_load(cloud, &splats, &error));
    orr_splats_view view = orr_splats_data(splats);
    view.position[3 * 17] = NAN;
    orr_file_writer out; // orr_splats_save refuses broken splats
    assert_ok(orr_file_begin(&out, broken, &error));
    assert_ok(orr_write_ply(splats, &out, &error));
    assert_ok(orr_file_commit(&out, &error));
    orr_splats_destroy(splats);
    const char *line = "1 of 3000 splats are left out, the first is splat 17, whose position is not valid";
    run_result info = orrery("info", broken);
    assert_non_null(strstr(info.output, "2999 splats"));
    assert_non_null(strstr(info.output, line));
    assert_done(&info);
    run_result described = orrery("info", broken, "--json");
    cJSON *json = take_json(&described);
    assert_int_equal(number_at(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "files"), 0), "dropped"), 1);
    cJSON_Delete(json);
    run_result render =
        orrery("render", broken, "-o", in_folder("one_broken.png"), "--size", "32x32", "--device", "cpu");
    assert_non_null(strstr(render.errors, "warning"));
    assert_non_null(strstr(render.errors, line));
    assert_done(&render);
    run_result convert = orrery("convert", broken, other);
    assert_non_null(strstr(convert.errors, line));
    assert_non_null(
        strstr(convert.errors, "lossy.splat: lossy: rounded: colours, opacities and rotations to 8 bits"));
    assert_non_null(strstr(convert.errors, "; dropped: SH above degree 0\n"));
    assert_done(&convert);
    run_result exact = orrery("convert", cloud, in_folder("exact.ply"));
    assert_null(strstr(exact.errors, "lossy"));
    assert_done(&exact);
}

static void devices_are_listed(void **state)
{
    (void)state;
    // lavapipe leaves a little behind when the loader unloads it, and then has no name that could be
    // suppressed
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    run_result result = orrery("devices", "--json", "--threads", "3", "--device", "cpu");
    cJSON *json = take_json(&result);
    const cJSON *cpu = cJSON_GetObjectItem(json, "cpu");
    assert_int_equal(number_at(cpu, "threads"), 3);
    assert_true(number_at(cpu, "lanes") >= 4.0);
    assert_true(cJSON_IsArray(cJSON_GetObjectItem(json, "vulkan")));
    cJSON_Delete(json);
    run_result text = orrery("devices");
    assert_non_null(strstr(text.output, "CPU"));
    assert_done(&text);
    unsetenv("ASAN_OPTIONS");
}

// ---- render ----

static void render_writes_the_same_picture_in_every_kind(void **state)
{
    (void)state;
    char npy_path[256], png_path[256];
    snprintf(npy_path, sizeof npy_path, "%s", in_folder("still.npy"));
    snprintf(png_path, sizeof png_path, "%s", in_folder("still.png"));
    run_result npy_run = orrery("render", cloud, "-o", npy_path, "--size", "61x37", "--depth",
                                in_folder("still_depth.npy"), "--json");
    cJSON *json = take_json(&npy_run);
    assert_int_equal(number_at(json, "frames"), 1);
    assert_int_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "size"), 0)->valueint, 61);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "files"), 0)),
                        npy_path);
    cJSON_Delete(json);
    run_result png_run = orrery("render", cloud, "-o", png_path, "--size", "61x37");
    assert_done(&png_run);

    npy_picture npy = read_npy(npy_path), depth = read_npy(in_folder("still_depth.npy"));
    assert_int_equal(npy.height, 37);
    assert_int_equal(npy.width, 61);
    assert_int_equal(npy.channels, 4);
    assert_int_equal(depth.height, 37);
    assert_int_equal(depth.width, 61);
    assert_int_equal(depth.channels, 1);
    orr_image8 png;
    assert_ok(orr_image8_load(png_path, &png, &error));
    int covered = 0;
    for (int i = 0; i < 61 * 37; i++) {
        for (int c = 0; c < 3; c++) {
            float value = fminf(fmaxf(npy.values[4 * i + c], 0.0f), 1.0f);
            assert_int_equal(png.rgba[4 * i + c], (int)floorf(255.0f * value + 0.5f));
        }
        assert_int_equal(png.rgba[4 * i + 3], 255);
        float alpha = npy.values[4 * i + 3];
        covered += alpha > 0.5f;
        assert_true(alpha > 0.0f ? depth.values[i] > 0.0f : depth.values[i] == 0.0f);
    }
    assert_true(covered > 200); // the ball is in the picture
    orr_image8_free(&png);
    orr_free(npy.bytes.data);
    orr_free(depth.bytes.data);
}

// A turn around the ball in four pictures: its normals are unit, and its points move from the second picture
// on.
static void render_writes_normals_and_flow(void **state)
{
    (void)state;
    char normals_path[256], flow_path[256], names_path[256], name[32];
    snprintf(names_path, sizeof names_path, "%s", in_folder("turn_names%d.npy"));
    snprintf(normals_path, sizeof normals_path, "%s", in_folder("turn_normals%d.npy"));
    snprintf(flow_path, sizeof flow_path, "%s", in_folder("turn_flow%d.npy"));
    run_result run = orrery("render", cloud, "-o", in_folder("wide.png"), "--size", "4097x1", "--normals",
                            in_folder("wide.npy"));
    assert_refused(&run, 2, "pictures of normals, flow and segmentation: eyes: 4097 x 1 pixels");
    run = orrery("render", cloud, "-o", in_folder("turn%d.npy"), "--size", "61x37", "--orbit", "4",
                 "--normals", normals_path, "--flow", flow_path, "--segmentation", names_path, "--json");
    cJSON *json = take_json(&run);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "normals_files")), 4);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "flow_files")), 4);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "segmentation_files")), 4);
    cJSON_Delete(json);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "turn_normals%d.npy", i);
        npy_picture normals = read_npy(in_folder(name));
        snprintf(name, sizeof name, "turn_flow%d.npy", i);
        npy_picture flow = read_npy(in_folder(name));
        assert_true(normals.width == 61 && normals.height == 37 && normals.channels == 3);
        assert_true(flow.width == 61 && flow.height == 37 && flow.channels == 2);
        snprintf(name, sizeof name, "turn_names%d.npy", i);
        npy_picture names = read_npy(in_folder(name));
        assert_true(names.width == 61 && names.height == 37 && names.channels == 2);
        int seen = 0, moved = 0, named = 0;
        for (int p = 0; p < 61 * 37; p++) {
            const float *n = normals.values + 3 * p, *f = flow.values + 2 * p;
            const float square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
            assert_true(square == 0.0f || fabsf(square - 1.0f) < 1e-5f);
            const float *layer = names.values + 2 * p; // the only one, which is no robot
            assert_true((layer[0] == 0.0f || (layer[0] == -1.0f && square == 0.0f)) && layer[1] == -1.0f);
            named += layer[0] == 0.0f;
            seen += square > 0.0f;
            moved += f[0] != 0.0f || f[1] != 0.0f;
        }
        assert_true(seen > 200 && (i == 0 ? moved == 0 : moved > 200));
        assert_true(named >= seen && named < 61 * 37);
        orr_free(normals.bytes.data);
        orr_free(flow.bytes.data);
        orr_free(names.bytes.data);
    }
}

static void hello_splats_draws_what_orrery_draws(void **state)
{
    (void)state;
    char ppm_path[256], png_path[256];
    snprintf(ppm_path, sizeof ppm_path, "%s", in_folder("hello.ppm"));
    snprintf(png_path, sizeof png_path, "%s", in_folder("hello.png"));
    run_result hello = run_program((const char *const[]){hello_path(), cloud, ppm_path, NULL});
    assert_done(&hello);
    run_result render = orrery("render", cloud, "-o", png_path);
    assert_done(&render);
    orr_bytes ppm;
    orr_image8 png;
    assert_ok(orr_file_read(ppm_path, &ppm, &error));
    assert_ok(orr_image8_load(png_path, &png, &error));
    const char header[] = "P6 1280 720 255\n";
    assert_int_equal(ppm.size, sizeof header - 1 + 3 * 1280 * 720);
    assert_memory_equal(ppm.data, header, sizeof header - 1);
    const uint8_t *rgb = ppm.data + sizeof header - 1;
    for (int i = 0; i < 1280 * 720; i++) {
        assert_memory_equal(rgb + 3 * i, png.rgba + 4 * i, 3);
    }
    orr_free(ppm.data);
    orr_image8_free(&png);
    run_result broken = run_program((const char *const[]){hello_path(), png_path, ppm_path, NULL});
    assert_refused(&broken, 2, png_path);
}

static void background_stands_behind_and_transparent_keeps_alpha(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("red.npy"));
    run_result result = orrery("render", cloud, "-o", path, "--size", "64x16", "--background", "1,0.5,0");
    assert_done(&result);
    npy_picture npy = read_npy(path);
    const float corner[4] = {1.0f, 0.5f, 0.0f, 1.0f};
    assert_memory_equal(npy.values, corner, sizeof corner);
    orr_free(npy.bytes.data);
    snprintf(path, sizeof path, "%s", in_folder("clear.png"));
    run_result clear = orrery("render", cloud, "-o", path, "--size", "64x16", "--transparent");
    assert_done(&clear);
    orr_image8 png;
    assert_ok(orr_image8_load(path, &png, &error));
    assert_int_equal(png.rgba[3], 0);
    assert_true(png.rgba[4 * (8 * 64 + 32) + 3] > 200);
    orr_image8_free(&png);
}

// The middle of what a camera sees of the walker, as it walks past: columns of its pixels by their brass.
static double brass_column(const char *path)
{
    orr_image8 png;
    double sum = 0.0, count = 0.0;
    assert_ok(orr_image8_load(path, &png, &error));
    for (int i = 0; i < png.width * png.height; i++) {
        const uint8_t *p = png.rgba + 4 * i;
        if (p[0] > p[2] + 60) {
            sum += i % png.width;
            count++;
        }
    }
    orr_image8_free(&png);
    assert_true(count > 20.0);
    return sum / count;
}

static void a_robot_moves_from_frame_to_frame(void **state)
{
    (void)state;
    static const char *const names[] = {"still_%d.png", "walk_%d.png", "again_%d.png"};
    for (int i = 0; i < 3; i++) {
        run_result result = i == 0 ? orrery("render", walker, "-o", in_folder(names[i]), "--size", "96x54",
                                            "--frames", "3", "--fps", "2", "--camera", "1")
                                   : orrery("render", walker, "-o", in_folder(names[i]), "--size", "96x54",
                                            "--frames", "3", "--fps", "2", "--ctrl", "sine", "--threads",
                                            i == 1 ? "1" : "2", "--camera", "beside");
        assert_done(&result);
    }
    assert_different_files(in_folder("walk_0.png"), in_folder("walk_2.png"));
    for (int i = 0; i < 3; i++) {
        char name[2][32];
        snprintf(name[0], sizeof name[0], "walk_%d.png", i);
        snprintf(name[1], sizeof name[1], "again_%d.png", i);
        assert_same_files(in_folder(name[0]), in_folder(name[1]));
        assert_true(fabs(brass_column(in_folder(name[0])) - 48.0) < 12.0); // the camera goes along
    }
    run_result alone =
        orrery("render", walker, "-o", in_folder("first.png"), "--size", "96x54", "--camera", "beside");
    assert_done(&alone);
    assert_same_files(in_folder("first.png"), in_folder("walk_0.png"));
    run_result random = orrery("render", walker, "-o", in_folder("random_%d.png"), "--size", "96x54",
                               "--frames", "2", "--fps", "2", "--ctrl", "random", "--camera", "beside");
    assert_done(&random);
    assert_different_files(in_folder("random_1.png"), in_folder("walk_1.png"));
}

// The mean row of the pixels in which two pictures differ.
static double changed_row(const char *a, const char *b)
{
    orr_image8 x, y;
    double sum = 0.0, count = 0.0;
    assert_ok(orr_image8_load(a, &x, &error));
    assert_ok(orr_image8_load(b, &y, &error));
    for (int i = 0; i < x.width * x.height; i++) {
        if (abs(x.rgba[4 * i] - y.rgba[4 * i]) > 30) {
            sum += i / x.width, count++;
        }
    }
    orr_image8_free(&x);
    orr_image8_free(&y);
    assert_true(count > 20.0);
    return sum / count;
}

// 0.2 m above the robot at first; 0.2 s later it has come down by as much.
static void a_cloud_is_dropped_on_a_robot(void **state)
{
    (void)state;
    const char *names[] = {"alone_%d.png", "drop_%d.png"};
    for (int i = 0; i < 2; i++) {
        run_result result = orrery("render", walker, "-o", in_folder(names[i]), "--size", "96x54", "--frames",
                                   "2", "--fps", "5", "--camera", "beside", i ? "--drop" : "--no-shadows",
                                   i ? made_asset("orrery.spz") : NULL, i ? "--no-shadows" : NULL);
        assert_done(&result);
    }
    char path[4][256];
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, i < 2 ? "alone_%d.png" : "drop_%d.png", i % 2);
        snprintf(path[i], sizeof path[i], "%s", in_folder(name));
    }
    const double before = changed_row(path[0], path[2]), after = changed_row(path[1], path[3]);
    print_message("row %g, then %g of 54\n", before, after);
    assert_true(after > before + 3.0);
}

// The first recorded pixel, which is of the sky: MuJoCo's, without and with fog (tests/golden/haze).
static void fog_is_drawn_where_it_is_asked_for(void **state)
{
    (void)state;
    const uint8_t expected[2][3] = {{25, 51, 178}, {70, 83, 146}};
    for (int fog = 0; fog < 2; fog++) {
        const char *path = in_folder("fog.png");
        orr_image8 picture;
        run_result result = orrery("render", source_path("tests/golden/haze/level.xml"), "-o", path, "--size",
                                   "96x72", "--camera", "eye", fog ? "--fog" : NULL);
        assert_done(&result);
        assert_ok(orr_image8_load(path, &picture, &error));
        for (int k = 0; k < 3; k++) {
            assert_in_range(picture.rgba[4 * (96 + 1) + k], expected[fog][k] - 2, expected[fog][k] + 2);
        }
        orr_image8_free(&picture);
    }
}

static void what_a_robot_cannot_do_is_said_in_one_line(void **state)
{
    (void)state;
    const char *out = in_folder("never_%d.png");
    const struct {
        const char *arguments[10], *says;
    } cases[] = {
        {{"render", walker, "-o", out, "--camera", "above"}, "--camera above: expected one of its 2 cameras"},
        {{"render", walker, "-o", out, "--camera", "2"}, "expected one of its 2 cameras"},
        {{"render", walker, "-o", out, "--ctrl", "sine"}, "--ctrl: expected --frames N as well"},
        {{"render", walker, "-o", out, "--drop", "a.ply"}, "--drop: expected --frames N as well"},
        {{"render", cloud, "-o", out, "--frames", "2", "--drop", "a.ply"}, "expected a scene with a robot"},
        {{"render", walker, "-o", out, "--frames", "2", "--drop", "none.ply"}, "none.ply: cannot open"},
        {{"render", walker, "-o", out, "--frames", "2", "--orbit", "3"}, "expected one of them"},
        {{"render", cloud, "-o", out, "--frames", "2", "--ctrl", "sine"}, "expected a scene with a robot"},
        {{"render", walker, "-o", out, "--frames", "2", "--ctrl", "none.npy"}, "none.npy"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_result result = run_orrery(cases[i].arguments);
        assert_refused(&result, 2, cases[i].says);
    }
}

static void an_orbit_goes_once_around(void **state)
{
    (void)state;
    run_result still = orrery("render", cloud, "-o", in_folder("orbit.npy"), "--size", "32x32");
    assert_done(&still);
    run_result orbit = orrery("render", cloud, "-o", in_folder("orbit_%02d.npy"), "--size", "32x32",
                              "--orbit", "4", "--json");
    cJSON *json = take_json(&orbit);
    const cJSON *files = cJSON_GetObjectItem(json, "files");
    assert_int_equal(cJSON_GetArraySize(files), 4);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(files, 3)), in_folder("orbit_03.npy"));
    cJSON_Delete(json);
    assert_same_files(in_folder("orbit.npy"), in_folder("orbit_00.npy"));
    for (int i = 1; i < 4; i++) { // a turn that ended where it began would show the first picture twice
        char name[32];
        snprintf(name, sizeof name, "orbit_%02d.npy", i);
        assert_different_files(in_folder("orbit_00.npy"), in_folder(name));
    }
}

// A camera per picture, and the last one for those beyond.
static void time_passes_along_a_camera_path(void **state)
{
    (void)state;
    char cameras[256];
    snprintf(cameras, sizeof cameras, "%s", write_text("transforms.json", cameras_text));
    run_result still = orrery("render", cloud, "-o", in_folder("path%d.npy"), "--cameras", cameras);
    assert_done(&still);
    run_result moving =
        orrery("render", cloud, "-o", in_folder("passing%d.npy"), "--cameras", cameras, "--frames", "4");
    assert_done(&moving);
    for (int i = 0; i < 4; i++) {
        char there[32], here[32];
        snprintf(there, sizeof there, "path%d.npy", i < 3 ? i : 2);
        snprintf(here, sizeof here, "passing%d.npy", i);
        assert_same_files(in_folder(there), in_folder(here));
    }
    // a body falls out of the picture meanwhile
    char fall[256];
    snprintf(fall, sizeof fall, "%s",
             write_text("fall.xml",
                        "<mujoco><worldbody><body pos=\"1 0 0\"><freejoint/><geom size=\".3\"/></body>"
                        "</worldbody></mujoco>"));
    run_result falling = orrery("render", fall, "-o", in_folder("fall%d.npy"), "--cameras", cameras,
                                "--frames", "3", "--fps", "2");
    assert_done(&falling);
    npy_picture first = read_npy(in_folder("fall0.npy")), last = read_npy(in_folder("fall2.npy"));
    float seen[2] = {0.0f, 0.0f};
    for (int i = 0; i < first.width * first.height; i++) {
        seen[0] += first.values[4 * i + 3];
        seen[1] += last.values[4 * i + 3];
    }
    assert_true(seen[0] > 10.0f && seen[1] != seen[0]);
    orr_free(first.bytes.data);
    orr_free(last.bytes.data);
}

// Pictures that are there stay, those that are not are drawn: of colour and of depth.
static void an_interrupted_series_goes_on(void **state)
{
    (void)state;
    char kept[256], pattern[256], depth[256];
    snprintf(pattern, sizeof pattern, "%s", in_folder("series%d.npy"));
    snprintf(depth, sizeof depth, "%s", in_folder("series_depth%d.npy"));
    run_result whole =
        orrery("render", cloud, "-o", pattern, "--size", "32x32", "--orbit", "4", "--depth", depth);
    assert_done(&whole);
    assert_int_equal(rename(in_folder("series2.npy"), in_folder("series2_before.npy")), 0);
    assert_int_equal(remove(in_folder("series_depth3.npy")), 0);
    snprintf(kept, sizeof kept, "%s", write_text("series1.npy", "not drawn anew"));
    run_result rest = orrery("render", cloud, "-o", pattern, "--size", "32x32", "--orbit", "4", "--depth",
                             depth, "--continue", "--json");
    cJSON *json = take_json(&rest);
    assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "drawn")), 2);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "files")), 4);
    cJSON_Delete(json);
    assert_same_files(in_folder("series2.npy"), in_folder("series2_before.npy"));
    assert_int_equal(access(in_folder("series_depth3.npy"), F_OK), 0);
    orr_bytes bytes;
    assert_ok(orr_file_read(kept, &bytes, &error));
    assert_memory_equal(bytes.data, "not drawn anew", 14);
    orr_free(bytes.data);
}

// A pole on a robot's vertical (z) is the same from all sides.
static void an_orbit_of_a_robot_keeps_it_upright(void **state)
{
    (void)state;
    char pole[256];
    snprintf(pole, sizeof pole, "%s",
             write_text("pole.xml", "<mujoco><worldbody><geom type=\"capsule\" size=\".1 .5\"/></worldbody>"
                                    "</mujoco>"));
    run_result orbit = orrery("render", pole, "-o", in_folder("pole%d.png"), "--size", "32x32", "--orbit",
                              "4", "--depth", in_folder("pole_depth%d.npy"));
    assert_done(&orbit);
    npy_picture first = read_npy(in_folder("pole_depth0.npy"));
    for (int i = 1; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "pole_depth%d.npy", i);
        npy_picture depth = read_npy(in_folder(name));
        for (int k = 0; k < 32 * 32; k++) {
            assert_int_equal(isfinite(depth.values[k]) != 0, isfinite(first.values[k]) != 0);
            assert_true(!isfinite(depth.values[k]) || fabsf(depth.values[k] - first.values[k]) < 1e-3f);
        }
        orr_free(depth.bytes.data);
    }
    orr_free(first.bytes.data);
}

static void cameras_are_drawn_in_file_order(void **state)
{
    (void)state;
    char cameras[256];
    snprintf(cameras, sizeof cameras, "%s", write_text("transforms.json", cameras_text));
    run_result all = orrery("render", cloud, "-o", in_folder("all_%d.npy"), "--cameras", cameras);
    assert_done(&all);
    for (int i = 0; i < 3; i++) {
        char index[12], one[32], from_all[32];
        snprintf(index, sizeof index, "%d", i);
        snprintf(one, sizeof one, "one%d.npy", i);
        snprintf(from_all, sizeof from_all, "all_%d.npy", i);
        run_result single =
            orrery("render", cloud, "-o", in_folder(one), "--cameras", cameras, "--camera", index);
        assert_done(&single);
        assert_same_files(in_folder(one), in_folder(from_all));
    }
    assert_different_files(in_folder("one0.npy"), in_folder("one1.npy"));
    npy_picture npy = read_npy(in_folder("one0.npy")); // as large as the file says
    assert_int_equal(npy.width, 48);
    assert_int_equal(npy.height, 32);
    orr_free(npy.bytes.data);

    run_result smooth =
        orrery("render", cloud, "-o", in_folder("smooth_%d.npy"), "--cameras", cameras, "--smooth", "2");
    assert_done(&smooth);
    assert_same_files(in_folder("smooth_0.npy"), in_folder("all_0.npy"));
    assert_same_files(in_folder("smooth_3.npy"), in_folder("all_1.npy"));
    assert_same_files(in_folder("smooth_6.npy"), in_folder("all_2.npy"));
    assert_different_files(in_folder("smooth_1.npy"), in_folder("smooth_2.npy"));
    assert_int_equal(access(in_folder("smooth_7.npy"), F_OK), -1);

    run_result too_many = orrery("render", cloud, "-o", in_folder("x.png"), "--cameras", cameras);
    assert_refused(&too_many, 2, "3 pictures");
    run_result wrong =
        orrery("render", cloud, "-o", in_folder("x.png"), "--cameras", cameras, "--camera", "3");
    assert_refused(&wrong, 2, "--camera 3: expected one of its 3 cameras");
}

static void the_number_of_threads_changes_no_bit(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "npy",
        "png",
#if ORR_HAVE_VIDEO
        "mp4",
#endif
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char one[256], three[256];
        snprintf(one, sizeof one, "%s.%s", in_folder("threads1_%d"), kinds[i]);
        snprintf(three, sizeof three, "%s.%s", in_folder("threads3_%d"), kinds[i]);
        bool video = strcmp(kinds[i], "mp4") == 0;
        if (video) {
            snprintf(one, sizeof one, "%s", in_folder("threads1.mp4"));
            snprintf(three, sizeof three, "%s", in_folder("threads3.mp4"));
        }
        run_result a =
            orrery("render", cloud, "-o", one, "--orbit", "5", "--size", "70x50", "--threads", "1");
        assert_done(&a);
        run_result b =
            orrery("render", cloud, "-o", three, "--orbit", "5", "--size", "70x50", "--threads", "3");
        assert_done(&b);
        if (video) {
            assert_same_files(one, three);
            continue;
        }
        for (int k = 0; k < 5; k++) {
            char first[256], second[256];
            snprintf(first, sizeof first, "%s/threads1_%d.%s", folder, k, kinds[i]);
            snprintf(second, sizeof second, "%s/threads3_%d.%s", folder, k, kinds[i]);
            assert_same_files(first, second);
        }
    }
}

// starts a render that would take minutes, and interrupts it once something is there
static run_result interrupt_render(const char *inside, const char *path)
{
    const char *const argv[] = {program_path(), "render", cloud,     "-o",        path, "--orbit",
                                "100000",       "--size", "320x240", "--threads", "2",  NULL};
    running_program running = start_program(argv);
    for (int i = 0; i < 3000 && files_in(inside) < 3; i++) {
        usleep(10000);
        if (orr_path_has_ending(path, ".mp4") && bytes_in(inside) > 0) { // it is tried before all is loaded
            break;
        }
    }
    assert_true(files_in(inside) > 0);
    kill(running.process, SIGINT);
    return finish_program(&running);
}

static void an_interrupted_render_leaves_only_whole_files(void **state)
{
    (void)state;
    char inside[256], path[300];
    snprintf(inside, sizeof inside, "%s", in_folder("interrupted"));
    assert_int_equal(mkdir(inside, 0700), 0);
#if ORR_HAVE_VIDEO
    snprintf(path, sizeof path, "%s/a.mp4", inside);
    run_result video = interrupt_render(inside, path);
    assert_refused(&video, 130, "interrupted");
    assert_int_equal(files_in(inside), 0);
#endif
    snprintf(path, sizeof path, "%s/a_%%d.png", inside);
    run_result pictures = interrupt_render(inside, path);
    assert_refused(&pictures, 130, "of 100000 pictures were written");
    int count = files_in(inside);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/a_%d.png", inside, i);
        orr_image8 png;
        assert_ok(orr_image8_load(path, &png, &error)); // not one is missing, not one is cut
        orr_image8_free(&png);
        unlink(path);
    }
    assert_int_equal(rmdir(inside), 0);
}

static int make_files(void **state)
{
    (void)state;
    setenv("ORR_DEVICE", "cpu", 1); // what is tested here is not the device
    snprintf(folder, sizeof folder, "%s", scratch_path("."));
    folder[strlen(folder) - 2] = 0; // "/."
    snprintf(cloud, sizeof cloud, "%s", in_folder("cloud.ply"));
    snprintf(walker, sizeof walker, "%s", source_path("assets/walker.xml"));
    orr_splats *splats = make_cloud(CLOUD_BALL, CLOUD_COUNT, 1, 1);
    assert_ok(orr_splats_save(splats, cloud, &error));
    orr_splats_destroy(splats);
    return 0;
}

// ---- fields ----

static const char *write_picture(const char *name)
{
    enum { SIDE = 32 };
    uint8_t pixels[SIDE * SIDE * 4];
    for (int i = 0; i < SIDE * SIDE; i++) {
        pixels[4 * i] = (uint8_t)(8 * (i % SIDE));
        pixels[4 * i + 1] = (uint8_t)(8 * (i / SIDE));
        pixels[4 * i + 2] = 64;
        pixels[4 * i + 3] = 255;
    }
    const char *path = in_folder(name);
    assert_ok(orr_png_save(path, pixels, SIDE, SIDE, &error));
    return path;
}

static const char *write_config(const char *name)
{
    static const char text[] =
        "{\"encoding\": {\"n_levels\": 4, \"log2_hashmap_size\": 14, \"per_level_scale\": 1.6},"
        " \"optimizer\": {\"otype\": \"Adam\", \"learning_rate\": 3e-3}}";
    const char *path = in_folder(name);
    assert_ok(orr_file_write(path, text, sizeof text - 1, &error));
    return path;
}

static void train_image_learns_saves_and_goes_on(void **state)
{
    (void)state;
    const char *picture = write_picture("colours.png"), *config = write_config("small.json");
    const char *model = in_folder("colours.ingp"), *more = in_folder("more.ingp"),
               *previews = in_folder("previews");
    run_result run = orrery("train", "image", picture, "-o", model, "--config", config, "--steps", "60",
                            "--batch", "4096", "--preview", previews, "--json");
    cJSON *json = take_json(&run);
    assert_true(number_at(json, "steps") == 60.0 && number_at(json, "samples") == 60.0 * 4096.0);
    assert_true(number_at(json, "PSNR") > 25.0); // two ramps: a constant colour has 12 dB
    cJSON_Delete(json);
    assert_true(files_in(previews) > 0);
    orr_image8 plot;
    assert_ok(orr_image8_load(in_folder("colours.training.png"), &plot, &error));
    orr_image8_free(&plot);

    run =
        orrery("train", "image", picture, "-o", more, "--resume", model, "--steps", "20", "--batch", "4096");
    assert_done(&run);
    run = orrery("info", more, "--json");
    json = take_json(&run);
    const cJSON *file = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "files"), 0);
    assert_text_at(file, "kind", "image");
    assert_true(number_at(file, "steps") == 80.0);
    cJSON_Delete(json);
    run = orrery("convert", model, in_folder("colours.ply"));
    assert_refused(&run, 2, "expected one with a surface");
}

static void train_refuses_what_it_cannot_do_with_one_line(void **state)
{
    (void)state;
    const char *picture = write_picture("colours.png"), *model = in_folder("never.ingp");
    run_result run = orrery("train", "movie", picture, "-o", model);
    assert_refused(&run, 2, "expected image, sdf, nerf, splats, volume, policy or material");
    run = orrery("train", "image", picture);
    assert_refused(&run, 2, "-o missing");
    run = orrery("train", "image", picture, "-o", in_folder("never.bin"));
    assert_refused(&run, 2, ".ingp or .msgpack");
    run = orrery("train", "image", in_folder("nothing.png"), "-o", model);
    assert_refused(&run, 2, "nothing.png");
    run = orrery("train", "volume", picture, "-o", model);
    assert_refused(&run, 2, "a .npy file");
    run = orrery("train", "nerf", in_folder("nothing"), "-o", model);
    assert_refused(&run, 2, "nothing");
    run = orrery("train", "sdf", picture, "-o", model, "--resume", picture);
    assert_refused(&run, 2, "not a model");
    run = orrery("info", in_folder("nothing.ingp"));
    assert_refused(&run, 2, "nothing.ingp");
    assert_int_equal(access(model, F_OK), -1);
}

static void a_material_is_learned_and_drawn(void **state)
{
    (void)state;
    const char *mesh = made_asset("orrery.glb"), *material = in_folder("brass.material");
    run_result run = orrery("train", "material", mesh, "-o", material, "--steps", "3", "--width", "16",
                            "--size", "8", "--json");
    cJSON *json = take_json(&run);
    assert_true(number_at(json, "steps") == 3.0);
    assert_true(number_at(json, "error") > 0.0);
    cJSON_Delete(json);
    char scene[600];
    snprintf(scene, sizeof scene,
             "{\"orrery\":1,\"layers\":[{\"file\":\"%s\",\"materials\":[\"brass.material\"]}]}", mesh);
    const char *own = in_folder("own.npy"), *learned = in_folder("learned.npy");
    write_text("brass.json", scene);
    run = orrery("render", mesh, "-o", own, "--size", "32x24");
    assert_done(&run);
    run = orrery("render", in_folder("brass.json"), "-o", learned, "--size", "32x24");
    assert_done(&run);
    assert_different_files(own, learned);
    run = orrery("train", "material", mesh);
    assert_refused(&run, 2, "expected -o FILE.material");
    run = orrery("train", "material", mesh, "-o", in_folder("never.ingp"));
    assert_refused(&run, 2, "ends in .material");
    run = orrery("train", "material", mesh, "-o", material, "--material", "99");
    assert_refused(&run, 2, "material 99: expected 0 .. ");
    run = orrery("train", "material", in_folder("nothing.glb"), "-o", material);
    assert_refused(&run, 2, "nothing.glb");
}

static void an_interrupted_training_saves(void **state)
{
    (void)state;
    const char *picture = write_picture("colours.png"), *config = write_config("small.json");
    const char *model = in_folder("stopped.ingp"), *previews = in_folder("stopped");
    const char *const argv[] = {program_path(), "train",    "image", picture,     "-o",
                                model,          "--config", config,  "--seconds", "60",
                                "--preview",    previews,   NULL};
    running_program running = start_program(argv);
    char first[300];
    snprintf(first, sizeof first, "%s/image_0000.png", previews);
    for (int i = 0; i < 500 && access(first, F_OK) != 0; i++) {
        usleep(20000); // it is under way when its first picture is there
    }
    kill(running.process, SIGINT);
    run_result run = finish_program(&running);
    assert_int_equal(run.exit_code, 130);
    run_result_free(&run);
    run = orrery("info", model);
    assert_done(&run);
}

static void train_sdf_and_convert_make_a_mesh(void **state)
{
    (void)state;
    static const char cube[] =
        "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
        "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\nf 4 1 5 8\n";
    const char *mesh = in_folder("cube.obj"), *model = in_folder("cube.ingp"), *out = in_folder("cube.glb");
    const char *config = write_config("small.json");
    assert_ok(orr_file_write(mesh, cube, sizeof cube - 1, &error));
    run_result run = orrery("train", "sdf", mesh, "-o", model, "--config", config, "--steps", "1000",
                            "--batch", "2048", "--json");
    cJSON *json = take_json(&run);
    assert_true(number_at(json, "IoU") > 0.9);
    cJSON_Delete(json);
    run = orrery("convert", model, out, "--resolution", "48");
    assert_done(&run);
    run = orrery("info", out, "--json");
    json = take_json(&run);
    const cJSON *low = cJSON_GetObjectItem(
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "files"), 0), "bounds"), "low");
    for (int k = 0; k < 3; k++) { // the cube comes back in its own units
        assert_true(fabs(cJSON_GetArrayItem(low, k)->valuedouble + 1.0) < 0.1);
    }
    cJSON_Delete(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_lists_what_exists),
        cmocka_unit_test(help_fits_a_terminal),
        cmocka_unit_test(help_lists_the_common_options_that_a_command_uses),
        cmocka_unit_test(wrong_command_lines_end_with_one_line_and_code_2),
        cmocka_unit_test(broken_files_end_with_one_line_that_names_them),
        cmocka_unit_test(info_counts_what_is_in_a_cloud),
        cmocka_unit_test(info_tells_cameras_from_scenes),
        cmocka_unit_test(info_finds_the_sun_of_a_cloud),
        cmocka_unit_test(info_counts_what_is_in_a_mesh),
        cmocka_unit_test(convert_writes_every_format_it_reads_back),
        cmocka_unit_test(convert_writes_meshes),
        cmocka_unit_test(convert_cuts_a_cloud_in_two),
        cmocka_unit_test(broken_splats_and_losses_are_named_in_one_line),
        cmocka_unit_test(devices_are_listed),
        cmocka_unit_test(render_writes_the_same_picture_in_every_kind),
        cmocka_unit_test(render_writes_normals_and_flow),
        cmocka_unit_test(hello_splats_draws_what_orrery_draws),
        cmocka_unit_test(background_stands_behind_and_transparent_keeps_alpha),
        cmocka_unit_test(a_robot_moves_from_frame_to_frame),
        cmocka_unit_test(a_cloud_is_dropped_on_a_robot),
        cmocka_unit_test(fog_is_drawn_where_it_is_asked_for),
        cmocka_unit_test(what_a_robot_cannot_do_is_said_in_one_line),
        cmocka_unit_test(an_orbit_goes_once_around),
        cmocka_unit_test(an_orbit_of_a_robot_keeps_it_upright),
        cmocka_unit_test(an_interrupted_series_goes_on),
        cmocka_unit_test(time_passes_along_a_camera_path),
        cmocka_unit_test(cameras_are_drawn_in_file_order),
        cmocka_unit_test(the_number_of_threads_changes_no_bit),
        cmocka_unit_test(an_interrupted_render_leaves_only_whole_files),
        cmocka_unit_test(train_image_learns_saves_and_goes_on),
        cmocka_unit_test(train_refuses_what_it_cannot_do_with_one_line),
        cmocka_unit_test(a_material_is_learned_and_drawn),
        cmocka_unit_test(an_interrupted_training_saves),
        cmocka_unit_test(train_sdf_and_convert_make_a_mesh),
    };
    return cmocka_run_group_tests_name("cli", tests, make_files, NULL);
}
