#include "render/mirror/mirror.h"

#include "engine/maths/vector.h"

#include <math.h>

static const orr_mesh_material *material_of(const orr_draw_mesh *item, int part)
{
    return &item->mesh->materials[item->mesh->parts[part].material];
}

static bool is_mirror(const orr_draw_mesh *item, int part)
{
    const orr_mesh_material *look = material_of(item, part);
    return look->reflectance > 0.0f && !look->blended && !item->bodies;
}

bool orr_has_mirrors(const orr_draw_list *list)
{
    for (int i = 0; i < list->mesh_count; i++) {
        for (int part = 0; part < list->meshes[i].mesh->part_count; part++) {
            if (is_mirror(&list->meshes[i], part)) {
                return true;
            }
        }
    }
    return false;
}

// The plane of the first triangle that has one.
static bool find_plane(const orr_draw_mesh *item, int part, float plane[4])
{
    const orr_mesh *mesh = item->mesh;
    const uint32_t *index = mesh->indices + mesh->parts[part].first_index;
    double model[12];
    affine_widen(item->model, model);
    for (uint32_t i = 0; i + 2 < mesh->parts[part].index_count; i += 3) {
        double p[3][3], normal[3];
        for (int c = 0; c < 3; c++) {
            const float *at = mesh->vertices[index[i + (uint32_t)c]].position;
            for (int k = 0; k < 3; k++) {
                p[c][k] = model[4 * k] * (double)at[0] + model[4 * k + 1] * (double)at[1] +
                          model[4 * k + 2] * (double)at[2] + model[4 * k + 3];
            }
        }
        for (int k = 0; k < 3; k++) {
            p[1][k] -= p[0][k];
            p[2][k] -= p[0][k];
        }
        vec3_cross(p[1], p[2], normal);
        if (vec3_normalise(normal) > 0.0 && isfinite(normal[0] + normal[1] + normal[2])) {
            for (int k = 0; k < 3; k++) {
                plane[k] = (float)normal[k];
            }
            plane[3] = (float)-vec3_dot(normal, p[0]);
            return isfinite(plane[3]);
        }
    }
    return false;
}

// How far in front of a plane the camera is; of an orthographic one, which is infinitely far away, the sign
// of that.
static float height_of(const orr_lens *lens, const float plane[4])
{
    return lens->orthographic ? -vec3f_dot(plane, lens->view + 8)
                              : vec3f_dot(plane, lens->position) + plane[3];
}

// Are some vertices on the inner side of each bound of the view?
static bool may_be_in_view(const orr_lens *lens, const orr_draw_mesh *item, int part)
{
    const orr_mesh *mesh = item->mesh;
    const uint32_t *index = mesh->indices + mesh->parts[part].first_index;
    float to_camera[12];
    int out = 31;
    orr_affine_multiply(lens->view, item->model, to_camera);
    for (uint32_t i = 0; i < mesh->parts[part].index_count && out; i++) {
        float p[3];
        affine_apply_to_point(to_camera, mesh->vertices[index[i]].position, p);
        const float w = lens->orthographic ? 1.0f : p[2];
        const float x = lens->focal[0] * p[0] + lens->centre[0] * w,
                    y = lens->focal[1] * p[1] + lens->centre[1] * w;
        out &= (p[2] < lens->near_plane ? 1 : 0) | (x < 0.0f ? 2 : 0) | (x > (float)lens->width * w ? 4 : 0) |
               (y < 0.0f ? 8 : 0) | (y > (float)lens->height * w ? 16 : 0);
    }
    return out == 0;
}

static bool is_seen(const orr_lens *lens, const orr_draw_mesh *item, int part, float plane[4])
{
    if (!is_mirror(item, part) || !find_plane(item, part, plane)) {
        return false;
    }
    if (material_of(item, part)->two_sided && height_of(lens, plane) < 0.0f) {
        for (int k = 0; k < 4; k++) {
            plane[k] = -plane[k];
        }
    }
    return height_of(lens, plane) > 0.0f && may_be_in_view(lens, item, part);
}

int orr_mirrors_find(const orr_draw_list *list, orr_mirror found[ORR_MIRRORS])
{
    int count = 0;
    for (int i = 0; i < list->mesh_count && list->mirrors && !list->lens.distorted; i++) {
        for (int part = 0; part < list->meshes[i].mesh->part_count && count < ORR_MIRRORS; part++) {
            found[count] = (orr_mirror){.mesh = i, .part = part};
            count += is_seen(&list->lens, &list->meshes[i], part, found[count].plane);
        }
    }
    return count;
}

void orr_mirror_lens(const orr_mirror *mirror, const orr_lens *lens, orr_lens *mirrored)
{
    const float *plane = mirror->plane;
    double view[12], reflection[12], product[12];
    affine_widen(lens->view, view);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++) {
            reflection[4 * i + k] = (i == k) - 2.0 * (double)plane[i] * (double)plane[k];
        }
    }
    affine_product(view, reflection, product);
    *mirrored = *lens;
    for (int i = 0; i < 12; i++) {
        mirrored->view[i] = (float)(i < 4 ? -product[i] : product[i]); // flipped, and so a rotation again
    }
    const float height = vec3f_dot(plane, lens->position) + plane[3];
    for (int k = 0; k < 3; k++) {
        mirrored->position[k] = lens->position[k] - 2.0f * height * plane[k];
    }
    mirrored->centre[0] = (float)lens->width - lens->centre[0];
    mirrored->slope_low[0] = -lens->slope_high[0];
    mirrored->slope_high[0] = -lens->slope_low[0];
    // what touches the mirror is cut a little above it, because rounding moves it to either side
    const float rounding = 1e-5f * fabsf(height);
    float normal[3];
    affine_apply_to_direction(mirrored->view, plane, normal);
    const float origin[3] = {mirrored->view[3], mirrored->view[7], mirrored->view[11]};
    for (int k = 0; k < 3; k++) {
        mirrored->clip[k] = normal[k];
    }
    mirrored->clip[3] = plane[3] - vec3f_dot(normal, origin) - rounding;
}

orr_draw_list orr_mirror_list(const orr_mirror *mirror, const orr_draw_list *list)
{
    orr_draw_list seen = *list;
    orr_mirror_lens(mirror, &list->lens, &seen.lens);
    seen.mirrors = seen.only_traced = false;
    seen.left_out_mesh = mirror->mesh + 1;
    seen.left_out_part = mirror->part;
    seen.backdrop.mesh = NULL;
    seen.haze = (orr_draw_haze){0}; // it is before the mirror
    seen.opaque = list->opaque && list->environment_behind;
    return seen;
}

const orr_mirror_picture *orr_mirror_pictures_of(const orr_mirror_pictures *pictures, int mesh, int part)
{
    for (int i = 0; pictures && i < pictures->count; i++) {
        const orr_mirror_picture *picture = &pictures->items[i];
        if (picture->mirror.mesh == mesh && picture->mirror.part == part) {
            return picture;
        }
    }
    return NULL;
}
