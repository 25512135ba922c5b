// A spec into a model: sizes, then every array but what follows from the rest pose (pose/constants.h).
#include "physics/model/compile.h"
#include "engine/maths/rotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

orr_result builder_limited(const model_builder *b, const spec_head *head, const char *what, int limited,
                           const double range[2], uint8_t *out)
{
    bool has_range = range[0] < range[1];
    if (limited == SPEC_AUTO && has_range && !b->spec->compiler.autolimits) {
        return spec_fail(head, b->error, "%s is given and autolimits is false: expected %slimited", what,
                         what);
    }
    *out = limited == 1 || (limited == SPEC_AUTO && has_range);
    if (limited == 1 && !has_range) {
        return spec_fail(head, b->error, "%s: expected two numbers, the smaller first", what);
    }
    return ORR_OK;
}

// Does a sensor measure the distance to all geoms of the body?
static bool is_measured(const orr_spec *spec, const spec_geom *geom)
{
    const char *body = spec->bodies[geom->body].head.name;
    for (int i = 0; i < spec->sensors_count && body; i++) {
        const spec_sensor *s = &spec->sensors[i];
        if (s->type >= ORR_SENSOR_GEOMDIST && s->type <= ORR_SENSOR_GEOMFROMTO &&
            ((s->objtype == ORR_OBJECT_BODY && strcmp(s->object, body) == 0) ||
             (s->reftype == ORR_OBJECT_BODY && strcmp(s->reference, body) == 0))) {
            return true;
        }
    }
    return false;
}

static bool is_referenced(const orr_spec *spec, const spec_geom *geom)
{
    const char *name = geom->head.name;
    if (is_measured(spec, geom)) {
        return true;
    }
    for (int i = 0; i < spec->pairs_count && name; i++) {
        if (strcmp(spec->pairs[i].geom1, name) == 0 || strcmp(spec->pairs[i].geom2, name) == 0) {
            return true;
        }
    }
    for (int i = 0; i < spec->wraps_count && name; i++) {
        if (spec->wraps[i].type == ORR_WRAP_SPHERE && strcmp(spec->wraps[i].object, name) == 0) {
            return true;
        }
    }
    for (int i = 0; i < spec->sensors_count && name; i++) {
        const spec_sensor *s = &spec->sensors[i];
        if ((s->objtype == ORR_OBJECT_GEOM && strcmp(s->object, name) == 0) ||
            (s->reftype == ORR_OBJECT_GEOM && strcmp(s->reference, name) == 0)) {
            return true;
        }
    }
    return false;
}

bool is_discarded(const orr_spec *spec, const spec_geom *geom)
{
    return spec->compiler.discardvisual && geom->contype == 0 && geom->conaffinity == 0 &&
           !geom->fluidshape && !is_referenced(spec, geom);
}

// Geoms that are discarded are left out, then meshes that no geom and no sensor uses.
static orr_result choose_geoms(model_builder *b)
{
    const orr_spec *spec = b->spec;
    bool discard = spec->compiler.discardvisual != 0;
    ORR_ALLOC(b->geom_ids, spec->geoms_count, "geoms", b->error);
    ORR_ALLOC(b->mesh_ids, spec->meshes_count, "meshes", b->error);
    for (int i = 0; i < spec->meshes_count; i++) {
        b->mesh_ids[i] = discard ? -1 : i;
    }
    int count = 0;
    for (int i = 0; i < spec->geoms_count; i++) {
        const spec_geom *geom = &spec->geoms[i];
        bool left_out = is_discarded(spec, geom);
        b->geom_ids[i] = left_out ? -1 : count++;
        int mesh = SPEC_FIND(spec, meshes, geom->mesh);
        if (discard && !left_out && mesh >= 0) {
            b->mesh_ids[mesh] = 0;
        }
    }
    for (int i = 0; i < spec->sensors_count; i++) {
        const int mesh = sensed_mesh(spec, &spec->sensors[i]);
        if (discard && mesh >= 0) {
            b->mesh_ids[mesh] = 0;
        }
    }
    for (int i = 0, kept = 0; i < spec->meshes_count; i++) {
        b->mesh_ids[i] = b->mesh_ids[i] >= 0 ? kept++ : -1;
    }
    return ORR_OK;
}

static orr_result load_meshes(model_builder *b)
{
    const orr_spec *spec = b->spec;
    bool *collides = orr_alloc_zero((size_t)spec->meshes_count, sizeof *collides);
    orr_result result = collides ? ORR_OK : spec_memory_fail(b->error);
    for (int i = 0; i < spec->geoms_count && result == ORR_OK; i++) {
        const spec_geom *geom = &spec->geoms[i];
        bool as_mesh = geom->type == ORR_GEOM_MESH || geom->function.kind;
        int mesh = as_mesh ? SPEC_FIND(spec, meshes, geom->mesh) : -1;
        if (mesh >= 0 && geom->function.kind == ORR_FUNCTION_OCTREE) {
            b->meshes[mesh].as_octree = true;
            if (spec->meshes[mesh].function.kind) {
                result = spec_fail(&geom->head, b->error, "expected the plugin of its mesh");
            }
        }
        if (mesh >= 0 && !collides[mesh]) {
            collides[mesh] = geom->contype != 0 || geom->conaffinity != 0 || is_referenced(spec, geom);
        }
    }
    for (int i = 0; i < spec->sensors_count && result == ORR_OK; i++) {
        const int mesh = sensed_mesh(spec, &spec->sensors[i]);
        if (mesh >= 0) {
            b->meshes[mesh].sensed = true;
        }
    }
    for (int i = 0; i < spec->meshes_count && result == ORR_OK; i++) {
        const spec_mesh *mesh = &spec->meshes[i];
        result = mesh_build(mesh, collides[i], &b->meshes[i], b->error);
        if (b->meshes[i].thickened) {
            spec_note(b->spec, mesh->head.location.file, mesh->head.location.line,
                      "<mesh>: '%.64s' is flat: its hull gets a thickness of 2 mm", mesh->head.name);
        }
    }
    orr_free(collides);
    return result;
}

static orr_result check_grids(const model_builder *b)
{
    for (int i = 0; i < b->spec->grids_count; i++) {
        const spec_grid *grid = &b->spec->grids[i];
        orr_error reason;
        if (orr_distance_grid_check(grid->grid, "grid", &reason) != ORR_OK) {
            return spec_fail(&grid->head, b->error, "%.300s", reason.message);
        }
        if (!isfinite(grid->scale) || !(grid->scale > 0.0)) {
            return spec_fail(&grid->head, b->error, "scale: expected a positive number");
        }
    }
    return ORR_OK;
}

static orr_result load_assets(model_builder *b)
{
    const orr_spec *spec = b->spec;
    b->meshes = orr_alloc_zero((size_t)spec->meshes_count, sizeof *b->meshes);
    b->hfields = orr_alloc_zero((size_t)spec->hfields_count, sizeof *b->hfields);
    b->textures = orr_alloc_zero((size_t)spec->textures_count, sizeof *b->textures);
    if (!b->meshes || !b->hfields || !b->textures) {
        return spec_memory_fail(b->error);
    }
    ORR_TRY(check_grids(b));
    ORR_TRY(load_meshes(b));
    for (int i = 0; i < spec->hfields_count; i++) {
        ORR_TRY(hfield_build(&spec->hfields[i], &b->hfields[i], b->error));
    }
    for (int i = 0; i < spec->textures_count; i++) {
        ORR_TRY(texture_build(&spec->textures[i], &b->textures[i], b->error));
    }
    return ORR_OK;
}

static void free_assets(model_builder *b)
{
    for (int i = 0; b->meshes && i < b->spec->meshes_count; i++) {
        mesh_data_free(&b->meshes[i]);
    }
    for (int i = 0; b->hfields && i < b->spec->hfields_count; i++) {
        orr_free(b->hfields[i].samples);
    }
    for (int i = 0; b->textures && i < b->spec->textures_count; i++) {
        orr_free(b->textures[i].pixels);
    }
    orr_free(b->meshes);
    orr_free(b->hfields);
    orr_free(b->textures);
    orr_free(b->geom_ids);
    orr_free(b->mesh_ids);
    orr_free(b->inertias);
}

static orr_result build(model_builder *b)
{
    ORR_TRY(check_names(b));
    ORR_TRY(load_assets(b));
    ORR_TRY(resolve_masses(b));
    ORR_TRY(align_free(b));
    if (b->spec->compiler.fusestatic) {
        ORR_TRY(fuse_static(b));
    }
    ORR_TRY(choose_geoms(b));
    ORR_TRY(count_sizes(b));
    ORR_TRY(model_allocate(b->m, b->spec->path, b->error));
    fill_names(b);
    b->m->opt = b->spec->option;
    b->m->vis = b->spec->visual;
    memcpy(b->m->name, b->spec->name, sizeof b->m->name);
    b->m->unused = b->spec->unused;
    ORR_TRY(build_assets(b));
    ORR_TRY(build_bodies(b));
    ORR_TRY(build_masses(b));
    ORR_TRY(build_geoms(b));
    ORR_TRY(build_visuals(b));
    ORR_TRY(build_cables(b));
    ORR_TRY(build_flexes(b));
    ORR_TRY(build_views(b));
    ORR_TRY(build_contact_equality_tendon(b));
    ORR_TRY(build_actuators(b));
    ORR_TRY(build_sleep(b));
    return build_custom(b);
}

orr_result orr_model_compile(orr_spec *spec, orr_model **model, orr_error *error)
{
    *model = NULL;
    model_builder b = {.spec = spec, .m = orr_alloc_zero(1, sizeof *b.m), .error = error};
    if (!b.m) {
        return spec_memory_fail(error);
    }
    orr_result result = build(&b);
    free_assets(&b);
    if (result != ORR_OK) {
        orr_model_destroy(b.m);
        return result;
    }
    *model = b.m;
    return ORR_OK;
}
