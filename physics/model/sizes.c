// The sizes of a model.
#include "physics/model/compile.h"

#include <string.h>

enum { ACTDIM_MAX = 1 << 16, NSAMPLE_MAX = 1 << 16 };

// Rows of user numbers are as long as the longest, or as <size> gives.
// kept: whether element i of the list is part of the model
#define USER_SIZE(member, list, kept)                                                                        \
    {                                                                                                        \
        int widest = 0;                                                                                      \
        for (int i = 0; i < spec->list##_count; i++) {                                                       \
            int count = spec->list[i].user.count;                                                            \
            widest = (kept) && count > widest ? count : widest;                                              \
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

// The inertia matrix has an entry for each dof and each of its ancestors.
static orr_result count_dofs(model_builder *b)
{
    const orr_spec *spec = b->spec;
    orr_model *m = b->m;
    int *above; // dofs of a body and its ancestors
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

orr_result add_size(const model_builder *b, int32_t *size, int64_t more)
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
        ORR_TRY(add_size(b, &m->noctree, d->octree_count));
    }
    for (int i = 0; i < b->spec->hfields_count; i++) {
        ORR_TRY(add_size(b, &m->nhfielddata, (int64_t)b->hfields[i].rows * b->hfields[i].columns));
    }
    for (int i = 0; i < b->spec->grids_count; i++) {
        const orr_distance_grid *grid = b->spec->grids[i].grid;
        ORR_TRY(add_size(b, &m->ngridbrick, (int64_t)orr_distance_grid_coarse(grid)));
        ORR_TRY(add_size(b, &m->ngridcorner, (int64_t)orr_distance_grid_corners(grid)));
        ORR_TRY(add_size(b, &m->ngridsample, (int64_t)grid->brick_count * ORR_GRID_SAMPLES));
    }
    for (int i = 0; i < b->spec->textures_count; i++) {
        const texture_data *d = &b->textures[i];
        ORR_TRY(add_size(b, &m->ntexdata, (int64_t)d->width * d->height * d->channels));
    }
    return ORR_OK;
}

// Trees begin with bodies that have joints, and none above them that has.
static orr_result count_trees(const model_builder *b)
{
    const orr_spec *spec = b->spec;
    bool *moves = orr_alloc_zero((size_t)spec->bodies_count, sizeof *moves);
    if (!moves) {
        return spec_memory_fail(b->error);
    }
    for (int i = 0; i < spec->joints_count; i++) {
        moves[spec->joints[i].body] = true;
    }
    for (int i = 1; i < spec->bodies_count; i++) { // after their parents
        bool above = moves[spec->bodies[i].parent];
        b->m->ntree += moves[i] && !above;
        moves[i] = moves[i] || above;
    }
    orr_free(moves);
    return ORR_OK;
}

orr_result check_delay(const model_builder *b, const spec_head *head, double delay, int nsample)
{
    if (nsample < 0 || nsample > NSAMPLE_MAX) {
        return spec_fail(head, b->error, "nsample: expected 0 to %d", NSAMPLE_MAX);
    }
    return delay >= 0.0 && (delay == 0.0 || nsample > 0)
               ? ORR_OK
               : spec_fail(head, b->error, "delay: expected 0 s or more, and nsample with it");
}

// Sizes that are the lengths of the spec's lists.
static void copy_counts(const orr_spec *spec, orr_model *m)
{
    m->nbody = spec->bodies_count;
    m->njnt = spec->joints_count;
    m->nsite = spec->sites_count;
    m->ncam = spec->cameras_count;
    m->ncable = count_cables(spec);
    m->nflex = spec->flexes_count;
    m->nlight = spec->lights_count;
    m->nhfield = spec->hfields_count;
    m->ngrid = spec->grids_count;
    m->ntex = spec->textures_count;
    m->nmat = spec->materials_count;
    m->npair = spec->pairs_count;
    m->nexclude = spec->excludes_count;
    m->neq = spec->equalities_count;
    m->ntendon = spec->tendons_count;
    m->nwrap = spec->wraps_count;
    m->nactuator = spec->actuators_count;
    m->nsensor = spec->sensors_count;
    m->nnumeric = spec->numerics_count;
    m->ntext = spec->texts_count;
    m->ntuple = spec->tuples_count;
    m->ntupledata = spec->tuple_elements_count;
    m->nkey = spec->keys_count > spec->size.nkey ? spec->keys_count : spec->size.nkey;
    m->nuserdata = spec->size.nuserdata;
}

// Sizes that some elements of a list add to.
static void count_elements(const model_builder *b)
{
    const orr_spec *spec = b->spec;
    orr_model *m = b->m;
    for (int i = 0; i < spec->geoms_count; i++) {
        m->ngeom += b->geom_ids[i] >= 0;
    }
    for (int i = 0; i < spec->meshes_count; i++) {
        m->nmesh += b->mesh_ids[i] >= 0;
    }
    for (int i = 0; i < spec->bodies_count; i++) {
        m->nmocap += spec->bodies[i].mocap;
    }
    for (int i = 0; i < spec->joints_count; i++) {
        const spec_joint *joint = &spec->joints[i];
        if (joint->springyield > 0.0 && joint->type != ORR_JOINT_FREE) {
            m->nplastic += joint->type == ORR_JOINT_BALL ? 4 : 1;
        }
    }
    for (int i = 0; i < spec->tendons_count; i++) {
        m->nplastic += spec->tendons[i].springyield > 0.0 ? 2 : 0;
    }
}

static orr_result count_flexes(model_builder *b)
{
    for (int i = 0; i < b->spec->flexes_count; i++) {
        const spec_flex *flex = &b->spec->flexes[i];
        ORR_TRY(add_size(b, &b->m->nflexvert, flex->points));
        ORR_TRY(add_size(b, &b->m->nflexelemdata, (int64_t)flex->elements * (flex->dim + 1)));
        ORR_TRY(count_flex_nodes(b, flex));
        ORR_TRY(count_flex_touch(b, flex));
    }
    return ORR_OK;
}

static orr_result count_actuators(model_builder *b)
{
    orr_model *m = b->m;
    for (int i = 0; i < b->spec->actuators_count; i++) {
        const spec_actuator *a = &b->spec->actuators[i];
        if (a->actdim > ACTDIM_MAX) {
            return spec_fail(&a->head, b->error, "actdim: expected up to %d", ACTDIM_MAX);
        }
        ORR_TRY(add_size(b, &m->na, spec_activations(a)));
        ORR_TRY(add_size(b, &m->nu, spec_controls(a)));
        ORR_TRY(add_size(b, &m->nout, spec_outputs(a)));
        ORR_TRY(check_delay(b, &a->head, a->delay, a->nsample));
        ORR_TRY(add_size(b, &m->ndelayed, spec_delayed(a)));
    }
    return ORR_OK;
}

orr_result count_sizes(model_builder *b)
{
    const orr_spec *spec = b->spec;
    orr_model *m = b->m;
    copy_counts(spec, m);
    count_elements(b);
    ORR_TRY(count_flexes(b));
    for (int i = 0; i < spec->sensors_count; i++) {
        const int mesh = sensed_mesh(spec, &spec->sensors[i]);
        ORR_TRY(add_size(b, &m->ntaxel, mesh >= 0 ? b->meshes[mesh].point_count : 0));
    }
    ORR_TRY(count_actuators(b));
    for (int i = 0; i < spec->numerics_count; i++) {
        ORR_TRY(add_size(b, &m->nnumericdata, spec->numerics[i].size));
    }
    for (int i = 0; i < spec->texts_count; i++) {
        ORR_TRY(add_size(b, &m->ntextdata, (int64_t)strlen(spec->texts[i].data) + 1));
    }
    USER_SIZE(nuser_body, bodies, true)
    USER_SIZE(nuser_jnt, joints, true)
    USER_SIZE(nuser_geom, geoms, b->geom_ids[i] >= 0)
    USER_SIZE(nuser_site, sites, true)
    USER_SIZE(nuser_cam, cameras, true)
    USER_SIZE(nuser_tendon, tendons, true)
    USER_SIZE(nuser_actuator, actuators, true)
    USER_SIZE(nuser_sensor, sensors, true)
    ORR_TRY(count_assets(b));
    ORR_TRY(count_dofs(b));
    ORR_TRY(count_trees(b));
    return count_names(b);
}
