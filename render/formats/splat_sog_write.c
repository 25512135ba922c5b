// Writes SOG version 2: lossless WebP pictures and meta.json, in a zip archive. docs/splat-formats.md.
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "orr_features.h"
#include "render/formats/splat_bytes.h"
#include "render/formats/splat_palette.h"

#if ORR_HAVE_WEBP && ORR_HAVE_ZIP
#include <cjson/cJSON.h>
#include <webp/encode.h>
#include <zip.h>

enum { PICTURES = 7, SIDE_MOST = 16383, PALETTE_MOST = 65536, PALETTE_ROW = 64 };

static const char *const names[PICTURES] = {"means_l.webp",      "means_u.webp", "scales.webp",
                                            "quats.webp",        "sh0.webp",     "shN_labels.webp",
                                            "shN_centroids.webp"};

typedef enum picture_kind { MEANS_LOW, MEANS_HIGH, SCALES, QUATS, SH0, LABELS, CENTROIDS } picture_kind;

typedef struct sog_writer {
    orr_splats_view view; // in Morton order
    float *value;         // scratch: 3 numbers of each splat
    int width, height;    // of the pictures with a texel for each splat
    uint8_t *rgba;        // of the picture at hand
    cJSON *meta;
    bool lost; // something of meta, for want of memory
    zip_t *archive;
    orr_bytes packed[PICTURES + 1]; // pictures and meta.json, which the archive reads when it is closed
    const char *path;
} sog_writer;

static orr_result out_of_memory(const sog_writer *w, orr_error *error)
{
    return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", w->path);
}

// ---- files of the archive ----

static orr_result add_file(sog_writer *w, const char *name, int index, bool packs, orr_error *error)
{
    zip_source_t *source = zip_source_buffer(w->archive, w->packed[index].data, w->packed[index].size, 0);
    zip_int64_t at = source ? zip_file_add(w->archive, name, source, 0) : -1;
    if (at < 0) {
        zip_source_free(source);
        return out_of_memory(w, error);
    }
    // the same time in every file, so that a cloud always gives the same bytes
    zip_file_set_dostime(w->archive, (zip_uint64_t)at, 0, (1 << 5) | 1, 0);
    zip_set_file_compression(w->archive, (zip_uint64_t)at, packs ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    return ORR_OK;
}

static int collect(const uint8_t *data, size_t size, const WebPPicture *picture)
{
    return WebPMemoryWrite(data, size, picture);
}

// rgba of width x height becomes a file of the archive.
static orr_result add_picture(sog_writer *w, picture_kind kind, int width, int height, orr_error *error)
{
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriter memory;
    if (!WebPConfigInit(&config) || !WebPPictureInit(&picture)) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: another version of libwebp than at compile time",
                        w->path);
    }
    config.lossless = 1;
    config.exact = 1; // texels of alpha 0 keep their colour
    config.quality = 75.0f;
    config.method = 4;
    WebPMemoryWriterInit(&memory);
    picture.use_argb = 1;
    picture.width = width;
    picture.height = height;
    picture.writer = collect;
    picture.custom_ptr = &memory;
    bool good = WebPPictureImportRGBA(&picture, w->rgba, 4 * width) && WebPEncode(&config, &picture);
    WebPPictureFree(&picture);
    orr_bytes *packed = &w->packed[kind];
    if (good) {
        packed->size = memory.size;
        packed->data = orr_alloc(memory.size + 1, 1);
        good = packed->data != NULL;
    }
    if (good) {
        memcpy(packed->data, memory.mem, memory.size);
    }
    WebPMemoryWriterClear(&memory);
    return good ? add_file(w, names[kind], (int)kind, false, error) : out_of_memory(w, error);
}

static orr_result add_texels(sog_writer *w, picture_kind kind, orr_error *error)
{
    return add_picture(w, kind, w->width, w->height, error);
}

static void add_item(sog_writer *w, cJSON *list, cJSON *item)
{
    if (!cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        w->lost = true;
    }
}

static cJSON *add_member(sog_writer *w, const char *name, const picture_kind *files, int count)
{
    cJSON *member = cJSON_AddObjectToObject(w->meta, name);
    cJSON *list = cJSON_AddArrayToObject(member, "files");
    for (int i = 0; i < count; i++) {
        add_item(w, list, cJSON_CreateString(names[files[i]]));
    }
    return member;
}

static void add_numbers(sog_writer *w, cJSON *member, const char *name, const float *values, int count)
{
    cJSON *list = cJSON_AddArrayToObject(member, name);
    for (int i = 0; i < count; i++) {
        add_item(w, list, cJSON_CreateNumber((double)values[i]));
    }
}

// ---- one texel per splat ----

static orr_result write_means(sog_writer *w, orr_error *error)
{
    const orr_splats_view *d = &w->view;
    float low[3] = {0}, high[3] = {0};
    for (int64_t i = 0; i < 3 * d->count; i++) {
        const float x = copysignf(log1pf(fabsf(d->position[i])), d->position[i]);
        const int k = (int)(i % 3);
        w->value[i] = x;
        low[k] = i < 3 || x < low[k] ? x : low[k];
        high[k] = i < 3 || x > high[k] ? x : high[k];
    }
    cJSON *member = add_member(w, "means", (const picture_kind[]){MEANS_LOW, MEANS_HIGH}, 2);
    add_numbers(w, member, "mins", low, 3);
    add_numbers(w, member, "maxs", high, 3);
    for (int byte = 0; byte < 2; byte++) {
        for (int64_t i = 0; i < 3 * d->count; i++) {
            const int k = (int)(i % 3);
            const uint32_t n = orr_quantise_between(w->value[i], low[k], high[k], 65535);
            w->rgba[4 * (i / 3) + k] = (uint8_t)(n >> (8 * byte));
        }
        ORR_TRY(add_texels(w, byte ? MEANS_HIGH : MEANS_LOW, error));
    }
    return ORR_OK;
}

// Three numbers of each splat by a codebook, into red, green and blue.
static orr_result put_by_codebook(sog_writer *w, const float *values, cJSON *member, orr_error *error)
{
    float codebook[ORR_CODEBOOK];
    ORR_TRY(orr_codebook_of(values, 3 * w->view.count, codebook, error));
    add_numbers(w, member, "codebook", codebook, ORR_CODEBOOK);
    for (int64_t i = 0; i < 3 * w->view.count; i++) {
        w->rgba[4 * (i / 3) + i % 3] = (uint8_t)orr_codebook_index(codebook, values[i]);
    }
    return ORR_OK;
}

static orr_result write_scales(sog_writer *w, orr_error *error)
{
    cJSON *member = add_member(w, "scales", (const picture_kind[]){SCALES}, 1);
    ORR_TRY(put_by_codebook(w, w->view.log_scale, member, error));
    return add_texels(w, SCALES, error);
}

static orr_result write_rotations(sog_writer *w, orr_error *error)
{
    add_member(w, "quats", (const picture_kind[]){QUATS}, 1);
    for (int64_t i = 0; i < w->view.count; i++) {
        float rest[3];
        const int largest = orr_largest_and_rest(w->view.rotation + 4 * i, rest);
        for (int k = 0; k < 3; k++) {
            w->rgba[4 * i + k] = (uint8_t)orr_quantise((rest[k] / sqrtf(2.0f) + 0.5f) * 255.0f, 255);
        }
        w->rgba[4 * i + 3] = (uint8_t)(252 + largest);
    }
    return add_texels(w, QUATS, error);
}

static orr_result write_colours(sog_writer *w, orr_error *error)
{
    cJSON *member = add_member(w, "sh0", (const picture_kind[]){SH0}, 1);
    ORR_TRY(put_by_codebook(w, w->view.colour, member, error));
    for (int64_t i = 0; i < w->view.count; i++) {
        w->rgba[4 * i + 3] = (uint8_t)orr_opacity_byte(w->view.opacity[i]);
    }
    return add_texels(w, SH0, error);
}

// ---- harmonics ----

// As the format's own writer has it: 1024 entries, and twice as many for each doubling of the splats.
static int palette_entries(int64_t count)
{
    int64_t entries = 1024;
    while (entries < PALETTE_MOST && entries * 2 <= count) {
        entries *= 2;
    }
    return (int)(entries < count ? entries : count > 0 ? count : 1);
}

static orr_result put_palette(sog_writer *w, const float *palette, int entries, cJSON *member,
                              orr_error *error)
{
    const int rest = orr_sh_rest(w->view.sh_degree), width = PALETTE_ROW * rest,
              height = orr_blocks(entries, PALETTE_ROW);
    float codebook[ORR_CODEBOOK];
    ORR_TRY(orr_codebook_of(palette, (int64_t)entries * 3 * rest, codebook, error));
    add_numbers(w, member, "codebook", codebook, ORR_CODEBOOK);
    uint8_t *texels = w->rgba;
    w->rgba = orr_alloc((size_t)width * (size_t)height, 4);
    if (!w->rgba) {
        w->rgba = texels;
        return out_of_memory(w, error);
    }
    memset(w->rgba, 255, 4 * (size_t)width * (size_t)height);
    for (int64_t i = 0; i < (int64_t)entries * rest; i++) {
        for (int k = 0; k < 3; k++) {
            w->rgba[4 * i + k] = (uint8_t)orr_codebook_index(codebook, palette[3 * i + k]);
        }
    }
    orr_result result = add_picture(w, CENTROIDS, width, height, error);
    orr_free(w->rgba);
    w->rgba = texels;
    return result;
}

static orr_result write_harmonics(sog_writer *w, orr_error *error)
{
    const int rest = orr_sh_rest(w->view.sh_degree), entries = palette_entries(w->view.count);
    float *palette = orr_alloc_zero((size_t)entries * 3 * (size_t)rest, sizeof *palette);
    uint16_t *label = orr_alloc((size_t)w->view.count + 1, sizeof *label);
    orr_result result = palette && label ? ORR_OK : out_of_memory(w, error);
    if (result == ORR_OK && w->view.count > 0) {
        result = orr_palette_of(w->view.harmonics, w->view.count, 3 * rest, entries, palette, label, error);
    }
    cJSON *member = add_member(w, "shN", (const picture_kind[]){CENTROIDS, LABELS}, 2);
    w->lost |= !cJSON_AddNumberToObject(member, "count", entries) ||
               !cJSON_AddNumberToObject(member, "bands", w->view.sh_degree);
    for (int64_t i = 0; i < w->view.count && result == ORR_OK; i++) {
        w->rgba[4 * i] = (uint8_t)label[i];
        w->rgba[4 * i + 1] = (uint8_t)(label[i] >> 8);
        w->rgba[4 * i + 2] = 0;
        w->rgba[4 * i + 3] = 255;
    }
    orr_free(label);
    if (result == ORR_OK) {
        result = add_texels(w, LABELS, error);
    }
    if (result == ORR_OK) {
        result = put_palette(w, palette, entries, member, error);
    }
    orr_free(palette);
    return result;
}

// ---- all of it ----

static void pick(const float *from, int width, const int64_t *order, int64_t count, float *to)
{
    for (int64_t i = 0; i < count && width > 0; i++) { // clouds of degree 0 have no harmonics
        memcpy(to + i * width, from + order[i] * width, (size_t)width * sizeof *to);
    }
}

// The splats along the Morton curve, where texels beside each other are alike.
static orr_result sort(const orr_splats_view *d, orr_splats **sorted, orr_error *error)
{
    int64_t *order;
    ORR_TRY(orr_splats_morton_order(d, &order, error));
    orr_result result = orr_splats_create(d->count, d->sh_degree, sorted, error);
    if (result == ORR_OK) {
        const orr_splats_view to = orr_splats_data(*sorted);
        pick(d->position, 3, order, d->count, to.position);
        pick(d->log_scale, 3, order, d->count, to.log_scale);
        pick(d->rotation, 4, order, d->count, to.rotation);
        pick(d->opacity, 1, order, d->count, to.opacity);
        pick(d->colour, 3, order, d->count, to.colour);
        pick(d->harmonics, 3 * orr_sh_rest(d->sh_degree), order, d->count, to.harmonics);
    }
    orr_free(order);
    return result;
}

static orr_result write_all(sog_writer *w, bool antialiased, orr_error *error)
{
    const int64_t count = w->view.count;
    w->width = count > 0 ? (int)ceil(sqrt((double)count)) : 1; // a picture has at least one texel
    w->height = count > 0 ? orr_blocks(count, w->width) : 1;
    if (w->width > SIDE_MOST) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%s: %lld splats: expected at most %d, the texels of a WebP "
                        "picture",
                        w->path, (long long)count, SIDE_MOST * SIDE_MOST);
    }
    ORR_ALLOC(w->value, 3 * count + 1, w->path, error);
    ORR_ALLOC(w->rgba, 4 * (int64_t)w->width * w->height, w->path, error);
    memset(w->rgba, 255, 4 * (size_t)w->width * (size_t)w->height);
    w->meta = cJSON_CreateObject();
    w->lost |= !cJSON_AddNumberToObject(w->meta, "version", 2) ||
               !cJSON_AddNumberToObject(w->meta, "count", (double)count) ||
               !cJSON_AddBoolToObject(w->meta, "antialias", antialiased);
    ORR_TRY(write_means(w, error));
    ORR_TRY(write_scales(w, error));
    ORR_TRY(write_rotations(w, error));
    ORR_TRY(write_colours(w, error));
    ORR_TRY(w->view.sh_degree > 0 ? write_harmonics(w, error) : ORR_OK);
    char *text = w->lost ? NULL : cJSON_PrintUnformatted(w->meta);
    if (!text) {
        return out_of_memory(w, error);
    }
    w->packed[PICTURES] = (orr_bytes){orr_alloc(strlen(text), 1), strlen(text)};
    if (w->packed[PICTURES].data) {
        memcpy(w->packed[PICTURES].data, text, strlen(text));
    }
    cJSON_free(text);
    return w->packed[PICTURES].data ? add_file(w, "meta.json", PICTURES, true, error)
                                    : out_of_memory(w, error);
}

// What the archive has become goes into the file.
static orr_result put_archive(zip_source_t *bytes, orr_file_writer *out, orr_error *error)
{
    zip_stat_t status;
    uint8_t *data = NULL;
    bool good = zip_source_stat(bytes, &status) == 0 && (data = orr_alloc((size_t)status.size, 1)) != NULL &&
                zip_source_open(bytes) == 0;
    if (good) {
        good = zip_source_read(bytes, data, status.size) == (zip_int64_t)status.size;
        zip_source_close(bytes);
    }
    if (good) {
        orr_file_put(out, data, (size_t)status.size);
    }
    orr_free(data);
    return good ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for libzip", out->path);
}

static orr_result write_bundle(sog_writer *w, bool antialiased, zip_source_t *bytes, orr_file_writer *out,
                               orr_error *error)
{
    zip_error_t why;
    zip_error_init(&why);
    zip_source_keep(bytes); // closing the archive gives its own away
    w->archive = zip_open_from_source(bytes, ZIP_TRUNCATE, &why);
    zip_error_fini(&why);
    if (!w->archive) {
        zip_source_free(bytes);
        return out_of_memory(w, error);
    }
    orr_result result = write_all(w, antialiased, error);
    if (result == ORR_OK && zip_close(w->archive) != 0) {
        result = out_of_memory(w, error);
    } else if (result == ORR_OK) {
        return put_archive(bytes, out, error);
    }
    zip_discard(w->archive);
    return result;
}

orr_result orr_write_sog(const orr_splats *splats, orr_file_writer *out, orr_error *error)
{
    orr_splats *sorted;
    ORR_TRY(sort(&splats->data, &sorted, error));
    sog_writer w = {.view = orr_splats_data(sorted), .path = out->path};
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *bytes = zip_source_buffer_create(NULL, 0, 0, &why);
    zip_error_fini(&why);
    orr_result result =
        bytes ? write_bundle(&w, splats->data.antialiased, bytes, out, error) : out_of_memory(&w, error);
    zip_source_free(bytes);
    for (int i = 0; i <= PICTURES; i++) {
        orr_free(w.packed[i].data);
    }
    cJSON_Delete(w.meta);
    orr_free(w.value);
    orr_free(w.rgba);
    orr_splats_destroy(sorted);
    return result;
}
#else
orr_result orr_write_sog(const orr_splats *splats, orr_file_writer *out, orr_error *error)
{
    (void)splats;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "%s: this build cannot write .sog (Debian: libwebp-dev, libzip-dev)", out->path);
}
#endif
