#include "physics/model/visuals.h"

#include "physics/model/compile.h"

#include <stdio.h>
#include <string.h>

void orr_visuals_destroy(orr_visuals *visuals)
{
    if (visuals) {
        orr_arena_destroy(&visuals->memory);
        orr_free(visuals);
    }
}

// A copy that lives as long as the visuals; *good becomes false without memory.
static const char *kept(orr_visuals *visuals, const char *text, bool *good)
{
    if (!text) {
        return NULL;
    }
    size_t size = strlen(text) + 1;
    char *copy = orr_arena_take(&visuals->memory, size, 1);
    *good = *good && copy;
    return copy ? memcpy(copy, text, size) : NULL;
}

// Visuals of a link are one after the other; the first gives its number.
static int32_t number_of_link(const orr_spec *spec, int visual, const orr_visual *list)
{
    const spec_visual *v = &spec->visuals[visual];
    return visual > 0 && v[-1].link == v->link && v[-1].body == v->body ? list[visual - 1].link : visual;
}

// A visual of the link that a geom is of, searched from the last one that was found on: both lists are in the
// order of bodies. -1: there is none.
static int visual_beside(const orr_spec *spec, const spec_geom *geom, int last)
{
    for (int i = 0; i < spec->visuals_count && geom->link; i++) {
        const int at = (last + i) % spec->visuals_count;
        if (spec->visuals[at].link == geom->link && spec->visuals[at].body == geom->body) {
            return at;
        }
    }
    return -1;
}

static int32_t geom_of(const model_builder *b, const spec_visual *visual)
{
    const bool kept = !b->spec->compiler.discardvisual;
    for (int i = 0; i < b->spec->geoms_count && kept; i++) {
        const spec_geom *geom = &b->spec->geoms[i];
        if (geom->visual == visual->element && geom->body == visual->body && b->geom_ids[i] >= 0) {
            return b->geom_ids[i];
        }
    }
    return -1;
}

static bool fill(const model_builder *b, int index, orr_visuals *visuals)
{
    const spec_visual *from = &b->spec->visuals[index];
    orr_visual *to = &visuals->list[index];
    char place[512];
    bool good = true;
    const spec_location *at = &from->head.location;
    snprintf(place, sizeof place, "%.400s:%d: <%.64s>", at->file, at->line, at->element);
    *to = (orr_visual){.name = kept(visuals, from->head.name, &good),
                       .place = kept(visuals, place, &good),
                       .wrong = kept(visuals, from->wrong, &good),
                       .body = from->body,
                       .link = number_of_link(b->spec, index, visuals->list),
                       .geom = geom_of(b, from),
                       .group = from->group,
                       .type = from->type,
                       .mesh = kept(visuals, from->mesh, &good),
                       .texture = kept(visuals, from->texture, &good),
                       .coloured = from->coloured};
    memcpy(to->pos, from->pos, sizeof to->pos);
    memcpy(to->quat, from->orientation.quat, sizeof to->quat);
    memcpy(to->size, from->size, sizeof to->size);
    memcpy(to->rgba, from->rgba, sizeof to->rgba);
    return good;
}

orr_result build_visuals(model_builder *b)
{
    const orr_spec *spec = b->spec;
    const int count = spec->visuals_count, geoms = b->m->ngeom;
    if (count == 0) {
        return ORR_OK;
    }
    orr_visuals *visuals = b->m->visuals = orr_alloc_zero(1, sizeof *visuals);
    if (!visuals) {
        return spec_memory_fail(b->error);
    }
    visuals->count = count;
    visuals->list = orr_arena_take(&visuals->memory, (size_t)count, sizeof *visuals->list);
    visuals->geom_link = orr_arena_take(&visuals->memory, (size_t)geoms, sizeof *visuals->geom_link);
    bool good = visuals->list && visuals->geom_link;
    for (int i = 0; i < count && good; i++) {
        good = fill(b, i, visuals);
    }
    for (int i = 0, last = 0; i < spec->geoms_count && good; i++) {
        const int at = visual_beside(spec, &spec->geoms[i], last);
        last = at >= 0 ? at : last;
        if (b->geom_ids[i] >= 0) {
            visuals->geom_link[b->geom_ids[i]] = at >= 0 ? visuals->list[at].link : -1;
        }
    }
    return good ? ORR_OK : spec_memory_fail(b->error);
}
