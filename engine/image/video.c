#include "engine/image/video.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "orr_features.h"

#if ORR_HAVE_VIDEO
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
#include <stdio.h>
#include <string.h>

enum {
    VIDEO_THREADS = 4, // fixed: x264's bits depend on it, and ours must not depend on the machine
    VIDEO_QUIET = 100  // added to the level of every log line of the encoder, so that none is printed
};

struct orr_video {
    char *path;
    orr_file_writer writer;
    char *url; // its temporary file with a scheme, so that libav does not take a colon in a name for one
    AVFormatContext *file;
    AVCodecContext *encoder;
    AVFrame *frame; // yuv420p, even size
    AVPacket *packet;
    struct SwsContext *scaler;
    uint8_t *padded; // rgba of even size; NULL when the pictures are
    int width, height;
    int64_t frame_count;
};

static orr_result fail_av(const orr_video *video, const char *what, int code, orr_error *error)
{
    char why[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(code, why, sizeof why);
    return orr_fail(error, code == AVERROR(ENOMEM) ? ORR_CODE_OUT_OF_MEMORY : ORR_CODE_VIDEO,
                    "%s: cannot %s: %s", video->path, what, why);
}

#define TRY_AV(call, what)                                                                                   \
    do {                                                                                                     \
        int try_av_code = (call);                                                                            \
        if (try_av_code < 0) {                                                                               \
            return fail_av(video, what, try_av_code, error);                                                 \
        }                                                                                                    \
    } while (0)

static int even(int side)
{
    return side + side % 2;
}

static orr_result open_encoder(orr_video *video, double frames_per_second, orr_error *error)
{
    const AVCodec *codec = avcodec_find_encoder_by_name("libx264");
    bool x264 = codec != NULL;
    codec = codec ? codec : avcodec_find_encoder(AV_CODEC_ID_MPEG4);
    if (!codec) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "%s: libavcodec has no encoder for .mp4: expected libx264 or mpeg4", video->path);
    }
    AVCodecContext *encoder = video->encoder = avcodec_alloc_context3(codec);
    if (!encoder) {
        return fail_av(video, "set up the encoder", AVERROR(ENOMEM), error);
    }
    encoder->log_level_offset = VIDEO_QUIET;
    encoder->width = even(video->width);
    encoder->height = even(video->height);
    encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder->framerate =
        av_d2q(frames_per_second, 60000); // 60000: MPEG-4 has 16 bits for it; 30000/1001 fits
    encoder->time_base = av_inv_q(encoder->framerate);
    encoder->color_primaries = AVCOL_PRI_BT709;
    encoder->color_trc = AVCOL_TRC_BT709;
    encoder->colorspace = AVCOL_SPC_BT709;
    encoder->color_range = AVCOL_RANGE_MPEG;
    encoder->thread_count = VIDEO_THREADS;
    if (video->file->oformat->flags & AVFMT_GLOBALHEADER) {
        encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    }
    if (x264) {
        // visually lossless; the fast preset keeps the encoder from being slower than drawing
        TRY_AV(av_opt_set(encoder->priv_data, "preset", "fast", 0), "choose the encoder's speed");
        TRY_AV(av_opt_set(encoder->priv_data, "crf", "18", 0), "choose the encoder's quality");
    } else {
        encoder->flags |= AV_CODEC_FLAG_QSCALE;
        encoder->global_quality = 2 * FF_QP2LAMBDA;
    }
    TRY_AV(avcodec_open2(encoder, codec, NULL), "open the encoder");
    return ORR_OK;
}

static orr_result open_file(orr_video *video, orr_error *error)
{
    AVStream *stream = avformat_new_stream(video->file, NULL);
    if (!stream) {
        return fail_av(video, "add a stream", AVERROR(ENOMEM), error);
    }
    stream->time_base = video->encoder->time_base;
    stream->avg_frame_rate = video->encoder->framerate;
    TRY_AV(avcodec_parameters_from_context(stream->codecpar, video->encoder), "describe the stream");
    TRY_AV(avio_open(&video->file->pb, video->url, AVIO_FLAG_WRITE), "write");
    // the index comes first, so that players can start before the file is complete
    AVDictionary *options = NULL;
    int code = av_dict_set(&options, "movflags", "+faststart", 0);
    if (code >= 0) {
        code = avformat_write_header(video->file, &options);
    }
    av_dict_free(&options);
    TRY_AV(code, "write");
    return ORR_OK;
}

static orr_result make_frame(orr_video *video, orr_error *error)
{
    int width = video->encoder->width, height = video->encoder->height;
    video->packet = av_packet_alloc();
    video->frame = av_frame_alloc();
    if (!video->packet || !video->frame) {
        return fail_av(video, "make a frame", AVERROR(ENOMEM), error);
    }
    video->frame->format = video->encoder->pix_fmt;
    video->frame->width = width;
    video->frame->height = height;
    TRY_AV(av_frame_get_buffer(video->frame, 0), "make a frame");
    video->scaler = sws_getContext(width, height, AV_PIX_FMT_RGBA, width, height, video->encoder->pix_fmt,
                                   SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, NULL, NULL, NULL);
    const int *matrix = sws_getCoefficients(SWS_CS_ITU709);
    int full_range = 1, video_range = 0, neutral = 1 << 16;
    if (!video->scaler || sws_setColorspaceDetails(video->scaler, matrix, full_range, matrix, video_range, 0,
                                                   neutral, neutral) < 0) {
        return fail_av(video, "convert colours", AVERROR(ENOMEM), error);
    }
    if (width != video->width || height != video->height) {
        ORR_ALLOC(video->padded, 4 * (int64_t)width * height, "a padded picture", error);
    }
    return ORR_OK;
}

orr_result orr_video_begin(const char *path, int width, int height, double frames_per_second, orr_video **out,
                           orr_error *error)
{
    *out = NULL;
    if (width < 1 || width > 16384 || height < 1 || height > 16384 || !(frames_per_second >= 0.1) ||
        !(frames_per_second <= 1000.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: %d x %d at %g frames/s: expected sides of 1 to 16384 and a rate of 0.1 to 1000",
                        path, width, height, frames_per_second);
    }
    orr_video *video = orr_alloc_zero(1, sizeof *video);
    if (!video) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    }
    video->width = width;
    video->height = height;
    video->path = orr_path_beside("", path);
    orr_result result = video->path ? orr_file_begin(&video->writer, video->path, error)
                                    : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    if (result == ORR_OK) {
        video->url = av_asprintf("file:%s", video->writer.temporary);
        if (!video->url || avformat_alloc_output_context2(&video->file, NULL, "mp4", video->url) < 0) {
            result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
        }
    }
    result = result == ORR_OK ? open_encoder(video, frames_per_second, error) : result;
    result = result == ORR_OK ? open_file(video, error) : result;
    result = result == ORR_OK ? make_frame(video, error) : result;
    if (result != ORR_OK) {
        orr_video_abort(video);
        return result;
    }
    *out = video;
    return ORR_OK;
}

// sends a frame to the encoder (NULL: the end) and writes the packets that it returns
static orr_result encode(orr_video *video, const AVFrame *frame, orr_error *error)
{
    TRY_AV(avcodec_send_frame(video->encoder, frame), "encode");
    for (;;) {
        int code = avcodec_receive_packet(video->encoder, video->packet);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) {
            return ORR_OK;
        }
        TRY_AV(code, "encode");
        video->packet->stream_index = 0;
        video->packet->duration = 1;
        av_packet_rescale_ts(video->packet, video->encoder->time_base, video->file->streams[0]->time_base);
        TRY_AV(av_interleaved_write_frame(video->file, video->packet), "write");
    }
}

// repeats the last column and row of an odd picture
static const uint8_t *pad(orr_video *video, const uint8_t *rgba)
{
    if (!video->padded) {
        return rgba;
    }
    size_t from = 4 * (size_t)video->width, to = 4 * (size_t)video->encoder->width;
    for (int y = 0; y < video->encoder->height; y++) {
        const uint8_t *source = rgba + (size_t)(y < video->height ? y : video->height - 1) * from;
        uint8_t *target = video->padded + (size_t)y * to;
        memcpy(target, source, from);
        memcpy(target + to - 4, source + from - 4, 4);
    }
    return video->padded;
}

orr_result orr_video_add(orr_video *video, const uint8_t *rgba, orr_error *error)
{
    TRY_AV(av_frame_make_writable(video->frame), "make a frame");
    const uint8_t *rows[1] = {pad(video, rgba)};
    const int stride[1] = {4 * video->encoder->width};
    TRY_AV(sws_scale(video->scaler, rows, stride, 0, video->encoder->height, video->frame->data,
                     video->frame->linesize),
           "convert colours");
    video->frame->pts = video->frame_count++;
    video->frame->quality = video->encoder->global_quality;
    return encode(video, video->frame, error);
}

// The container reports on stderr that it moves the index; only libav's global log level suppresses that.
static int write_trailer_quietly(AVFormatContext *file)
{
    int level = av_log_get_level();
    av_log_set_level(AV_LOG_QUIET);
    int code = av_write_trailer(file);
    av_log_set_level(level);
    return code;
}

static orr_result finish_file(orr_video *video, orr_error *error)
{
    if (video->frame_count == 0) {
        return orr_fail(error, ORR_CODE_VIDEO, "%s: no frames: expected at least one", video->path);
    }
    ORR_TRY(encode(video, NULL, error));
    TRY_AV(write_trailer_quietly(video->file), "write");
    TRY_AV(avio_closep(&video->file->pb), "write");
    return orr_file_commit(&video->writer, error);
}

orr_result orr_video_commit(orr_video *video, orr_error *error)
{
    orr_result result = finish_file(video, error);
    orr_video_abort(video);
    return result;
}

void orr_video_abort(orr_video *video)
{
    if (!video) {
        return;
    }
    sws_freeContext(video->scaler);
    av_frame_free(&video->frame);
    av_packet_free(&video->packet);
    avcodec_free_context(&video->encoder);
    if (video->file) {
        avio_closep(&video->file->pb); // harmless when it is not open
    }
    avformat_free_context(video->file);
    orr_file_abort(&video->writer);
    av_free(video->url);
    orr_free(video->padded);
    orr_free(video->path);
    orr_free(video);
}

const char *orr_video_licence(void)
{
    return avcodec_license();
}
#else
orr_result orr_video_begin(const char *path, int width, int height, double frames_per_second, orr_video **out,
                           orr_error *error)
{
    (void)width, (void)height, (void)frames_per_second;
    *out = NULL;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "%s: this build writes no video (Debian: libavcodec-dev libavformat-dev libswscale-dev)",
                    path);
}

// orr_video_begin always fails, so the calls below are never reached
orr_result orr_video_add(orr_video *video, const uint8_t *rgba, orr_error *error)
{
    (void)video, (void)rgba;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "this build writes no video");
}

orr_result orr_video_commit(orr_video *video, orr_error *error)
{
    (void)video;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "this build writes no video");
}

void orr_video_abort(orr_video *video)
{
    (void)video;
}

const char *orr_video_licence(void)
{
    return NULL;
}
#endif
