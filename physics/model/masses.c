// Masses: poses and sizes of geoms that are fitted to meshes, and the inertia of each body, from its geoms or
// as given.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"
#include "physics/model/primitive.h"

#include <string.h>

#define INERTIA_ROUNDING 1e-14 // of a principal moment, over the sum of all

static const spec_compiler *compiler_of(const orr_spec *spec, int body)
{
    const spec_compiler *own = spec->bodies[body].compiler;
    return own ? own : &spec->compiler;
}

// The size of a primitive that is fitted to a mesh: of the box of equal inertia, or of the box around the
// mesh. centre: of the primitive, in the mesh's principal frame.
static void fit_size(const mesh_data *mesh, const spec_compiler *compiler, spec_geom *geom, double centre[3])
{
    double half[3], *size = geom->size;
    for (int i = 0; i < 3; i++) {
        const double *moment = mesh->moment;
        double square =
            1.5 * (moment[(i + 1) % 3] + moment[(i + 2) % 3] - moment[i]) / fmax(mesh->volume, 1e-15);
        half[i] = compiler->fitaabb ? 0.5 * (mesh->high[i] - mesh->low[i]) : sqrt(fmax(square, 0.0));
        centre[i] = compiler->fitaabb ? 0.5 * (mesh->high[i] + mesh->low[i]) : 0.0;
    }
    double radius = compiler->fitaabb ? fmax(half[0], half[1]) : 0.5 * (half[0] + half[1]);
    bool round = geom->type == ORR_GEOM_CAPSULE || geom->type == ORR_GEOM_CYLINDER;
    if (geom->type == ORR_GEOM_SPHERE) {
        size[0] = compiler->fitaabb ? fmax(radius, half[2]) : (half[0] + half[1] + half[2]) / 3.0;
    } else if (round) {
        double caps = compiler->fitaabb ? radius : 0.5 * radius;
        size[0] = radius;
        size[1] = geom->type == ORR_GEOM_CAPSULE ? fmax(half[2] - caps, 0.0) : half[2];
    } else {
        memcpy(size, half, sizeof half);
    }
    for (int i = 0; i < 3; i++) {
        size[i] *= geom->fitscale;
    }
}

// The surface velocity of a geom, seen from a frame at pos and quat in the geom's.
static void move_surface(const double pos[3], const double quat[4], double surface[6])
{
    double back[4], across[3], linear[3];
    quat_conjugate(quat, back);
    vec3_cross(surface + 3, pos, across);
    for (int i = 0; i < 3; i++) {
        linear[i] = surface[i] + across[i];
    }
    quat_apply(back, linear, surface);
    memcpy(linear, surface + 3, sizeof linear);
    quat_apply(back, linear, surface + 3);
}

// Moves a geom with a mesh to the mesh's principal frame; primitives are fitted to it.
static orr_result fit_to_mesh(model_builder *b, spec_geom *geom, const mesh_data *mesh)
{
    double pos[3] = {0.0}, quat[4] = {1.0, 0.0, 0.0, 0.0};
    if (geom->type == ORR_GEOM_PLANE || geom->type == ORR_GEOM_HFIELD) {
        return spec_fail(&geom->head, b->error, "mesh: a plane or height field cannot be fitted to one");
    }
    if (geom->type != ORR_GEOM_MESH && geom->type != ORR_GEOM_SDF) {
        fit_size(mesh, &b->spec->compiler, geom, pos); // of the main model, as in MuJoCo
    }
    frame_compose(mesh->pos, mesh->quat, pos, quat);
    move_surface(pos, quat, geom->surfacevel);
    frame_compose(geom->pos, geom->orientation.quat, pos, quat);
    memcpy(geom->pos, pos, sizeof pos);
    memcpy(geom->orientation.quat, quat, sizeof quat);
    return ORR_OK;
}

// The inertia of a geom with a distance grid. Geoms of the world need none.
static orr_result grid_inertia(const model_builder *b, const spec_geom *geom, rigid_part *part)
{
    const spec_grid *grid = &b->spec->grids[SPEC_FIND(b->spec, grids, geom->grid)];
    double scale = grid->scale, volume_scale = scale * scale * scale, centre[3], inertia[9];
    double volume = orr_distance_grid_volume(grid->grid, centre, inertia);
    if (volume == 0.0) {
        return ORR_OK;
    }
    part->mass = isnan(geom->mass) ? geom->density * volume * volume_scale : geom->mass;
    for (int i = 0; i < 9; i++) {
        inertia[i] *= part->mass * scale * scale / volume;
    }
    double turn[4], identity[4] = {1.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < 3; i++) {
        centre[i] *= scale;
    }
    principal_moments(inertia, false, part->moment, turn);
    frame_compose(geom->pos, geom->orientation.quat, centre, identity);
    memcpy(part->pos, centre, sizeof part->pos);
    quat_multiply(geom->orientation.quat, turn, part->quat);
    return ORR_OK;
}

// A geom's pose and size, and its inertia.
static orr_result resolve_geom(model_builder *b, spec_geom *geom, rigid_part *part)
{
    int mesh = SPEC_FIND(b->spec, meshes, geom->mesh);
    bool as_mesh = geom->type == ORR_GEOM_MESH || geom->function.kind;
    const mesh_data *data = as_mesh && mesh >= 0 ? &b->meshes[mesh] : NULL;
    memset(part, 0, sizeof *part);
    ORR_TRY(builder_found(b, &geom->head, "mesh", mesh, geom->mesh));
    if (as_mesh && !data) {
        return spec_fail(&geom->head, b->error, "mesh: expected the name of one");
    }
    if (mesh >= 0) {
        ORR_TRY(fit_to_mesh(b, geom, &b->meshes[mesh]));
    }
    ORR_TRY(builder_sizes(b, &geom->head, geom->type, geom->size));
    int type = geom->type, hfield = SPEC_FIND(b->spec, hfields, geom->hfield);
    double size[3];
    memcpy(size, geom->size, sizeof size);
    if (type == ORR_GEOM_HFIELD && hfield >= 0) { // it has the mass of a box
        type = ORR_GEOM_BOX;
        hfield_half_size(b->spec->hfields[hfield].size, size);
    }
    if (type == ORR_GEOM_SDF && !data) {
        memcpy(part->quat, geom->orientation.quat, sizeof part->quat);
        return geom->body > 0 && SPEC_FIND(b->spec, grids, geom->grid) >= 0 ? grid_inertia(b, geom, part)
                                                                            : ORR_OK;
    }
    if (geom->shellinertia && data) {
        return spec_fail(&geom->head, b->error, "shellinertia: expected no mesh, whose inertia is in <mesh>");
    }
    double volume = data                 ? data->volume
                    : geom->shellinertia ? orr_primitive_area(type, size) // density is per m^2
                                         : orr_primitive_volume(type, size);
    bool has_mass = !isnan(geom->mass);
    if ((has_mass && geom->mass < 0.0) || geom->density < 0.0) {
        return spec_fail(&geom->head, b->error, "mass and density: expected no negative number");
    }
    part->mass = has_mass ? (volume > 0.0 ? geom->mass : 0.0) : geom->density * volume;
    memcpy(part->pos, geom->pos, sizeof part->pos);
    memcpy(part->quat, geom->orientation.quat, sizeof part->quat);
    if (!data) {
        (geom->shellinertia ? orr_primitive_shell_moment : orr_primitive_moment)(type, size, part->mass,
                                                                                 part->moment);
        return ORR_OK;
    }
    for (int i = 0; i < 3; i++) {
        part->moment[i] = volume > 0.0 ? data->moment[i] * part->mass / volume : 0.0;
    }
    return ORR_OK;
}

// The inertia that an <inertial> gives.
static orr_result explicit_inertia(model_builder *b, const spec_body *body, rigid_part *whole)
{
    whole->mass = body->mass;
    memcpy(whole->pos, body->ipos, sizeof whole->pos);
    memcpy(whole->quat, body->iquat, sizeof whole->quat);
    memcpy(whole->moment, body->inertia, sizeof whole->moment);
    const double *f = body->full_inertia;
    if (!isnan(f[0])) {
        const double matrix[9] = {f[0], f[3], f[4], f[3], f[1], f[5], f[4], f[5], f[2]};
        double turn[4];
        principal_moments(matrix, false, whole->moment, turn);
        quat_multiply(whole->quat, turn, whole->quat);
        if (!(whole->moment[2] > 0.0)) {
            return spec_fail(&body->inertial, b->error, "inertia: expected a positive definite matrix");
        }
    }
    if (whole->mass < 0.0 || whole->moment[0] < 0.0 || whole->moment[1] < 0.0 || whole->moment[2] < 0.0) {
        return spec_fail(&body->inertial, b->error, "mass and inertia: expected no negative number");
    }
    return ORR_OK;
}

static orr_result bound_inertia(model_builder *b, const spec_body *body, bool is_given, rigid_part *whole)
{
    const spec_compiler *compiler = body->compiler ? body->compiler : &b->spec->compiler;
    double *i = whole->moment;
    whole->mass = fmax(whole->mass, compiler->boundmass);
    for (int k = 0; k < 3; k++) {
        i[k] = fmax(i[k], compiler->boundinertia);
    }
    double slack = INERTIA_ROUNDING * (i[0] + i[1] + i[2]); // of a flat body one is the sum of the others
    if (i[0] + i[1] < i[2] - slack || i[0] + i[2] < i[1] - slack || i[1] + i[2] < i[0] - slack) {
        if (!compiler->balanceinertia) {
            return spec_fail(is_given ? &body->inertial : &body->head, b->error,
                             "inertia: expected that no principal moment is above the sum of the others "
                             "(balanceinertia corrects it)");
        }
        i[0] = i[1] = i[2] = (i[0] + i[1] + i[2]) / 3.0;
    }
    return ORR_OK;
}

static bool is_heavy(const orr_model *m, int id)
{
    const double *i = m->body_inertia + 3 * id;
    return m->body_mass[id] > 1e-15 && i[0] > 1e-15 && i[1] > 1e-15 && i[2] > 1e-15;
}

// A body that moves needs mass, its own or that of a body that is fixed to it.
static orr_result check_masses(model_builder *b)
{
    const orr_model *m = b->m;
    uint8_t *heavy = orr_alloc_zero((size_t)m->nbody, 1);
    if (!heavy) {
        return spec_memory_fail(b->error);
    }
    orr_result result = ORR_OK;
    for (int i = m->nbody - 1; i > 0; i--) {
        heavy[i] = heavy[i] || is_heavy(m, i);
        if (m->body_dofnum[i] == 0 && heavy[i]) {
            heavy[m->body_parentid[i]] = 1;
        }
    }
    for (int i = 1; i < m->nbody && result == ORR_OK; i++) {
        if (m->body_dofnum[i] > 0 && !heavy[i]) {
            const spec_body *body = &b->spec->bodies[i];
            result = spec_fail(body->has_inertial ? &body->inertial : &body->head, b->error,
                               "mass and inertia of a body that moves: expected more than 1e-15");
        }
    }
    orr_free(heavy);
    return result;
}

static void set_total_mass(orr_model *m, double total)
{
    double sum = 0.0;
    for (int i = 0; i < m->nbody; i++) {
        sum += m->body_mass[i];
    }
    double scale = total / fmax(1e-15, sum);
    for (int i = 0; i < m->nbody; i++) {
        m->body_mass[i] *= scale;
        for (int k = 0; k < 3; k++) {
            m->body_inertia[3 * i + k] *= scale;
        }
    }
}

static orr_result resolve_bodies(model_builder *b, const rigid_part *all, rigid_part *parts)
{
    const orr_spec *spec = b->spec;
    for (int id = 0, geom = 0; id < spec->bodies_count; id++) {
        const spec_body *body = &spec->bodies[id];
        const spec_compiler *compiler = compiler_of(spec, id);
        int count = 0;
        for (; geom < spec->geoms_count && spec->geoms[geom].body == id; geom++) {
            int group = spec->geoms[geom].group;
            if (group >= compiler->inertiagrouprange[0] && group <= compiler->inertiagrouprange[1] &&
                all[geom].mass > 1e-15) {
                if (id > 0 && compiler->inertiafromgeom == 1 && is_discarded(spec, &spec->geoms[geom])) {
                    return spec_fail(&spec->geoms[geom].head, b->error,
                                     "discardvisual: expected no mass, as inertiafromgeom is true; with "
                                     "inertiafromgeom=\"auto\" a body keeps the mass of what is discarded");
                }
                parts[count++] = all[geom];
            }
        }
        rigid_part *whole = &b->inertias[id];
        bool from_geoms =
            compiler->inertiafromgeom == 1 || (compiler->inertiafromgeom == SPEC_AUTO && !body->has_inertial);
        bool is_given = body->has_inertial && (!from_geoms || count == 0);
        merge_parts(parts, id == 0 || !from_geoms ? 0 : count, whole);
        if (whole->mass == 0.0 && id > 0) { // as in MuJoCo
            memcpy(whole->pos, body->own_pos, sizeof whole->pos);
            memcpy(whole->quat, body->own_quat, sizeof whole->quat);
        }
        if (is_given) {
            ORR_TRY(explicit_inertia(b, body, whole));
        }
        if (id > 0) {
            ORR_TRY(bound_inertia(b, body, is_given, whole));
        }
    }
    return ORR_OK;
}

orr_result resolve_masses(model_builder *b)
{
    size_t count = (size_t)b->spec->geoms_count;
    rigid_part *parts = orr_alloc(count, sizeof *parts), *all = orr_alloc(count, sizeof *all);
    b->inertias = orr_alloc((size_t)b->spec->bodies_count, sizeof *b->inertias);
    orr_result result = parts && all && b->inertias ? ORR_OK : spec_memory_fail(b->error);
    for (size_t i = 0; i < count && result == ORR_OK; i++) {
        result = resolve_geom(b, &b->spec->geoms[i], &all[i]);
    }
    if (result == ORR_OK) {
        result = resolve_bodies(b, all, parts);
    }
    orr_free(parts);
    orr_free(all);
    return result;
}

orr_result build_masses(model_builder *b)
{
    orr_model *m = b->m;
    for (int id = 0; id < m->nbody; id++) {
        const rigid_part *whole = &b->inertias[id];
        m->body_mass[id] = whole->mass;
        memcpy(m->body_ipos + 3 * id, whole->pos, sizeof whole->pos);
        memcpy(m->body_iquat + 4 * id, whole->quat, sizeof whole->quat);
        memcpy(m->body_inertia + 3 * id, whole->moment, sizeof whole->moment);
    }
    ORR_TRY(check_masses(b));
    if (b->spec->compiler.settotalmass > 0.0) {
        set_total_mass(m, b->spec->compiler.settotalmass);
    }
    return ORR_OK;
}
