// Geoms and sites.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"
#include "physics/model/primitive.h"

#include <string.h>

orr_result builder_found(const model_builder *b, const spec_head *head, const char *what, int index,
                         const char *name)
{
    return index >= 0 || !name ? ORR_OK : spec_fail(head, b->error, "there is no %s '%.64s'", what, name);
}

orr_result builder_sizes(const model_builder *b, const spec_head *head, int type, const double size[3])
{
    static const int counts[] = {0, 0, 1, 2, 3, 2, 3, 0, 0};
    for (int i = 0; i < counts[type]; i++) {
        if (!(size[i] > 0.0)) {
            return spec_fail(head, b->error, "size: expected %d positive number%s", counts[type],
                             counts[type] == 1 ? "" : "s");
        }
    }
    if (type == ORR_GEOM_PLANE && !(size[2] > 0.0)) {
        return spec_fail(head, b->error, "size: expected a positive third number of a plane");
    }
    return size[0] >= 0.0 && size[1] >= 0.0 ? ORR_OK
                                            : spec_fail(head, b->error, "size: expected no negative number");
}

static void bound_mesh(const mesh_data *mesh, double reach[3], double box[6], double *radius)
{
    for (int i = 0; i < 3; i++) {
        box[i] = 0.5 * (mesh->low[i] + mesh->high[i]);
        box[i + 3] = 0.5 * (mesh->high[i] - mesh->low[i]);
        reach[i] = fmax(fabs(mesh->low[i]), fabs(mesh->high[i]));
    }
    *radius = vec3_length(reach);
}

static void bound_grid(const spec_grid *grid, double reach[3], double box[6], double *radius)
{
    for (int i = 0; i < 3; i++) {
        double low = grid->scale * grid->grid->origin[i];
        double edge = grid->scale * grid->grid->cell * (double)(ORR_GRID_BRICK * grid->grid->bricks[i]);
        box[i] = low + 0.5 * edge;
        box[i + 3] = 0.5 * edge;
        reach[i] = fmax(fabs(low), fabs(low + edge));
    }
    *radius = vec3_length(reach);
}

static orr_result check_geom(model_builder *b, const spec_geom *geom)
{
    if (geom->condim != 1 && geom->condim != 3 && geom->condim != 4 && geom->condim != 6) {
        return spec_fail(&geom->head, b->error, "condim: expected 1, 3, 4 or 6");
    }
    if (geom->friction[0] < 0.0 || geom->friction[1] < 0.0 || geom->friction[2] < 0.0 || geom->solmix < 0.0) {
        return spec_fail(&geom->head, b->error, "friction and solmix: expected no negative number");
    }
    if (!(geom->adhesion >= 0.0)) {
        return spec_fail(&geom->head, b->error, "adhesion: expected no negative number");
    }
    int fixed_to = b->m->body_weldid[geom->body];
    if (geom->type == ORR_GEOM_PLANE && fixed_to != 0 && b->m->body_mocapid[fixed_to] < 0) {
        return spec_fail(&geom->head, b->error, "a plane: expected on a body that cannot move");
    }
    return ORR_OK;
}

static orr_result add_geom(model_builder *b, int index, int id)
{
    orr_model *m = b->m;
    const spec_geom *geom = &b->spec->geoms[index];
    int mesh = SPEC_FIND(b->spec, meshes, geom->mesh), hfield = SPEC_FIND(b->spec, hfields, geom->hfield),
        grid = SPEC_FIND(b->spec, grids, geom->grid),
        material = SPEC_FIND(b->spec, materials, geom->material);
    ORR_TRY(check_geom(b, geom));
    ORR_TRY(builder_found(b, &geom->head, "height field", hfield, geom->hfield));
    ORR_TRY(builder_found(b, &geom->head, "material", material, geom->material));
    if ((geom->type == ORR_GEOM_HFIELD) != (hfield >= 0)) {
        return spec_fail(&geom->head, b->error,
                         "hfield: expected the name of one with type=\"hfield\", and only there");
    }
    bool is_function = geom->type == ORR_GEOM_SDF && geom->function.kind;
    if ((geom->type == ORR_GEOM_SDF && !is_function) != (grid >= 0)) {
        return spec_fail(&geom->head, b->error,
                         "grid: expected the name of a distance grid with the type sdf, and only there");
    }
    m->geom_type[id] = geom->type;
    m->geom_contype[id] = geom->contype;
    m->geom_conaffinity[id] = geom->conaffinity;
    m->geom_condim[id] = geom->condim;
    m->geom_bodyid[id] = geom->body;
    bool as_mesh = (geom->type == ORR_GEOM_MESH || is_function) && mesh >= 0;
    m->geom_function[id] = geom->function.kind;
    memcpy(m->geom_functionprm + ORR_NFUNCTION * (ptrdiff_t)id, geom->function.prm,
           sizeof geom->function.prm);
    m->geom_dataid[id] = grid >= 0 ? grid : as_mesh ? b->mesh_ids[mesh] : hfield;
    m->geom_matid[id] = material;
    m->geom_group[id] = geom->group;
    m->geom_castshadow[id] = (uint8_t)geom->castshadow;
    m->geom_priority[id] = geom->priority;
    m->geom_solmix[id] = geom->solmix;
    memcpy(m->geom_solref + ORR_NREF * id, geom->solref, sizeof geom->solref);
    memcpy(m->geom_solimp + ORR_NIMP * id, geom->solimp, sizeof geom->solimp);
    double *size = m->geom_size + 3 * id, *box = m->geom_aabb + 6 * id;
    memcpy(size, geom->size, sizeof geom->size);
    if (as_mesh) {
        bound_mesh(&b->meshes[mesh], size, box, &m->geom_rbound[id]);
    } else if (grid >= 0) {
        bound_grid(&b->spec->grids[grid], size, box, &m->geom_rbound[id]);
    } else if (hfield >= 0) {
        const double *extent = b->spec->hfields[hfield].size;
        hfield_half_size(extent, size);
        box[2] = 0.5 * (extent[2] - extent[3]);
        box[3] = extent[0], box[4] = extent[1], box[5] = 0.5 * (extent[2] + extent[3]);
        double deep = fmax(extent[2], extent[3]);
        m->geom_rbound[id] = vec3_length((const double[3]){extent[0], extent[1], deep});
    } else {
        orr_primitive_bounds(geom->type, geom->size, box, &m->geom_rbound[id]);
    }
    memcpy(m->geom_pos + 3 * id, geom->pos, sizeof geom->pos);
    memcpy(m->geom_quat + 4 * id, geom->orientation.quat, sizeof geom->orientation.quat);
    memcpy(m->geom_friction + 3 * id, geom->friction, sizeof geom->friction);
    m->geom_margin[id] = geom->margin;
    m->geom_gap[id] = geom->gap;
    m->geom_adhesion[id] = geom->adhesion;
    memcpy(m->geom_surfacevel + 6 * id, geom->surfacevel, sizeof geom->surfacevel);
    memcpy(m->geom_rgba + 4 * id, geom->rgba, sizeof geom->rgba);
    if (geom->fluidshape) {
        fluid_coefficients(geom->type, size, geom->fluidcoef, m->geom_fluid + ORR_NFLUID * id);
    }
    copy_user(m->geom_user + m->nuser_geom * id, m->nuser_geom, &geom->user);
    if (m->body_geomnum[geom->body]++ == 0) {
        m->body_geomadr[geom->body] = id;
    }
    return ORR_OK;
}

static orr_result build_sites(model_builder *b)
{
    orr_model *m = b->m;
    for (int i = 0; i < m->nsite; i++) {
        const spec_site *site = &b->spec->sites[i];
        int material = SPEC_FIND(b->spec, materials, site->material);
        ORR_TRY(builder_found(b, &site->head, "material", material, site->material));
        ORR_TRY(builder_sizes(b, &site->head, site->type, site->size));
        m->site_type[i] = site->type;
        m->site_bodyid[i] = site->body;
        m->site_matid[i] = material;
        m->site_group[i] = site->group;
        memcpy(m->site_size + 3 * i, site->size, sizeof site->size);
        memcpy(m->site_pos + 3 * i, site->pos, sizeof site->pos);
        memcpy(m->site_quat + 4 * i, site->orientation.quat, sizeof site->orientation.quat);
        memcpy(m->site_rgba + 4 * i, site->rgba, sizeof site->rgba);
        copy_user(m->site_user + m->nuser_site * i, m->nuser_site, &site->user);
    }
    return ORR_OK;
}

orr_result build_geoms(model_builder *b)
{
    for (int i = 0; i < b->m->nbody; i++) {
        b->m->body_geomadr[i] = -1;
    }
    for (int i = 0; i < b->spec->geoms_count; i++) {
        if (b->geom_ids[i] >= 0) {
            ORR_TRY(add_geom(b, i, b->geom_ids[i]));
        }
    }
    return build_sites(b);
}
