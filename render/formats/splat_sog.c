// SOG versions 1 and 2 (PlayCanvas): meta.json and lossless WebP pictures with one texel per splat. Version 2
// stores indices into codebooks, version 1 values between bounds.
#include "engine/core/memory.h"
#include "render/formats/splat_sog_files.h"

#include <cjson/cJSON.h>

typedef struct sog {
    const char *name;
    orr_sog_files *files;
    const cJSON *meta;
    int version;
    int64_t count;
    int degree;
} sog;

// ---- meta.json ----

static orr_result missing(const sog *s, const char *member, const char *expected, orr_error *error)
{
    return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: meta: %s: expected %s", s->name, member, expected);
}

static orr_result get_count(const sog *s, const cJSON *value, const char *member, int64_t most,
                            int64_t *count, orr_error *error)
{
    if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0.0 && value->valuedouble <= (double)most)) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: meta: %s: expected a number from 0 to %lld", s->name,
                        member, (long long)most);
    }
    *count = (int64_t)value->valuedouble;
    return ORR_OK;
}

// `count` numbers of an array, or of a single number that applies to all
static orr_result get_numbers(const sog *s, const char *member, const char *key, int count, float *out,
                              orr_error *error)
{
    const cJSON *list =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(s->meta, member), key);
    const cJSON *item = cJSON_IsArray(list) ? list->child : NULL;
    for (int k = 0; k < count; k++) {
        const cJSON *number = cJSON_IsNumber(list) ? list : item;
        if (!cJSON_IsNumber(number) && !cJSON_IsNull(number)) {
            return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: meta: %s.%s[%d]: expected a number", s->name,
                            member, key, k);
        }
        // null is how JSON writers spell a value that is not a number
        out[k] = cJSON_IsNull(number) ? NAN : (float)number->valuedouble;
        item = item ? item->next : NULL;
    }
    return ORR_OK;
}

// The value of byte b of channel k. Version 1: a value between bounds, per channel.
static orr_result get_table(const sog *s, const char *member, int channels, float table[][256],
                            orr_error *error)
{
    if (s->version == 2) {
        float *codebook = table[0];
        ORR_TRY(get_numbers(s, member, "codebook", 256, codebook, error));
        if (isnan(codebook[0])) { // early writers lost the first entry; it is one step before the second
            codebook[0] = codebook[1] + (codebook[1] - codebook[255]) / 255.0f;
        }
        for (int k = 1; k < channels; k++) {
            memcpy(table[k], table[0], sizeof table[0]);
        }
        return ORR_OK;
    }
    float low[4], high[4];
    ORR_TRY(get_numbers(s, member, "mins", channels, low, error));
    ORR_TRY(get_numbers(s, member, "maxs", channels, high, error));
    for (int k = 0; k < channels; k++) {
        for (int b = 0; b < 256; b++) {
            table[k][b] = low[k] + (high[k] - low[k]) * ((float)b / 255.0f);
        }
    }
    return ORR_OK;
}

static orr_result get_picture(const sog *s, const char *member, int index, int64_t least, int64_t most,
                              orr_sog_picture *picture, orr_error *error)
{
    *picture = (orr_sog_picture){0};
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(s->meta, member);
    const cJSON *file = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(object, "files"), index);
    if (!cJSON_IsString(file)) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: meta: %s.files[%d]: expected a file name", s->name,
                        member, index);
    }
    return orr_sog_read_picture(s->files, file->valuestring, least, most, picture, error);
}

static orr_result read_meta(sog *s, orr_error *error)
{
    if (cJSON_GetObjectItemCaseSensitive(s->meta, "lodLevels")) {
        return orr_sog_streamed(s->name, error);
    }
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(s->meta, "version");
    // any other value is an error: what is not a number, or not an int, cannot be converted
    s->version = !version ? 1 : cJSON_IsNumber(version) && version->valuedouble == 2.0 ? 2 : 0;
    if (!cJSON_IsObject(s->meta) || s->version == 0) {
        return orr_fail(error, ORR_CODE_FILE_VERSION, "%s: meta: expected version 2, or none for version 1",
                        s->name);
    }
    const cJSON *means = cJSON_GetObjectItemCaseSensitive(s->meta, "means");
    const cJSON *count = s->version == 2
                             ? cJSON_GetObjectItemCaseSensitive(s->meta, "count")
                             : cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(means, "shape"), 0);
    return get_count(s, count, s->version == 2 ? "count" : "means.shape[0]", INT32_MAX, &s->count, error);
}

// ---- one texel per splat ----

static orr_result read_means(const sog *s, const orr_splats_view *d, const orr_sog_picture *lower,
                             const orr_sog_picture *upper, orr_error *error)
{
    float low[3], high[3];
    ORR_TRY(get_numbers(s, "means", "mins", 3, low, error));
    ORR_TRY(get_numbers(s, "means", "maxs", 3, high, error));
    for (int64_t i = 0; i < s->count; i++) {
        for (int k = 0; k < 3; k++) {
            float t = (float)(lower->rgba[4 * i + k] | upper->rgba[4 * i + k] << 8) / 65535.0f;
            float n = low[k] + (high[k] - low[k]) * t;
            d->position[3 * i + k] = copysignf(expm1f(fabsf(n)), n);
        }
    }
    return ORR_OK;
}

static void read_rotations(const sog *s, const orr_splats_view *d, const orr_sog_picture *quats)
{
    for (int64_t i = 0; i < s->count; i++) {
        const uint8_t *p = quats->rgba + 4 * i;
        if (p[3] < 252) {
            d->rotation[4 * i] = NAN; // no component is the largest: a broken splat
            continue;
        }
        float rest[3];
        for (int k = 0; k < 3; k++) {
            rest[k] = ((float)p[k] / 255.0f - 0.5f) * sqrtf(2.0f);
        }
        orr_smallest_three(d->rotation + 4 * i, p[3] - 252, rest[0], rest[1], rest[2]);
    }
}

static orr_result read_scales(const sog *s, const orr_splats_view *d, const orr_sog_picture *scales,
                              orr_error *error)
{
    float table[3][256];
    ORR_TRY(get_table(s, "scales", 3, table, error));
    for (int64_t i = 0; i < s->count; i++) {
        for (int k = 0; k < 3; k++) {
            d->log_scale[3 * i + k] = table[k][scales->rgba[4 * i + k]];
        }
    }
    return ORR_OK;
}

static orr_result read_colours(const sog *s, const orr_splats_view *d, const orr_sog_picture *sh0,
                               orr_error *error)
{
    float table[4][256]; // of alpha, version 1 stores the logit and version 2 the opacity
    ORR_TRY(get_table(s, "sh0", 4, table, error));
    if (s->version == 2) {
        orr_logit_table(table[3]);
    }
    for (int64_t i = 0; i < s->count; i++) {
        for (int k = 0; k < 3; k++) {
            d->colour[3 * i + k] = table[k][sh0->rgba[4 * i + k]];
        }
        d->opacity[i] = table[3][sh0->rgba[4 * i + 3]];
    }
    return ORR_OK;
}

static orr_result read_geometry(const sog *s, const orr_splats_view *d, const orr_sog_picture picture[5],
                                orr_error *error)
{
    ORR_TRY(read_means(s, d, &picture[0], &picture[1], error));
    ORR_TRY(read_scales(s, d, &picture[2], error));
    read_rotations(s, d, &picture[3]);
    return read_colours(s, d, &picture[4], error);
}

// ---- harmonics: a palette of 64 entries per row, and a label per splat ----

static orr_result read_harmonics(const sog *s, const orr_splats_view *d, const orr_sog_picture *centroids,
                                 const orr_sog_picture *labels, orr_error *error)
{
    float table[1][256];
    ORR_TRY(get_table(s, "shN", 1, table, error));
    const int rest = orr_sh_rest(s->degree);
    int64_t palette = 64 * (int64_t)centroids->height;
    if (s->version == 2) {
        const cJSON *shn = cJSON_GetObjectItemCaseSensitive(s->meta, "shN");
        ORR_TRY(get_count(s, cJSON_GetObjectItemCaseSensitive(shn, "count"), "shN.count", palette, &palette,
                          error));
    }
    for (int64_t i = 0; i < s->count; i++) {
        int label = labels->rgba[4 * i] | labels->rgba[4 * i + 1] << 8;
        float *out = d->harmonics + 3 * rest * i;
        if (label >= palette) {
            out[0] = NAN; // a broken splat
            continue;
        }
        const uint8_t *entry =
            centroids->rgba + 4 * ((int64_t)(label / 64) * centroids->width + label % 64 * rest);
        for (int k = 0; k < rest; k++) {
            for (int channel = 0; channel < 3; channel++) {
                out[3 * k + channel] = table[0][entry[4 * k + channel]];
            }
        }
    }
    return ORR_OK;
}

// The width of the palette determines the degree; version 2 also gives it.
static orr_result find_degree(sog *s, const orr_sog_picture *centroids, orr_error *error)
{
    const int width = centroids->width;
    s->degree = width == 64 * 3 ? 1 : width == 64 * 8 ? 2 : width == 64 * 15 ? 3 : 0;
    int64_t bands = s->degree;
    if (s->version == 2) {
        const cJSON *shn = cJSON_GetObjectItemCaseSensitive(s->meta, "shN");
        ORR_TRY(get_count(s, cJSON_GetObjectItemCaseSensitive(shn, "bands"), "shN.bands", 3, &bands, error));
    }
    if (s->degree == 0 || bands != s->degree) {
        return missing(s, "shN", "a palette 192, 512 or 960 texels wide for 1, 2 or 3 bands", error);
    }
    return ORR_OK;
}

// ---- all of it ----

// What the pictures may hold: labels are of 16 bits, and the other pictures have a texel for each splat, with
// room for a writer that fills up rows or takes square pictures.
enum { PALETTE_TEXELS = 65536 * 15, SPARE_TEXELS = 65536 };

static orr_result read_pictures(sog *s, orr_sog_picture picture[7], orr_error *error)
{
    static const struct {
        const char *member;
        int index;
    } expected[5] = {{"means", 0}, {"means", 1}, {"scales", 0}, {"quats", 0}, {"sh0", 0}};
    const int64_t most = 4 * s->count + SPARE_TEXELS;
    for (int i = 0; i < 5; i++) {
        ORR_TRY(get_picture(s, expected[i].member, expected[i].index, s->count, most, &picture[i], error));
    }
    if (cJSON_GetObjectItemCaseSensitive(s->meta, "shN")) {
        ORR_TRY(get_picture(s, "shN", 0, 0, PALETTE_TEXELS, &picture[5], error));
        ORR_TRY(get_picture(s, "shN", 1, s->count, most, &picture[6], error));
        ORR_TRY(find_degree(s, &picture[5], error));
    }
    return ORR_OK;
}

// "antialias": true, or the same as a name; what other names mean for drawing is not known here.
static void read_model(const sog *s, orr_splats *cloud)
{
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(s->meta, "model");
    const char *name = cJSON_IsString(model) ? model->valuestring : "";
    cloud->data.antialiased = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(s->meta, "antialias")) ||
                              strcmp(name, "antialiased") == 0;
    static const char *const known[] = {"", "antialiased", "default", "3dgs", "2dgs"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i]) == 0) {
            return;
        }
    }
    orr_splats_warn(cloud, "model \"%.40s\" is drawn as 3D Gaussians", name);
}

static orr_result read_cloud(sog *s, orr_sog_picture picture[7], orr_splats **cloud, orr_error *error)
{
    ORR_TRY(read_meta(s, error));
    // every picture first: a count that is too large for them allocates nothing
    ORR_TRY(read_pictures(s, picture, error));
    const size_t bytes = sizeof(float) * (size_t)(14 + 3 * orr_sh_rest(s->degree)) * (size_t)s->count;
    if (!orr_plausible_expansion(orr_sog_bytes(s->files), bytes)) {
        return orr_fail(error, ORR_CODE_FILE_TOO_LARGE, "%s: %zu bytes cannot hold %lld splats", s->name,
                        orr_sog_bytes(s->files), (long long)s->count);
    }
    ORR_TRY(orr_splats_create(s->count, s->degree, cloud, error));
    read_model(s, *cloud);
    const orr_splats_view *d = &(*cloud)->data;
    ORR_TRY(read_geometry(s, d, picture, error));
    return s->degree > 0 ? read_harmonics(s, d, &picture[5], &picture[6], error) : ORR_OK;
}

static orr_result read_with_meta(sog *s, orr_splats **cloud, orr_error *error)
{
    orr_bytes text;
    ORR_TRY(orr_sog_read_meta(s->files, &text, error));
    cJSON *meta = cJSON_ParseWithLength((const char *)text.data, text.size);
    orr_free(text.data);
    if (!meta) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: meta.json is not valid JSON", s->name);
    }
    s->meta = meta;
    orr_sog_picture picture[7] = {0};
    orr_result result = read_cloud(s, picture, cloud, error);
    for (int i = 0; i < 7; i++) {
        orr_sog_free_picture(&picture[i]);
    }
    cJSON_Delete(meta);
    return result;
}

orr_result orr_read_sog(orr_splat_source source, orr_splats **splats, orr_error *error)
{
    *splats = NULL;
    sog s = {.name = source.name};
    ORR_TRY(orr_sog_open(source, &s.files, error));
    orr_splats *cloud = NULL;
    orr_result result = read_with_meta(&s, &cloud, error);
    orr_sog_close(s.files);
    return orr_splats_finish(cloud, result, source.name, splats, error);
}
