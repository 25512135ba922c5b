// WebP through libwebp, lossy and lossless; not animated.
#include "engine/image/decode.h"
#include "orr_features.h"

#if ORR_HAVE_WEBP
#include <webp/decode.h>

enum { PIXELS_PER_BYTE = 4096 };

orr_result orr_decode_webp(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(source->data, source->size, &features) != VP8_STATUS_OK) {
        return orr_picture_damaged(source, "expected a header of WebP", error);
    }
    if (features.has_animation) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: an animated WebP: expected one picture",
                        source->name);
    }
    ORR_TRY(orr_pixels_allocate(source, features.width, features.height, 4, ORR_PIXEL_BYTE, PIXELS_PER_BYTE,
                                pixels, error));
    size_t stride = 4 * (size_t)pixels->width;
    if (!source->header_only && !WebPDecodeRGBAInto(source->data, source->size, pixels->data,
                                                    stride * (size_t)pixels->height, (int)stride)) {
        return orr_picture_damaged(source, "expected the whole of a WebP picture", error);
    }
    return ORR_OK;
}
#else
orr_result orr_decode_webp(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    (void)pixels;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: this build cannot read WebP (Debian: libwebp-dev)",
                    source->name);
}
#endif
