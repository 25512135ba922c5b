#define _GNU_SOURCE
#include "engine/image/video_reader.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "orr_features.h"

#if ORR_HAVE_VIDEO
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libswscale/swscale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    IO_BLOCK = 1 << 16,
    PROBE_BYTES = 5 << 20,
    STREAMS_MAX = 64,
    DECODER_QUIET = 100 // added to the level of every log line of the decoder, so that none is printed
};

static const char containers[] = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts";

struct orr_video_reader {
    char *name;
    FILE *stream; // NULL: from memory
    const uint8_t *data;
    int64_t size, at; // of the memory
    AVIOContext *io;
    AVFormatContext *file;
    AVCodecContext *decoder;
    AVFrame *frame;
    AVPacket *packet;
    struct SwsContext *scaler;
    uint8_t *rgba, *turned;          // frames as stored and as shown; turned NULL: they are the same
    int stream_index, quarter_turns; // counter-clockwise
    int coded_width, coded_height;
    bool draining;
    orr_video_info info;
};

static orr_result fail_av(const orr_video_reader *reader, const char *what, int code, orr_error *error)
{
    char why[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(code, why, sizeof why);
    return orr_fail(error, code == AVERROR(ENOMEM) ? ORR_CODE_OUT_OF_MEMORY : ORR_CODE_VIDEO,
                    "%s: cannot %s: %s", reader->name, what, why);
}

#define TRY_AV(call, what)                                                                                   \
    do {                                                                                                     \
        int try_av_code = (call);                                                                            \
        if (try_av_code < 0) {                                                                               \
            return fail_av(reader, what, try_av_code, error);                                                \
        }                                                                                                    \
    } while (0)

// ---- bytes ----

static int read_bytes(void *user, uint8_t *block, int size)
{
    orr_video_reader *reader = user;
    size_t got;
    if (reader->stream) {
        got = fread(block, 1, (size_t)size, reader->stream);
    } else {
        int64_t left = reader->size - reader->at;
        got = (size_t)(left < size ? left : size);
        memcpy(block, reader->data + reader->at, got);
        reader->at += (int64_t)got;
    }
    return got > 0 ? (int)got : AVERROR_EOF;
}

static int64_t seek_bytes(void *user, int64_t offset, int whence)
{
    orr_video_reader *reader = user;
    if (whence == AVSEEK_SIZE) {
        return reader->size;
    }
    if (whence != SEEK_SET || offset < 0 || offset > reader->size) {
        return AVERROR(EINVAL);
    }
    reader->at = offset;
    return !reader->stream || fseeko(reader->stream, (off_t)offset, SEEK_SET) == 0 ? offset : AVERROR(EIO);
}

// Containers name other files, which are not opened.
static int open_nothing(AVFormatContext *file, AVIOContext **io, const char *url, int flags,
                        AVDictionary **options)
{
    (void)file, (void)url, (void)flags, (void)options;
    *io = NULL;
    return AVERROR(EPERM);
}

// ---- opening ----

static orr_result open_container(orr_video_reader *reader, orr_error *error)
{
    uint8_t *block = av_malloc(IO_BLOCK);
    reader->io = block ? avio_alloc_context(block, IO_BLOCK, 0, reader, read_bytes, NULL, seek_bytes) : NULL;
    reader->file = avformat_alloc_context();
    if (!reader->io || !reader->file) {
        av_freep(reader->io ? &reader->io->buffer : &block);
        return fail_av(reader, "read", AVERROR(ENOMEM), error);
    }
    reader->file->pb = reader->io;
    reader->file->io_open = open_nothing;
    reader->file->probesize = PROBE_BYTES;
    reader->file->max_streams = STREAMS_MAX;
    reader->file->format_whitelist = av_strdup(containers); // freed with the file
    int code = avformat_open_input(&reader->file, "", NULL, NULL);
    if (code == AVERROR_INVALIDDATA || code == AVERROR(EINVAL)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE,
                        "%s: not a video: expected MP4, QuickTime, Matroska, WebM, AVI or MPEG-TS",
                        reader->name);
    }
    TRY_AV(code, "read");
    TRY_AV(avformat_find_stream_info(reader->file, NULL), "find its streams");
    reader->stream_index = av_find_best_stream(reader->file, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    TRY_AV(reader->stream_index, "find a stream of pictures");
    return ORR_OK;
}

static orr_result open_decoder(orr_video_reader *reader, orr_error *error)
{
    const AVStream *stream = reader->file->streams[reader->stream_index];
    const AVCodec *codec = avcodec_find_decoder(stream->codecpar->codec_id);
    if (!codec) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: libavcodec has no decoder for %s", reader->name,
                        avcodec_get_name(stream->codecpar->codec_id));
    }
    reader->decoder = avcodec_alloc_context3(codec);
    reader->frame = av_frame_alloc();
    reader->packet = av_packet_alloc();
    if (!reader->decoder || !reader->frame || !reader->packet) {
        return fail_av(reader, "decode", AVERROR(ENOMEM), error);
    }
    reader->decoder->log_level_offset = DECODER_QUIET;
    TRY_AV(avcodec_parameters_to_context(reader->decoder, stream->codecpar), "decode");
    reader->decoder->max_pixels = ORR_VIDEO_PIXELS_MAX;
    reader->decoder->thread_count = 1; // a fuzzer's file costs no threads; frames are decoded once or twice
    TRY_AV(avcodec_open2(reader->decoder, codec, NULL), "open the decoder");
    return ORR_OK;
}

static int quarter_turns_of(const AVStream *stream)
{
    const uint8_t *matrix = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, NULL);
    double degrees = matrix ? av_display_rotation_get((const int32_t *)(const void *)matrix) : 0.0;
    return isfinite(degrees) ? ((int)lrint(degrees / 90.0) % 4 + 4) % 4 : 0;
}

static orr_result measure(orr_video_reader *reader, orr_error *error)
{
    const AVStream *stream = reader->file->streams[reader->stream_index];
    int width = stream->codecpar->width, height = stream->codecpar->height;
    if (width < 1 || height < 1 || width > 16384 || height > 16384 ||
        (int64_t)width * height > ORR_VIDEO_PIXELS_MAX) {
        return orr_fail(error, ORR_CODE_VIDEO,
                        "%s: frames of %d x %d pixels: expected sides of 1 to 16384 and at most %d pixels",
                        reader->name, width, height, ORR_VIDEO_PIXELS_MAX);
    }
    reader->coded_width = width;
    reader->coded_height = height;
    reader->quarter_turns = quarter_turns_of(stream);
    bool turned = reader->quarter_turns % 2 != 0;
    double rate = av_q2d(stream->avg_frame_rate.den ? stream->avg_frame_rate : stream->r_frame_rate);
    double seconds = (double)reader->file->duration / AV_TIME_BASE;
    reader->info = (orr_video_info){.width = turned ? height : width, .height = turned ? width : height};
    reader->info.frames_per_second = rate > 0.0 && rate < 1e6 ? rate : 0.0;
    double frames = seconds * reader->info.frames_per_second;
    reader->info.frames = frames >= 1.0 && frames < 1e9 ? llrint(frames) : 0;
    ORR_ALLOC(reader->rgba, 4 * (int64_t)width * height, "a frame of a video", error);
    if (reader->quarter_turns != 0) {
        ORR_ALLOC(reader->turned, 4 * (int64_t)width * height, "a frame of a video", error);
    }
    return ORR_OK;
}

// Libraries below print through libav's one log level, which is put back.
static orr_result open_quietly(orr_video_reader *reader, orr_error *error)
{
    int level = av_log_get_level();
    av_log_set_level(AV_LOG_QUIET);
    orr_result result = open_container(reader, error);
    result = result == ORR_OK ? open_decoder(reader, error) : result;
    result = result == ORR_OK ? measure(reader, error) : result;
    av_log_set_level(level);
    return result;
}

static orr_result open_reader(const char *name, FILE *stream, const void *data, int64_t size,
                              orr_video_reader **out, orr_error *error)
{
    orr_video_reader *reader = orr_alloc_zero(1, sizeof *reader);
    if (!reader) {
        if (stream) {
            fclose(stream);
        }
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", name);
    }
    reader->stream = stream;
    reader->data = data;
    reader->size = size;
    reader->name = orr_path_beside("", name);
    orr_result result = reader->name ? open_quietly(reader, error)
                                     : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", name);
    if (result != ORR_OK) {
        orr_video_reader_close(reader);
        return result;
    }
    *out = reader;
    return ORR_OK;
}

orr_result orr_video_reader_open(const char *path, orr_video_reader **reader, orr_error *error)
{
    FILE *stream;
    *reader = NULL;
    ORR_TRY(orr_file_open(path, &stream, error));
    int64_t size = fseeko(stream, 0, SEEK_END) == 0 ? (int64_t)ftello(stream) : -1;
    if (size < 0 || fseeko(stream, 0, SEEK_SET) != 0) {
        fclose(stream);
        return orr_fail(error, ORR_CODE_FILE_READ, "%s: cannot read", path);
    }
    return open_reader(path, stream, NULL, size, reader, error);
}

orr_result orr_video_reader_parse(const void *data, size_t size, const char *name, orr_video_reader **reader,
                                  orr_error *error)
{
    *reader = NULL;
    return open_reader(name, NULL, data, (int64_t)size, reader, error);
}

orr_video_info orr_video_reader_info(const orr_video_reader *reader)
{
    return reader->info;
}

// ---- frames ----

static orr_result convert(orr_video_reader *reader, orr_error *error)
{
    const AVFrame *frame = reader->frame;
    int width = reader->coded_width, height = reader->coded_height;
    if (frame->width != width || frame->height != height) {
        return orr_fail(error, ORR_CODE_VIDEO, "%s: a frame of %d x %d pixels: expected %d x %d as before",
                        reader->name, frame->width, frame->height, width, height);
    }
    reader->scaler =
        sws_getCachedContext(reader->scaler, width, height, frame->format, width, height, AV_PIX_FMT_RGBA,
                             SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, NULL, NULL, NULL);
    if (!reader->scaler) {
        return fail_av(reader, "convert colours", AVERROR(EINVAL), error);
    }
    // what does not say its colours has those of its size, as players assume
    int space = frame->colorspace == AVCOL_SPC_UNSPECIFIED ? (height >= 720 ? AVCOL_SPC_BT709 : SWS_CS_ITU601)
                                                           : (int)frame->colorspace;
    const int *matrix = sws_getCoefficients(space);
    sws_setColorspaceDetails(reader->scaler, matrix, frame->color_range == AVCOL_RANGE_JPEG, matrix, 1, 0,
                             1 << 16, 1 << 16);
    uint8_t *const rows[1] = {reader->rgba};
    const int stride[1] = {4 * width};
    TRY_AV(sws_scale(reader->scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, height, rows,
                     stride),
           "convert colours");
    return ORR_OK;
}

static const uint8_t *turn(const orr_video_reader *reader)
{
    int width = reader->coded_width, height = reader->coded_height;
    if (!reader->turned) {
        return reader->rgba;
    }
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int to_x = reader->quarter_turns == 1   ? y
                       : reader->quarter_turns == 2 ? width - 1 - x
                                                    : height - 1 - y;
            int to_y = reader->quarter_turns == 1   ? width - 1 - x
                       : reader->quarter_turns == 2 ? height - 1 - y
                                                    : x;
            memcpy(reader->turned + 4 * ((size_t)to_y * (size_t)reader->info.width + (size_t)to_x),
                   reader->rgba + 4 * ((size_t)y * (size_t)width + (size_t)x), 4);
        }
    }
    return reader->turned;
}

// The next packet of the stream goes to the decoder; at the end of the file, the sign to finish.
static int feed(orr_video_reader *reader)
{
    for (;;) {
        int code = av_read_frame(reader->file, reader->packet);
        if (code < 0) { // a file that is cut short ends there
            reader->draining = true;
            return avcodec_send_packet(reader->decoder, NULL);
        }
        bool wanted = reader->packet->stream_index == reader->stream_index;
        code = wanted ? avcodec_send_packet(reader->decoder, reader->packet) : 0;
        av_packet_unref(reader->packet);
        if (wanted && (code >= 0 || code == AVERROR(ENOMEM))) {
            return code;
        }
    }
}

static orr_result next_frame(orr_video_reader *reader, const uint8_t **rgba, orr_error *error)
{
    for (;;) {
        int code = avcodec_receive_frame(reader->decoder, reader->frame);
        if (code == AVERROR_EOF || (code < 0 && reader->draining)) {
            return ORR_OK;
        }
        if (code == AVERROR(EAGAIN) || code == AVERROR_INVALIDDATA) {
            TRY_AV(feed(reader), "decode");
            continue;
        }
        TRY_AV(code, "decode");
        ORR_TRY(convert(reader, error));
        *rgba = turn(reader);
        return ORR_OK;
    }
}

orr_result orr_video_reader_next(orr_video_reader *reader, const uint8_t **rgba, orr_error *error)
{
    int level = av_log_get_level();
    av_log_set_level(AV_LOG_QUIET);
    *rgba = NULL;
    orr_result result = next_frame(reader, rgba, error);
    av_log_set_level(level);
    return result;
}

void orr_video_reader_close(orr_video_reader *reader)
{
    if (!reader) {
        return;
    }
    sws_freeContext(reader->scaler);
    av_frame_free(&reader->frame);
    av_packet_free(&reader->packet);
    avcodec_free_context(&reader->decoder);
    avformat_close_input(&reader->file);
    if (reader->io) {
        av_freep(&reader->io->buffer);
        avio_context_free(&reader->io);
    }
    if (reader->stream) {
        fclose(reader->stream);
    }
    orr_free(reader->rgba);
    orr_free(reader->turned);
    orr_free(reader->name);
    orr_free(reader);
}
#else
static orr_result absent(const char *path, orr_video_reader **reader, orr_error *error)
{
    *reader = NULL;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "%s: this build reads no video (Debian: libavcodec-dev libavformat-dev libswscale-dev)",
                    path);
}

orr_result orr_video_reader_open(const char *path, orr_video_reader **reader, orr_error *error)
{
    return absent(path, reader, error);
}

orr_result orr_video_reader_parse(const void *data, size_t size, const char *name, orr_video_reader **reader,
                                  orr_error *error)
{
    (void)data, (void)size;
    return absent(name, reader, error);
}

// no reader is ever open, so the calls below are never reached
orr_video_info orr_video_reader_info(const orr_video_reader *reader)
{
    (void)reader;
    return (orr_video_info){0};
}

orr_result orr_video_reader_next(orr_video_reader *reader, const uint8_t **rgba, orr_error *error)
{
    (void)reader;
    *rgba = NULL;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "this build reads no video");
}

void orr_video_reader_close(orr_video_reader *reader)
{
    (void)reader;
}
#endif
