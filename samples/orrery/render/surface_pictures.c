#include "samples/orrery/render/surface_pictures.h"

#include "engine/core/memory.h"

static orr_result open_eyes(surface_pictures *p, const orr_world *world, const orr_view *view,
                            orr_error *error)
{
    const orr_eyes_desc desc = {.views = &view->camera,
                                .view_count = 1,
                                .width = view->camera.width,
                                .height = view->camera.height,
                                .look = *view,
                                .flow = p->flow != NULL};
    p->width = desc.width;
    p->height = desc.height;
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    ORR_ALLOC(p->values, pixels * 7, "normals, flow and segmentation of a picture", error);
    ORR_ALLOC(p->names, pixels * 2, "normals, flow and segmentation of a picture", error);
    orr_error why;
    const orr_result result = orr_eyes_create(world, &desc, &p->eyes, &why);
    return result == ORR_OK ? ORR_OK
                            : orr_fail(error, (orr_code)why.code,
                                       "pictures of normals, flow and segmentation: %s", why.message);
}

orr_result surface_pictures_put(surface_pictures *p, const orr_world *world, const orr_view *view,
                                int64_t index, orr_error *error)
{
    if (!p->normals && !p->flow && !p->segmentation) {
        return ORR_OK;
    }
    if (!p->eyes) {
        ORR_TRY(open_eyes(p, world, view, error));
    }
    if (view->camera.width != p->width || view->camera.height != p->height) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "--normals, --flow, --segmentation: a picture of %d x %d after one of %d x %d: expected one size",
            view->camera.width, view->camera.height, p->width, p->height);
    }
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    float *flow = p->values + 3 * pixels, *segmentation = p->values + 5 * pixels;
    const orr_eyes_pictures planes = {.normals = p->normals ? p->values : NULL,
                                      .flow = p->flow ? flow : NULL,
                                      .segmentation = p->segmentation ? p->names : NULL};
    ORR_TRY(orr_eyes_set_views(p->eyes, &view->camera, error));
    ORR_TRY(orr_eyes_draw(p->eyes, NULL, &planes, error));
    if (p->normals) {
        ORR_TRY(orr_output_put(p->normals, index, planes.normals, p->width, p->height, error));
    }
    if (p->segmentation) {
        for (size_t i = 0; i < 2 * pixels; i++) {
            segmentation[i] = (float)p->names[i];
        }
        ORR_TRY(orr_output_put(p->segmentation, index, segmentation, p->width, p->height, error));
    }
    return p->flow ? orr_output_put(p->flow, index, planes.flow, p->width, p->height, error) : ORR_OK;
}

void surface_pictures_close(surface_pictures *p)
{
    orr_eyes_destroy(p->eyes);
    orr_output_destroy(p->normals);
    orr_output_destroy(p->flow);
    orr_output_destroy(p->segmentation);
    orr_free(p->values);
    orr_free(p->names);
}
