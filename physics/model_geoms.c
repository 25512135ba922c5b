// Geoms, sites, cameras and lights, and the inertia that geoms give their bodies.
#include "physics/model_build.h"
#include "physics/rotation.h"

#include <stdlib.h>

#define ENDLESS 1e10 // half size of the box around a plane

static orr_result find(model_builder *b, const spec_head *head, const char *what, int index, const char *name)
{
    return index >= 0 || !name ? ORR_OK : spec_fail(head, b->error, "there is no %s '%.64s'", what, name);
}

static orr_result check_sizes(model_builder *b, const spec_head *head, int type, const double size[3])
{
    static const int counts[] = {0, 0, 1, 2, 3, 2, 3, 0};
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

// The box around a geom in its own frame (centre, half sizes), and the radius of the ball around it.
static void bound_primitive(int type, const double size[3], double box[6], double *radius)
{
    double r = size[0];
    box[0] = box[1] = box[2] = 0.0;
    box[3] = size[0], box[4] = size[1], box[5] = size[2];
    switch ((orr_geom_type)type) {
    case ORR_GEOM_SPHERE:
        box[4] = box[5] = r;
        *radius = r;
        break;
    case ORR_GEOM_CAPSULE:
        box[4] = r, box[5] = r + size[1];
        *radius = r + size[1];
        break;
    case ORR_GEOM_CYLINDER:
        box[4] = r, box[5] = size[1];
        *radius = sqrt(r * r + size[1] * size[1]);
        break;
    case ORR_GEOM_ELLIPSOID:
        *radius = fmax(fmax(size[0], size[1]), size[2]);
        break;
    case ORR_GEOM_BOX:
        *radius = vec_length(size);
        break;
    case ORR_GEOM_PLANE: // all below it
        box[2] = -0.5 * ENDLESS;
        box[3] = box[4] = ENDLESS, box[5] = 0.5 * ENDLESS;
        *radius = 0.0;
        break;
    case ORR_GEOM_HFIELD:
    case ORR_GEOM_MESH:
        break;
    }
}

static void bound_mesh(const mesh_data *mesh, double reach[3], double box[6], double *radius)
{
    for (int i = 0; i < 3; i++) {
        box[i] = 0.5 * (mesh->low[i] + mesh->high[i]);
        box[i + 3] = 0.5 * (mesh->high[i] - mesh->low[i]);
        reach[i] = fmax(fabs(mesh->low[i]), fabs(mesh->high[i]));
    }
    *radius = vec_length(reach);
}

// Places a mesh geom where its principal frame is, and computes its inertia.
static orr_result resolve_geom(model_builder *b, spec_geom *geom, int mesh, inertia *part)
{
    const mesh_data *data = mesh >= 0 ? &b->meshes[mesh] : NULL;
    memset(part, 0, sizeof *part);
    if (geom->type == ORR_GEOM_MESH && !data) {
        return spec_fail(&geom->head, b->error, "mesh: expected the name of one");
    }
    if (geom->type != ORR_GEOM_MESH && data) {
        return spec_fail(&geom->head, b->error,
                         "mesh: fitting other types to a mesh is not supported: expected type=\"mesh\"");
    }
    ORR_TRY(check_sizes(b, &geom->head, geom->type, geom->size));
    double volume = primitive_volume(geom->type, geom->size);
    if (data) {
        double pos[3], quat[4];
        memcpy(pos, data->pos, sizeof pos);
        memcpy(quat, data->quat, sizeof quat);
        frame_compose(geom->pos, geom->turn.quat, pos, quat);
        memcpy(geom->pos, pos, sizeof pos);
        memcpy(geom->turn.quat, quat, sizeof quat);
        volume = data->volume;
    }
    bool has_mass = !isnan(geom->mass);
    if ((has_mass && geom->mass < 0.0) || geom->density < 0.0) {
        return spec_fail(&geom->head, b->error, "mass and density: expected no negative number");
    }
    part->mass = has_mass ? (volume > 0.0 ? geom->mass : 0.0) : geom->density * volume;
    memcpy(part->pos, geom->pos, sizeof part->pos);
    memcpy(part->quat, geom->turn.quat, sizeof part->quat);
    if (data) {
        for (int i = 0; i < 3; i++) {
            part->moment[i] = volume > 0.0 ? data->moment[i] * part->mass / volume : 0.0;
        }
    } else {
        primitive_moment(geom->type, geom->size, part->mass, part->moment);
    }
    return ORR_OK;
}

static orr_result check_geom(model_builder *b, const spec_geom *geom)
{
    if (geom->condim != 1 && geom->condim != 3 && geom->condim != 4 && geom->condim != 6) {
        return spec_fail(&geom->head, b->error, "condim: expected 1, 3, 4 or 6");
    }
    if (geom->friction[0] < 0.0 || geom->friction[1] < 0.0 || geom->friction[2] < 0.0 || geom->solmix < 0.0) {
        return spec_fail(&geom->head, b->error, "friction and solmix: expected no negative number");
    }
    if ((geom->type == ORR_GEOM_PLANE || geom->type == ORR_GEOM_HFIELD) &&
        b->m->body_weldid[geom->body] != 0) {
        return spec_fail(&geom->head, b->error,
                         "a plane or height field: expected on a body that cannot move");
    }
    return ORR_OK;
}

static orr_result add_geom(model_builder *b, int index, int id, int mesh)
{
    orr_model *m = b->m;
    const spec_geom *geom = &b->spec->geoms[index];
    int field = SPEC_FIND(b->spec, hfields, geom->hfield),
        material = SPEC_FIND(b->spec, materials, geom->material);
    ORR_TRY(check_geom(b, geom));
    ORR_TRY(find(b, &geom->head, "height field", field, geom->hfield));
    ORR_TRY(find(b, &geom->head, "material", material, geom->material));
    if ((geom->type == ORR_GEOM_HFIELD) != (field >= 0)) {
        return spec_fail(&geom->head, b->error,
                         "hfield: expected the name of one with type=\"hfield\", and only there");
    }
    m->geom_type[id] = geom->type;
    m->geom_contype[id] = geom->contype;
    m->geom_conaffinity[id] = geom->conaffinity;
    m->geom_condim[id] = geom->condim;
    m->geom_bodyid[id] = geom->body;
    m->geom_dataid[id] = mesh >= 0 ? b->mesh_ids[mesh] : field;
    m->geom_matid[id] = material;
    m->geom_group[id] = geom->group;
    m->geom_priority[id] = geom->priority;
    m->geom_solmix[id] = geom->solmix;
    memcpy(m->geom_solref + ORR_NREF * id, geom->solref, sizeof geom->solref);
    memcpy(m->geom_solimp + ORR_NIMP * id, geom->solimp, sizeof geom->solimp);
    double *size = m->geom_size + 3 * id, *box = m->geom_aabb + 6 * id;
    memcpy(size, geom->size, sizeof geom->size);
    if (mesh >= 0) {
        bound_mesh(&b->meshes[mesh], size, box, &m->geom_rbound[id]);
    } else if (field >= 0) {
        const double *extent = b->spec->hfields[field].size;
        size[0] = extent[0], size[1] = extent[1];
        size[2] = 0.25 * extent[2] + 0.5 * extent[3];
        box[2] = 0.5 * (extent[2] - extent[3]);
        box[3] = extent[0], box[4] = extent[1], box[5] = 0.5 * (extent[2] + extent[3]);
        double deep = fmax(extent[2], extent[3]);
        m->geom_rbound[id] = sqrt(extent[0] * extent[0] + extent[1] * extent[1] + deep * deep);
    } else {
        bound_primitive(geom->type, geom->size, box, &m->geom_rbound[id]);
    }
    memcpy(m->geom_pos + 3 * id, geom->pos, sizeof geom->pos);
    memcpy(m->geom_quat + 4 * id, geom->turn.quat, sizeof geom->turn.quat);
    memcpy(m->geom_friction + 3 * id, geom->friction, sizeof geom->friction);
    m->geom_margin[id] = geom->margin;
    m->geom_gap[id] = geom->gap;
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

// What an <inertial> says.
static orr_result explicit_inertia(model_builder *b, const spec_body *body, inertia *whole)
{
    whole->mass = body->mass;
    memcpy(whole->pos, body->ipos, sizeof whole->pos);
    memcpy(whole->quat, body->iquat, sizeof whole->quat);
    memcpy(whole->moment, body->inertia, sizeof whole->moment);
    const double *f = body->full_inertia;
    if (!isnan(f[0])) {
        const double matrix[9] = {f[0], f[3], f[4], f[3], f[1], f[5], f[4], f[5], f[2]};
        double turn[4];
        principal_moments(matrix, whole->moment, turn);
        quat_multiply(whole->quat, turn, whole->quat);
        if (!(whole->moment[2] > 0.0)) {
            return spec_fail(&body->head, b->error, "fullinertia: expected a positive definite matrix");
        }
    }
    if (whole->mass < 0.0 || whole->moment[0] < 0.0 || whole->moment[1] < 0.0 || whole->moment[2] < 0.0) {
        return spec_fail(&body->head, b->error, "mass and inertia: expected no negative number");
    }
    return ORR_OK;
}

static orr_result finish_inertia(model_builder *b, int id, inertia *whole)
{
    const spec_compiler *compiler = &b->spec->compiler;
    orr_model *m = b->m;
    double *i = whole->moment;
    if (id > 0) {
        whole->mass = fmax(whole->mass, compiler->boundmass);
        for (int k = 0; k < 3; k++) {
            i[k] = fmax(i[k], compiler->boundinertia);
        }
    }
    bool unreal = i[0] + i[1] < i[2] || i[0] + i[2] < i[1] || i[1] + i[2] < i[0];
    if (unreal && compiler->balanceinertia) {
        i[0] = i[1] = i[2] = (i[0] + i[1] + i[2]) / 3.0;
    } else if (unreal && id > 0) {
        return spec_fail(
            &b->spec->bodies[id].head, b->error,
            "inertia: expected that no principal moment is above the sum of the others (balanceinertia mends "
            "it)");
    }
    memcpy(m->body_ipos + 3 * id, whole->pos, sizeof whole->pos);
    memcpy(m->body_iquat + 4 * id, whole->quat, sizeof whole->quat);
    memcpy(m->body_inertia + 3 * id, i, sizeof whole->moment);
    m->body_mass[id] = whole->mass;
    return ORR_OK;
}

static bool is_heavy(const orr_model *m, int id)
{
    const double *i = m->body_inertia + 3 * id;
    return m->body_mass[id] > 1e-15 && i[0] > 1e-15 && i[1] > 1e-15 && i[2] > 1e-15;
}

// A body that moves needs mass, its own or of one that is welded to it.
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
            result = spec_fail(&b->spec->bodies[i].head, b->error,
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

static orr_result build_inertia(model_builder *b, inertia *parts, const inertia *all)
{
    const orr_spec *spec = b->spec;
    const spec_compiler *compiler = &spec->compiler;
    for (int id = 0, geom = 0; id < spec->bodies_count; id++) {
        const spec_body *body = &spec->bodies[id];
        int count = 0;
        for (; geom < spec->geoms_count && spec->geoms[geom].body == id; geom++) {
            int group = spec->geoms[geom].group;
            if (group >= compiler->inertiagrouprange[0] && group <= compiler->inertiagrouprange[1] &&
                all[geom].mass > 1e-15) {
                parts[count++] = all[geom];
            }
        }
        inertia whole;
        bool from_geoms =
            compiler->inertiafromgeom == 1 || (compiler->inertiafromgeom == SPEC_AUTO && !body->has_inertial);
        merge_inertia(parts, id == 0 || !from_geoms ? 0 : count, &whole);
        if (body->has_inertial && (!from_geoms || count == 0)) {
            ORR_TRY(explicit_inertia(b, body, &whole));
        }
        ORR_TRY(finish_inertia(b, id, &whole));
    }
    ORR_TRY(check_masses(b));
    if (compiler->settotalmass > 0.0) {
        set_total_mass(b->m, compiler->settotalmass);
    }
    return ORR_OK;
}

static orr_result build_all_geoms(model_builder *b, inertia *all)
{
    for (int i = 0; i < b->m->nbody; i++) {
        b->m->body_geomadr[i] = -1;
    }
    for (int i = 0; i < b->spec->geoms_count; i++) {
        spec_geom *geom = &b->spec->geoms[i];
        int mesh = SPEC_FIND(b->spec, meshes, geom->mesh);
        ORR_TRY(find(b, &geom->head, "mesh", mesh, geom->mesh));
        ORR_TRY(resolve_geom(b, geom, mesh, &all[i]));
        if (b->geom_ids[i] >= 0) {
            ORR_TRY(add_geom(b, i, b->geom_ids[i], mesh));
        }
    }
    return ORR_OK;
}

static orr_result build_sites(model_builder *b)
{
    orr_model *m = b->m;
    for (int i = 0; i < m->nsite; i++) {
        const spec_site *site = &b->spec->sites[i];
        int material = SPEC_FIND(b->spec, materials, site->material);
        ORR_TRY(find(b, &site->head, "material", material, site->material));
        ORR_TRY(check_sizes(b, &site->head, site->type, site->size));
        m->site_type[i] = site->type;
        m->site_bodyid[i] = site->body;
        m->site_matid[i] = material;
        m->site_group[i] = site->group;
        memcpy(m->site_size + 3 * i, site->size, sizeof site->size);
        memcpy(m->site_pos + 3 * i, site->pos, sizeof site->pos);
        memcpy(m->site_quat + 4 * i, site->turn.quat, sizeof site->turn.quat);
        memcpy(m->site_rgba + 4 * i, site->rgba, sizeof site->rgba);
        copy_user(m->site_user + m->nuser_site * i, m->nuser_site, &site->user);
    }
    return ORR_OK;
}

// The lens: metres of focal length and principal point, given in metres or in pixels of the sensor.
static orr_result build_lens(model_builder *b, int id, const spec_camera *camera)
{
    orr_model *m = b->m;
    float *lens = m->cam_intrinsic + 4 * id;
    const float *sensor = camera->sensorsize;
    m->cam_fovy[id] = camera->fovy;
    memcpy(m->cam_sensorsize + 2 * id, sensor, 2 * sizeof(float));
    lens[0] = lens[1] = m->vis.znear; // MuJoCo's, and unused without a sensor
    if (sensor[0] <= 0.0f || sensor[1] <= 0.0f) {
        return sensor[0] == 0.0f && sensor[1] == 0.0f
                   ? ORR_OK
                   : spec_fail(&camera->head, b->error, "sensorsize: expected positive numbers");
    }
    for (int i = 0; i < 2; i++) {
        float pixel = sensor[i] / (float)camera->resolution[i];
        lens[i] = camera->focalpixel[i] > 0.0f ? camera->focalpixel[i] * pixel : camera->focal[i];
        lens[i + 2] =
            camera->principalpixel[i] != 0.0f ? camera->principalpixel[i] * pixel : camera->principal[i];
    }
    if (!(lens[0] > 0.0f) || !(lens[1] > 0.0f)) {
        return spec_fail(&camera->head, b->error, "sensorsize: expected together with focal or focalpixel");
    }
    m->cam_fovy[id] = 2.0 * atan(0.5 * (double)sensor[1] / (double)lens[1]) * 180.0 / 3.14159265358979323846;
    return ORR_OK;
}

static orr_result find_target(model_builder *b, const spec_head *head, int mode, const char *target,
                              int32_t *id)
{
    *id = SPEC_FIND(b->spec, bodies, target);
    bool aims = mode == ORR_CAMERA_TARGETBODY || mode == ORR_CAMERA_TARGETBODYCOM;
    ORR_TRY(find(b, head, "body", *id, target));
    return !aims || *id >= 0 ? ORR_OK : spec_fail(head, b->error, "target: expected a body");
}

static orr_result build_cameras(model_builder *b)
{
    orr_model *m = b->m;
    for (int i = 0; i < m->ncam; i++) {
        const spec_camera *camera = &b->spec->cameras[i];
        if (camera->resolution[0] < 1 || camera->resolution[1] < 1 || !(camera->fovy > 0.0) ||
            (!camera->projection && camera->fovy >= 180.0)) {
            return spec_fail(&camera->head, b->error,
                             "expected a resolution of 1 or more, and fovy between 0 and 180");
        }
        m->cam_mode[i] = camera->mode;
        m->cam_bodyid[i] = camera->body;
        m->cam_orthographic[i] = camera->projection;
        m->cam_ipd[i] = camera->ipd;
        ORR_TRY(find_target(b, &camera->head, camera->mode, camera->target, &m->cam_targetbodyid[i]));
        ORR_TRY(build_lens(b, i, camera));
        memcpy(m->cam_pos + 3 * i, camera->pos, sizeof camera->pos);
        memcpy(m->cam_quat + 4 * i, camera->turn.quat, sizeof camera->turn.quat);
        memcpy(m->cam_resolution + 2 * i, camera->resolution, sizeof camera->resolution);
        copy_user(m->cam_user + m->nuser_cam * i, m->nuser_cam, &camera->user);
    }
    return ORR_OK;
}

static orr_result build_lights(model_builder *b)
{
    orr_model *m = b->m;
    for (int i = 0; i < m->nlight; i++) {
        const spec_light *light = &b->spec->lights[i];
        ORR_TRY(find_target(b, &light->head, light->mode, light->target, &m->light_targetbodyid[i]));
        m->light_mode[i] = light->mode;
        m->light_bodyid[i] = light->body;
        m->light_type[i] = light->type;
        m->light_castshadow[i] = (uint8_t)light->castshadow;
        m->light_active[i] = (uint8_t)light->active;
        m->light_bulbradius[i] = light->bulbradius;
        m->light_intensity[i] = light->intensity;
        m->light_range[i] = light->range;
        m->light_cutoff[i] = light->cutoff;
        m->light_softness[i] = light->softness;
        m->light_exponent[i] = light->exponent;
        memcpy(m->light_pos + 3 * i, light->pos, sizeof light->pos);
        memcpy(m->light_dir + 3 * i, light->dir, sizeof light->dir);
        memcpy(m->light_attenuation + 3 * i, light->attenuation, sizeof light->attenuation);
        memcpy(m->light_ambient + 3 * i, light->ambient, sizeof light->ambient);
        memcpy(m->light_diffuse + 3 * i, light->diffuse, sizeof light->diffuse);
        memcpy(m->light_specular + 3 * i, light->specular, sizeof light->specular);
    }
    return ORR_OK;
}

orr_result build_geoms(model_builder *b)
{
    size_t count = (size_t)b->spec->geoms_count;
    inertia *parts = orr_alloc(count, sizeof *parts), *all = orr_alloc(count, sizeof *all);
    orr_result result = parts && all ? build_all_geoms(b, all) : spec_memory_fail(b->error);
    if (result == ORR_OK) {
        result = build_inertia(b, parts, all);
    }
    orr_free(parts);
    orr_free(all);
    ORR_TRY(result);
    ORR_TRY(build_sites(b));
    ORR_TRY(build_cameras(b));
    return build_lights(b);
}
