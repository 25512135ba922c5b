#include "render/formats/splat_sog_files.h"

#include "engine/core/memory.h"
#include "orr_features.h"

#if ORR_HAVE_ZIP
#include <zip.h>
#include <zlib.h>
#endif
#if ORR_HAVE_WEBP
#include <webp/decode.h>
#endif

enum { META_MOST = 1 << 20 }; // bytes of meta.json: JSON takes up to 32 times as much memory when parsed

struct orr_sog_files {
    orr_splat_source source;
    size_t bytes; // of files beside meta.json that were read
#if ORR_HAVE_ZIP
    zip_t *archive; // Nullable: the files are in a folder
#endif
};

orr_result orr_sog_streamed(const char *name, orr_error *error)
{
    return orr_fail(
        error, ORR_CODE_FEATURE_ABSENT,
        "%s: a streamed SOG (lod-meta.json) is not supported: expected one cloud with its meta.json", name);
}

// ---- the archive ----

#if ORR_HAVE_ZIP
static bool is_out_of_memory(zip_error_t *why)
{
    // without an error: the object that would hold it could not be made
    return zip_error_code_zip(why) == ZIP_ER_MEMORY || zip_error_code_zip(why) == ZIP_ER_OK ||
           (zip_error_code_zip(why) == ZIP_ER_ZLIB && zip_error_code_system(why) == Z_MEM_ERROR);
}

static orr_result open_archive(orr_sog_files *files, orr_error *error)
{
    orr_splat_source source = files->source;
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *bytes = zip_source_buffer_create(source.data, source.size, 0, &why);
    files->archive = bytes ? zip_open_from_source(bytes, ZIP_RDONLY | ZIP_CHECKCONS, &why) : NULL;
    orr_result result = ORR_OK;
    if (!files->archive) {
        const bool memory = is_out_of_memory(&why);
        zip_source_free(bytes);
        result = orr_fail(error, memory ? ORR_CODE_OUT_OF_MEMORY : ORR_CODE_FILE_COMPRESSION,
                          "%s: not a whole zip archive: %s", source.name, zip_error_strerror(&why));
    }
    zip_error_fini(&why);
    return result;
}

static void close_archive(orr_sog_files *files)
{
    if (files->archive) {
        zip_discard(files->archive);
    }
}

static orr_result read_entry(orr_sog_files *files, const char *file, uint64_t most, orr_bytes *bytes,
                             orr_error *error)
{
    const char *name = files->source.name;
    zip_stat_t status;
    const zip_uint64_t needed = ZIP_STAT_INDEX | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if (zip_stat(files->archive, file, 0, &status) != 0 || (status.valid & needed) != needed) {
        if (zip_name_locate(files->archive, "lod-meta.json", 0) >= 0) {
            return orr_sog_streamed(name, error);
        }
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: the archive has no file %s", name, file);
    }
    if (status.size > most || !orr_plausible_expansion(files->source.size, status.size)) {
        return orr_fail(error, ORR_CODE_FILE_TOO_LARGE,
                        "%s: %s: %llu bytes, out of an archive of %zu, expected at most %llu", name, file,
                        (unsigned long long)status.size, files->source.size, (unsigned long long)most);
    }
    ORR_ALLOC(bytes->data, status.size + 1, file, error);
    bytes->size = (size_t)status.size;
    bytes->data[bytes->size] = 0;
    zip_file_t *stream = zip_fopen_index(files->archive, status.index, 0);
    zip_int64_t got = stream ? zip_fread(stream, bytes->data, status.size) : -1;
    // the checksum is compared when the end is read
    uint8_t end;
    bool whole = got == (zip_int64_t)status.size && zip_fread(stream, &end, 1) == 0;
    bool out_of_memory =
        is_out_of_memory(stream ? zip_file_get_error(stream) : zip_get_error(files->archive));
    if (stream) {
        zip_fclose(stream);
    }
    if (!whole) {
        orr_free(bytes->data);
        *bytes = (orr_bytes){0};
        if (out_of_memory) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: %s: out of memory", name, file);
        }
        return orr_fail(error, ORR_CODE_FILE_COMPRESSION, "%s: %s: the archive's entry is broken", name,
                        file);
    }
    return ORR_OK;
}

static bool in_archive(const orr_sog_files *files)
{
    return files->archive != NULL;
}
#else
static orr_result open_archive(orr_sog_files *files, orr_error *error)
{
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "%s: this build cannot read bundled .sog files (Debian: libzip-dev)", files->source.name);
}

static void close_archive(orr_sog_files *files)
{
    (void)files;
}

static orr_result read_entry(orr_sog_files *files, const char *file, uint64_t most, orr_bytes *bytes,
                             orr_error *error)
{
    (void)file, (void)most;
    *bytes = (orr_bytes){0};
    return open_archive(files, error);
}

static bool in_archive(const orr_sog_files *files)
{
    (void)files;
    return false;
}
#endif

// ---- archive or folder ----

orr_result orr_sog_open(orr_splat_source source, orr_sog_files **out, orr_error *error)
{
    *out = NULL;
    orr_sog_files *files = orr_alloc_zero(1, sizeof *files);
    if (!files) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", source.name);
    }
    files->source = source;
    bool bundle = source.size >= 2 && source.data[0] == 'P' && source.data[1] == 'K';
    orr_result result = bundle ? open_archive(files, error) : ORR_OK;
    if (result != ORR_OK) {
        orr_sog_close(files);
        return result;
    }
    *out = files;
    return ORR_OK;
}

void orr_sog_close(orr_sog_files *files)
{
    if (files) {
        close_archive(files);
        orr_free(files);
    }
}

static orr_result read_file(orr_sog_files *files, const char *file, orr_bytes *bytes, orr_error *error)
{
    *bytes = (orr_bytes){0};
    if (in_archive(files)) {
        return read_entry(files, file, UINT64_MAX, bytes, error);
    }
    char *path = orr_path_beside(files->source.name, file);
    if (!path) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", files->source.name);
    }
    orr_result result = orr_file_read(path, bytes, error);
    files->bytes += bytes->size;
    orr_free(path);
    return result;
}

size_t orr_sog_bytes(const orr_sog_files *files)
{
    return files->source.size + files->bytes;
}

orr_result orr_sog_read_meta(orr_sog_files *files, orr_bytes *text, orr_error *error)
{
    *text = (orr_bytes){0};
    if (in_archive(files)) {
        return read_entry(files, "meta.json", META_MOST, text, error);
    }
    if (files->source.size > META_MOST) {
        return orr_fail(error, ORR_CODE_FILE_TOO_LARGE, "%s: %zu bytes, expected at most %d",
                        files->source.name, files->source.size, META_MOST);
    }
    text->size = files->source.size;
    ORR_ALLOC(text->data, text->size + 1, files->source.name, error);
    memcpy(text->data, files->source.data, text->size);
    text->data[text->size] = 0;
    return ORR_OK;
}

// ---- pictures ----

#if ORR_HAVE_WEBP
static orr_result decode(const char *name, const char *file, orr_bytes bytes, int64_t least, int64_t most,
                         orr_sog_picture *picture, orr_error *error)
{
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(bytes.data, bytes.size, &features) != VP8_STATUS_OK || features.has_animation) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: %s: not a WebP picture", name, file);
    }
    // at most 16383 in each direction
    int64_t size = (int64_t)features.width * features.height;
    if (size < least || size > most) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: %s: %d x %d texels, expected %lld to %lld", name,
                        file, features.width, features.height, (long long)least, (long long)most);
    }
    if (!orr_plausible_expansion(bytes.size, 4 * (uint64_t)size)) {
        return orr_fail(error, ORR_CODE_FILE_TOO_LARGE, "%s: %s: %d x %d texels out of %zu bytes", name, file,
                        features.width, features.height, bytes.size);
    }
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "%s: %s: another version of libwebp than at compile time", name, file);
    }
    uint8_t *rgba;
    ORR_ALLOC(rgba, 4 * size, file, error);
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){rgba, 4 * features.width, 4 * (size_t)size};
    const VP8StatusCode status = WebPDecode(bytes.data, bytes.size, &config);
    if (status != VP8_STATUS_OK) {
        const bool memory = status == VP8_STATUS_OUT_OF_MEMORY;
        orr_free(rgba);
        return orr_fail(error, memory ? ORR_CODE_OUT_OF_MEMORY : ORR_CODE_FILE_COMPRESSION, "%s: %s: %s",
                        name, file, memory ? "out of memory" : "the WebP picture is broken");
    }
    *picture = (orr_sog_picture){features.width, features.height, rgba};
    return ORR_OK;
}
#else
static orr_result decode(const char *name, const char *file, orr_bytes bytes, int64_t least, int64_t most,
                         orr_sog_picture *picture, orr_error *error)
{
    (void)bytes;
    (void)least, (void)most;
    (void)picture;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "%s: %s: this build cannot read WebP (Debian: libwebp-dev)", name, file);
}
#endif

void orr_sog_free_picture(orr_sog_picture *picture)
{
    orr_free(picture->rgba);
    *picture = (orr_sog_picture){0};
}

orr_result orr_sog_read_picture(orr_sog_files *files, const char *file, int64_t least, int64_t most,
                                orr_sog_picture *picture, orr_error *error)
{
    *picture = (orr_sog_picture){0};
    const char *name = files->source.name;
    if (file[0] == 0 || file[0] == '.' || strchr(file, '/') || strchr(file, '\\')) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: file '%s': expected a plain name", name, file);
    }
    orr_bytes bytes;
    ORR_TRY(read_file(files, file, &bytes, error));
    orr_result result = decode(name, file, bytes, least, most, picture, error);
    orr_free(bytes.data);
    return result;
}
