// JPEG through libjpeg-turbo: grey, YCbCr, RGB, CMYK and YCCK; baseline and progressive.
#include "engine/image/decode.h"
#include "orr_features.h"

#if ORR_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h>
// behind stdio.h, which it needs
#include <jerror.h>
#include <jpeglib.h>

enum {
    SCANS_MAX = 100,      // of a progressive picture: each costs a pass over the whole picture
    PIXELS_PER_BYTE = 512 // a block of 64 takes at least a bit
};

typedef struct jpeg_reader {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    char reason[JMSG_LENGTH_MAX];
} jpeg_reader;

static void fail(j_common_ptr info)
{
    jpeg_reader *r = info->client_data;
    r->errors.format_message(info, r->reason);
    longjmp(r->failed, 1);
}

// libjpeg goes on with grey where data are missing; what many cameras write, bytes between markers, is no
// loss
static void warn(j_common_ptr info, int level)
{
    switch (level < 0 ? info->err->msg_code : 0) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
        fail(info);
    }
}

static void count_scans(j_common_ptr info)
{
    jpeg_reader *r = info->client_data;
    if (r->info.input_scan_number > SCANS_MAX) {
        snprintf(r->reason, sizeof r->reason, "expected at most %d scans", SCANS_MAX);
        longjmp(r->failed, 1);
    }
}

// Inks to display colours, in place. Adobe's files, nearly all there are, store 255 - ink.
static void mix_inks(uint8_t *row, int width, bool inverted)
{
    for (int x = 0; x < width; x++, row += 4) {
        int black = inverted ? row[3] : 255 - row[3];
        for (int k = 0; k < 3; k++) {
            int left = inverted ? row[k] : 255 - row[k];
            row[k] = (uint8_t)((left * black + 127) / 255);
        }
        row[3] = 255;
    }
}

// What libjpeg finds wrong ends at setjmp in the caller.
static orr_result decode(jpeg_reader *r, const orr_picture_source *source, orr_pixels *pixels,
                         orr_error *error)
{
    struct jpeg_decompress_struct *info = &r->info;
    jpeg_create_decompress(info);
    jpeg_mem_src(info, source->data, source->size);
    (void)jpeg_read_header(info, TRUE);
    if (info->arith_code) { // a byte may code any number of pixels
        return orr_picture_damaged(source, "arithmetic coding: expected Huffman coding", error);
    }
    ORR_TRY(orr_pixels_allocate(source, info->image_width, info->image_height, 4, ORR_PIXEL_BYTE,
                                PIXELS_PER_BYTE, pixels, error));
    if (source->header_only) {
        return ORR_OK;
    }
    bool inks = info->num_components == 4;
    info->out_color_space = inks ? JCS_CMYK : JCS_EXT_RGBA;
    info->progress = &r->progress;
    (void)jpeg_start_decompress(info);
    while (info->output_scanline < info->output_height) {
        JSAMPROW row = (uint8_t *)pixels->data + 4 * (size_t)info->output_scanline * (size_t)pixels->width;
        (void)jpeg_read_scanlines(info, &row, 1);
        if (inks) {
            mix_inks(row, pixels->width, info->saw_Adobe_marker);
        }
    }
    (void)jpeg_finish_decompress(info);
    return ORR_OK;
}

orr_result orr_decode_jpeg(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    jpeg_reader r = {.reason = ""};
    r.info.err = jpeg_std_error(&r.errors);
    r.info.client_data = &r;
    r.errors.error_exit = fail;
    r.errors.emit_message = warn;
    r.progress.progress_monitor = count_scans;
    orr_result result =
        setjmp(r.failed) ? orr_picture_damaged(source, r.reason, error) : decode(&r, source, pixels, error);
    jpeg_destroy_decompress(&r.info);
    return result;
}
#else
orr_result orr_decode_jpeg(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    return orr_decode_stb(source, pixels, error);
}
#endif
