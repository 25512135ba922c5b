// PNG through libspng: all colour types and depths, transparency of palettes and colour keys, Adam7.
#include "engine/image/decode.h"
#include "orr_features.h"

#if ORR_HAVE_SPNG
#include <spng.h>

enum {
    CHUNK_MAX = 64 << 20,     // bytes of one chunk that is kept, and of all; a profile unpacked counts too
    DEFLATE_EXPANSION = 1032, // at most
    PIXELS_PER_RAW_BYTE = 8   // black and white
};

static orr_result check(const orr_picture_source *source, int status, orr_error *error)
{
    if (status == SPNG_EMEM) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", source->name);
    }
    return status ? orr_picture_damaged(source, spng_strerror(status), error) : ORR_OK;
}

static orr_result decode(spng_ctx *png, const orr_picture_source *source, orr_pixels *pixels,
                         orr_error *error)
{
    struct spng_ihdr header;
    ORR_TRY(check(source, spng_set_png_buffer(png, source->data, source->size), error));
    ORR_TRY(check(source, spng_set_chunk_limits(png, CHUNK_MAX, CHUNK_MAX), error));
    ORR_TRY(check(source, spng_set_crc_action(png, SPNG_CRC_ERROR, SPNG_CRC_DISCARD), error));
    ORR_TRY(check(source, spng_get_ihdr(png, &header), error));
    bool deep = header.bit_depth == 16 && !source->eight_bits;
    ORR_TRY(orr_pixels_allocate(source, header.width, header.height, 4,
                                deep ? ORR_PIXEL_SHORT : ORR_PIXEL_BYTE,
                                PIXELS_PER_RAW_BYTE * DEFLATE_EXPANSION, pixels, error));
    if (source->header_only) {
        return ORR_OK;
    }
    ORR_TRY(check(source,
                  spng_decode_image(png, pixels->data,
                                    (size_t)header.width * header.height * orr_pixel_bytes(pixels),
                                    deep ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8, SPNG_DECODE_TRNS),
                  error));
    return check(source, spng_decode_chunks(png), error); // to the end of the file
}

orr_result orr_decode_png(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    spng_ctx *png = spng_ctx_new(0);
    if (!png) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", source->name);
    }
    orr_result result = decode(png, source, pixels, error);
    spng_ctx_free(png);
    return result;
}
#else
orr_result orr_decode_png(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    return orr_decode_stb(source, pixels, error);
}
#endif
