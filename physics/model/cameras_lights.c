// Cameras and lights.
#include "physics/model/compile.h"

#include <math.h>
#include <string.h>

// Focal length and principal point in metres, given in metres or in pixels of the sensor.
static orr_result build_lens(model_builder *b, int id, const spec_camera *camera)
{
    orr_model *m = b->m;
    float *lens = m->cam_intrinsic + 4 * id;
    const float *sensor = camera->sensorsize;
    m->cam_fovy[id] = camera->fovy;
    memcpy(m->cam_sensorsize + 2 * id, sensor, 2 * sizeof(float));
    lens[0] = lens[1] = m->vis.znear; // MuJoCo's value; unused without a sensor
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
    ORR_TRY(builder_found(b, head, "body", *id, target));
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
        memcpy(m->cam_quat + 4 * i, camera->orientation.quat, sizeof camera->orientation.quat);
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

orr_result build_views(model_builder *b)
{
    ORR_TRY(build_cameras(b));
    return build_lights(b);
}
