// <model>: another file, read into a spec of its own. <attach>: a part of it, copied into this spec.
#include "engine/core/file.h"
#include "physics/mjcf/mjcf.h"

#include <string.h>

enum { MODELS_MAX = 1024, MODEL_DEPTH_MAX = 32 };

static orr_result check_nesting(mjcf_reader *reader, const mjcf_node *node, const char *path)
{
    int depth = 0;
    for (const orr_spec *spec = reader->spec; spec; spec = spec->parent, depth++) {
        if (strcmp(spec->path, path) == 0) {
            return mjcf_fail(node, reader->error, "file: a model cannot be a part of itself");
        }
    }
    return depth < MODEL_DEPTH_MAX
               ? ORR_OK
               : mjcf_fail(node, reader->error, "models are nested more than %d deep", MODEL_DEPTH_MAX);
}

static orr_result load(mjcf_reader *reader, const mjcf_node *node, spec_model *model)
{
    orr_bytes bytes;
    orr_error reason;
    if (orr_file_read(model->file, &bytes, &reason) != ORR_OK) {
        return mjcf_fail(node, reader->error, "file: %.300s", reason.message);
    }
    orr_spec *made = orr_alloc(1, sizeof *made);
    if (!made) {
        orr_free(bytes.data);
        return spec_memory_fail(reader->error);
    }
    spec_init(made, model->file);
    made->parent = reader->spec;
    model->spec = made;
    orr_result result = reader->read_file(made, (const char *)bytes.data, bytes.size, reader->error);
    orr_free(bytes.data);
    return result;
}

orr_result mjcf_read_model(mjcf_reader *reader, const mjcf_node *node)
{
    static const char *const own[] = {"file", "content_type", NULL}; // the root element decides
    orr_spec *spec = reader->spec;
    const char *file = mjcf_find(node, "file");
    ORR_TRY(mjcf_read(node, mjcf_no_members, own, NULL, spec, reader->error));
    spec_model *model = SPEC_APPEND(spec, models);
    if (!model) {
        return spec_memory_fail(reader->error);
    }
    ORR_TRY(mjcf_head(reader, node, &model->head));
    if (!file || !file[0]) {
        return mjcf_fail(node, reader->error, "file: expected one");
    }
    model->file = mjcf_file(spec, node, NULL, file);
    if (!model->file) {
        return spec_memory_fail(reader->error);
    }
    ORR_TRY(check_nesting(reader, node, model->file));
    ORR_TRY(load(reader, node, model));
    if (!model->head.name) { // that in the file
        model->head.name = model->spec->name;
    }
    return ORR_OK;
}

// ---- frames with names

static spec_span *find_span(const orr_spec *spec, const mjcf_node *node)
{
    int i = spec->spans_count - 1;
    while (i >= 0 && spec->spans[i].node != node) {
        i--;
    }
    return i >= 0 ? &spec->spans[i] : NULL;
}

orr_result mjcf_span_elements(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *around,
                              bool before)
{
    orr_spec *spec = reader->spec;
    if (!mjcf_find(node, "name")) {
        return ORR_OK;
    }
    spec_span *span = before ? SPEC_APPEND(spec, spans) : find_span(spec, node);
    if (!span) {
        return spec_memory_fail(reader->error);
    }
    if (before) {
        ORR_TRY(mjcf_head(reader, node, &span->head));
        span->node = node;
        span->body = around->body;
        memcpy(span->pos, around->pos, sizeof span->pos);
        memcpy(span->quat, around->quat, sizeof span->quat);
    }
#define NOTE(list) *(before ? &span->list.first : &span->list.end) = spec->list##_count;
    SPEC_ELEMENT_LISTS(NOTE)
#undef NOTE
    return ORR_OK;
}

void mjcf_span_bodies(mjcf_reader *reader, const mjcf_node *node, bool before)
{
    spec_span *span = find_span(reader->spec, node);
    if (span) {
        *(before ? &span->bodies.first : &span->bodies.end) = reader->spec->bodies_count;
    }
}

// ---- <attach>

// Which part of the model: a body with all below it, a frame, or everything in its world.
static orr_result choose_part(mjcf_reader *reader, const mjcf_node *node, spec_attachment *part)
{
    const orr_spec *from = part->from;
    const char *body = mjcf_find(node, "body"), *frame = mjcf_find(node, "frame");
    part->bodies = (spec_range){1, from->bodies_count};
    if (body && frame) {
        return mjcf_fail(node, reader->error, "body and frame: expected one of them");
    }
    if (frame) {
        int i = SPEC_FIND(from, spans, frame);
        if (i < 0) {
            return mjcf_fail(node, reader->error, "the model has no frame '%.64s'", frame);
        }
        part->span = &from->spans[i];
        part->host = part->span->body;
        part->bodies = part->span->bodies;
    }
    if (body) {
        int first = SPEC_FIND(from, bodies, body), end = first + 1;
        if (first < 0) {
            return mjcf_fail(node, reader->error, "the model has no body '%.64s'", body);
        }
        while (end < from->bodies_count && from->bodies[end].parent >= first) {
            end++;
        }
        part->host = -1;
        part->bodies = (spec_range){first, end};
    }
    return ORR_OK;
}

static int *make_map(orr_arena *arena, int count)
{
    int *map = orr_arena_take(arena, (size_t)count, sizeof *map);
    for (int i = 0; map && i < count; i++) {
        map[i] = -1;
    }
    return map;
}

static spec_at spec_at_of(const mjcf_frame *at)
{
    spec_at result = {.body = at->body};
    memcpy(result.pos, at->pos, sizeof result.pos);
    memcpy(result.quat, at->quat, sizeof result.quat);
    return result;
}

static orr_result add_attachment(mjcf_reader *reader, const mjcf_node *node)
{
    static const char *const own[] = {"model", "body", "frame", "prefix", NULL};
    orr_spec *spec = reader->spec;
    const char *name = mjcf_find(node, "model"), *prefix = mjcf_find(node, "prefix");
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_read(node, mjcf_no_members, own, NULL, spec, reader->error));
    int model = SPEC_FIND(spec, models, name);
    if (model < 0 || !prefix) {
        return !name || !prefix
                   ? mjcf_fail(node, reader->error,
                               "expected model and prefix (a model cannot be attached to itself)")
                   : mjcf_fail(node, reader->error, "there is no model '%.64s'", name);
    }
    spec_attachment *part = SPEC_APPEND(spec, attachments);
    if (!part) {
        return spec_memory_fail(reader->error);
    }
    const orr_spec *from = spec->models[model].spec;
    *part = (spec_attachment){.node = node,
                              .from = spec->models[model].spec,
                              .prefix = prefix,
                              .ending = node->ending ? node->ending : "",
                              .body = make_map(&spec->arena, from->bodies_count),
                              .joint = make_map(&spec->arena, from->joints_count),
                              .actuator = make_map(&spec->arena, from->actuators_count)};
    if (!part->body || !part->joint || !part->actuator) {
        return spec_memory_fail(reader->error);
    }
    ORR_TRY(mjcf_head(reader, node, &part->head));
    return choose_part(reader, node, part);
}

orr_result mjcf_find_attachments(mjcf_reader *reader, const mjcf_node *parent)
{
    for (const mjcf_node *node = parent->children; node; node = node->next) {
        if (mjcf_is(node, "attach")) {
            ORR_TRY(add_attachment(reader, node));
        } else if (mjcf_is(node, "body") || mjcf_is(node, "frame") || mjcf_is(node, "replicate")) {
            ORR_TRY(mjcf_find_attachments(reader, node));
        }
    }
    return ORR_OK;
}

static const spec_attachment *attachment_of(const orr_spec *spec, const mjcf_node *node)
{
    const spec_attachment *part = spec->attachments;
    while (part->node != node) {
        part++;
    }
    return part;
}

orr_result mjcf_attach_elements(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    const spec_at here = spec_at_of(at);
    return spec_attach_elements(reader->spec, attachment_of(reader->spec, node), &here, reader->error);
}

orr_result mjcf_attach_bodies(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    const spec_at here = spec_at_of(at);
    return spec_attach_bodies(reader->spec, attachment_of(reader->spec, node), &here, reader->error);
}
