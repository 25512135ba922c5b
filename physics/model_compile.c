// A spec into a model: sizes, then every array, then what follows from the rest pose.
#include "physics/model_build.h"
#include "physics/rotation.h"

#include <stdlib.h>
#include <string.h>

int spec_find(const void *list, int count, size_t size, const char *name)
{
    for (int i = 0; i < count && name; i++) {
        const spec_head *head = (const void *)((const char *)list + (size_t)i * size);
        if (head->name && strcmp(head->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

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

static int compare_heads(const void *a, const void *b)
{
    return strcmp((*(const spec_head *const *)a)->name, (*(const spec_head *const *)b)->name);
}

static orr_result check_unique(const void *list, int count, size_t size, orr_error *error)
{
    const spec_head **heads;
    int named = 0;
    orr_result result = ORR_OK;
    ORR_ALLOC(heads, count, "the names of a model", error);
    for (int i = 0; i < count; i++) {
        const spec_head *head = (const void *)((const char *)list + (size_t)i * size);
        if (head->name) {
            heads[named++] = head;
        }
    }
    qsort(heads, (size_t)named, sizeof(spec_head *), compare_heads);
    for (int i = 1; i < named && result == ORR_OK; i++) {
        if (compare_heads(&heads[i - 1], &heads[i]) == 0) {
            int later = heads[i]->place.line > heads[i - 1]->place.line ? i : i - 1;
            result = spec_fail(heads[later], error, "this name is taken already");
        }
    }
    orr_free(heads);
    return result;
}

#define NAMED_LISTS(X)                                                                                       \
    X(bodies, name_bodyadr)                                                                                  \
    X(joints, name_jntadr)                                                                                   \
    X(sites, name_siteadr)                                                                                   \
    X(cameras, name_camadr)                                                                                  \
    X(lights, name_lightadr)                                                                                 \
    X(hfields, name_hfieldadr)                                                                               \
    X(textures, name_texadr)                                                                                 \
    X(materials, name_matadr)                                                                                \
    X(pairs, name_pairadr)                                                                                   \
    X(excludes, name_excludeadr)                                                                             \
    X(equalities, name_eqadr)                                                                                \
    X(tendons, name_tendonadr)                                                                               \
    X(actuators, name_actuatoradr)                                                                           \
    X(sensors, name_sensoradr)                                                                               \
    X(numerics, name_numericadr)                                                                             \
    X(texts, name_textadr)                                                                                   \
    X(tuples, name_tupleadr)                                                                                 \
    X(keys, name_keyadr)                                                                                     \
    X(geoms, name_geomadr)                                                                                   \
    X(meshes, name_meshadr)

static orr_result check_names(const model_builder *b)
{
#define CHECK(list, table)                                                                                   \
    ORR_TRY(check_unique(b->spec->list, b->spec->list##_count, sizeof *b->spec->list, b->error));
    NAMED_LISTS(CHECK)
#undef CHECK
    return ORR_OK;
}

static void add_name(orr_model *m, int *used, const char *name, int32_t *address)
{
    size_t size = name ? strlen(name) + 1 : 1;
    memcpy(m->names + *used, name ? name : "", size);
    *address = *used;
    *used += (int)size;
}

static orr_result count_names(model_builder *b)
{
    size_t bytes = 0;
#define COUNT(list, table)                                                                                   \
    for (int i = 0; i < b->spec->list##_count; i++) {                                                        \
        bytes += b->spec->list[i].head.name ? strlen(b->spec->list[i].head.name) + 1 : 1;                    \
    }
    NAMED_LISTS(COUNT)
#undef COUNT
    bytes += (size_t)b->m->nkey; // frames without a name
    b->m->nnames = (int32_t)bytes;
    return bytes <= INT32_MAX ? ORR_OK : spec_memory_fail(b->error);
}

static void fill_names(model_builder *b)
{
    int used = 0;
    const int *ids = NULL;
#define FILL(list, table)                                                                                    \
    ids = (const void *)b->spec->list == (const void *)b->spec->geoms    ? b->geom_ids                       \
          : (const void *)b->spec->list == (const void *)b->spec->meshes ? b->mesh_ids                       \
                                                                         : NULL;                             \
    for (int i = 0; i < b->spec->list##_count; i++) {                                                        \
        if (!ids || ids[i] >= 0) {                                                                           \
            add_name(b->m, &used, b->spec->list[i].head.name, &b->m->table[ids ? ids[i] : i]);               \
        }                                                                                                    \
    }
    NAMED_LISTS(FILL)
#undef FILL
    for (int i = b->spec->keys_count; i < b->m->nkey; i++) {
        add_name(b->m, &used, NULL, &b->m->name_keyadr[i]);
    }
}

// An array of user numbers is as wide as its longest, or as <size> says.
#define USER_SIZE(member, list)                                                                              \
    {                                                                                                        \
        int widest = 0;                                                                                      \
        for (int i = 0; i < spec->list##_count; i++) {                                                       \
            int count = spec->list[i].user.count;                                                            \
            widest = count > widest ? count : widest;                                                        \
            if (spec->size.member >= 0 && count > spec->size.member) {                                       \
                return spec_fail(&spec->list[i].head, b->error,                                              \
                                 "user: expected up to %d numbers, as <size> says", spec->size.member);      \
            }                                                                                                \
        }                                                                                                    \
        m->member = spec->size.member >= 0 ? spec->size.member : widest;                                     \
    }

static int joint_dofs(int type)
{
    return type == ORR_JOINT_FREE ? 6 : type == ORR_JOINT_BALL ? 3 : 1;
}

// The inertia matrix has an entry for each dof and each dof above it.
static orr_result count_dofs(model_builder *b)
{
    const orr_spec *spec = b->spec;
    orr_model *m = b->m;
    int *above; // dofs of a body and all above it
    ORR_ALLOC(above, spec->bodies_count, "bodies", b->error);
    int64_t entries = 0, nq = 0, nv = 0;
    int joint = 0;
    for (int i = 0; i < spec->bodies_count; i++) {
        above[i] = i ? above[spec->bodies[i].parent] : 0;
        for (; joint < spec->joints_count && spec->joints[joint].body == i; joint++) {
            int dofs = joint_dofs(spec->joints[joint].type);
            nv += dofs;
            nq += dofs + (dofs > 1);
            for (int k = 0; k < dofs; k++) {
                entries += ++above[i];
            }
        }
    }
    orr_free(above);
    m->nq = (int32_t)nq, m->nv = (int32_t)nv, m->nM = (int32_t)entries;
    return entries <= INT32_MAX / 8 ? ORR_OK
                                    : orr_fail(b->error, ORR_CODE_CAPACITY,
                                               "%s: the inertia matrix has %lld entries: "
                                               "expected up to %d",
                                               spec->path, (long long)entries, INT32_MAX / 8);
}

static orr_result add_size(const model_builder *b, int32_t *size, int64_t more)
{
    int64_t sum = *size + more;
    *size = sum <= INT32_MAX / 16 ? (int32_t)sum : 0;
    return sum <= INT32_MAX / 16 ? ORR_OK
                                 : orr_fail(b->error, ORR_CODE_CAPACITY,
                                            "%s: the model has too much data: "
                                            "expected up to %d numbers in an array",
                                            b->spec->path, INT32_MAX / 16);
}

static orr_result count_assets(model_builder *b)
{
    orr_model *m = b->m;
    for (int i = 0; i < b->spec->meshes_count; i++) {
        if (b->mesh_ids[i] < 0) {
            continue;
        }
        const mesh_data *d = &b->meshes[i];
        ORR_TRY(add_size(b, &m->nmeshvert, d->vertex_count));
        ORR_TRY(add_size(b, &m->nmeshface, d->face_count));
        ORR_TRY(add_size(b, &m->nhullvert, d->hull_vertex_count));
        ORR_TRY(add_size(b, &m->nhullface, d->hull_face_count));
        ORR_TRY(add_size(b, &m->nhulledge, d->hull_edge_count));
    }
    for (int i = 0; i < b->spec->hfields_count; i++) {
        ORR_TRY(add_size(b, &m->nhfielddata, (int64_t)b->hfields[i].rows * b->hfields[i].columns));
    }
    for (int i = 0; i < b->spec->textures_count; i++) {
        const texture_data *d = &b->textures[i];
        ORR_TRY(add_size(b, &m->ntexdata, (int64_t)d->width * d->height * d->channels));
    }
    return ORR_OK;
}

static orr_result count_sizes(model_builder *b)
{
    const orr_spec *spec = b->spec;
    orr_model *m = b->m;
    m->nbody = spec->bodies_count;
    m->njnt = spec->joints_count;
    m->nsite = spec->sites_count;
    m->ncam = spec->cameras_count;
    m->nlight = spec->lights_count;
    m->nhfield = spec->hfields_count;
    m->ntex = spec->textures_count;
    m->nmat = spec->materials_count;
    m->npair = spec->pairs_count;
    m->nexclude = spec->excludes_count;
    m->neq = spec->equalities_count;
    m->ntendon = spec->tendons_count;
    m->nwrap = spec->wraps_count;
    m->nu = spec->actuators_count;
    m->nsensor = spec->sensors_count;
    m->nnumeric = spec->numerics_count;
    m->ntext = spec->texts_count;
    m->ntuple = spec->tuples_count;
    m->ntupledata = spec->tuple_elements_count;
    m->nkey = spec->keys_count > spec->size.nkey ? spec->keys_count : spec->size.nkey;
    m->nuserdata = spec->size.nuserdata;
    for (int i = 0; i < spec->geoms_count; i++) {
        m->ngeom += b->geom_ids[i] >= 0;
    }
    for (int i = 0; i < spec->meshes_count; i++) {
        m->nmesh += b->mesh_ids[i] >= 0;
    }
    for (int i = 0; i < spec->bodies_count; i++) {
        m->nmocap += spec->bodies[i].mocap;
    }
    for (int i = 0; i < spec->actuators_count; i++) {
        const spec_actuator *a = &spec->actuators[i];
        ORR_TRY(add_size(b, &m->na, a->actdim >= 0 ? a->actdim : a->dyntype != ORR_DYNAMICS_NONE));
    }
    for (int i = 0; i < spec->numerics_count; i++) {
        ORR_TRY(add_size(b, &m->nnumericdata, spec->numerics[i].size));
    }
    for (int i = 0; i < spec->texts_count; i++) {
        ORR_TRY(add_size(b, &m->ntextdata, (int64_t)strlen(spec->texts[i].data) + 1));
    }
    USER_SIZE(nuser_body, bodies)
    USER_SIZE(nuser_jnt, joints)
    USER_SIZE(nuser_geom, geoms)
    USER_SIZE(nuser_site, sites)
    USER_SIZE(nuser_cam, cameras)
    USER_SIZE(nuser_tendon, tendons)
    USER_SIZE(nuser_actuator, actuators)
    USER_SIZE(nuser_sensor, sensors)
    ORR_TRY(count_assets(b));
    ORR_TRY(count_dofs(b));
    return count_names(b);
}

static bool is_referenced(const orr_spec *spec, const spec_geom *geom)
{
    const char *name = geom->head.name;
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

// With discardvisual, geoms that cannot touch anything and that nothing names go; then meshes that no geom has.
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
        bool visual = geom->contype == 0 && geom->conaffinity == 0 && !is_referenced(spec, geom);
        b->geom_ids[i] = discard && visual ? -1 : count++;
        int mesh = SPEC_FIND(spec, meshes, geom->mesh);
        if (discard && !visual && mesh >= 0) {
            b->mesh_ids[mesh] = 0;
        }
    }
    for (int i = 0, kept = 0; i < spec->meshes_count; i++) {
        b->mesh_ids[i] = b->mesh_ids[i] >= 0 ? kept++ : -1;
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
    for (int i = 0; i < spec->meshes_count; i++) {
        ORR_TRY(mesh_build(&spec->meshes[i], &b->meshes[i], b->error));
    }
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
}

static orr_result build(model_builder *b)
{
    ORR_TRY(check_names(b));
    ORR_TRY(choose_geoms(b));
    ORR_TRY(load_assets(b));
    ORR_TRY(count_sizes(b));
    ORR_TRY(model_allocate(b->m, b->error));
    fill_names(b);
    b->m->opt = b->spec->option;
    b->m->vis = b->spec->visual;
    memcpy(b->m->name, b->spec->name, sizeof b->m->name);
    ORR_TRY(build_assets(b));
    ORR_TRY(build_bodies(b));
    ORR_TRY(build_geoms(b));
    ORR_TRY(build_links(b));
    ORR_TRY(build_actuators(b));
    ORR_TRY(derive_constants(b));
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
