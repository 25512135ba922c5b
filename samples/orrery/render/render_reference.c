#include "samples/orrery/render/render_reference.h"

#include "samples/orrery/interrupt.h"
#include "samples/orrery/progress.h"

static orr_result add_samples(orr_reference *reference, const reference_request *request, orr_error *error)
{
    progress shown;
    orr_result result = ORR_OK;
    progress_begin(&shown, "samples", request->samples);
    for (int k = 0; k < request->samples && result == ORR_OK && (k == 0 || !interrupt_requested()); k++) {
        result = orr_reference_advance(reference, 1, error);
        if (request->progress) {
            progress_show(&shown, k + 1);
        }
    }
    progress_end(&shown);
    return result;
}

orr_result render_reference(const orr_scene *scene, const orr_world *world, const orr_view *view,
                            const reference_request *request, const orr_picture *picture,
                            orr_reference_info *info, orr_error *error)
{
    orr_reference *reference;
    ORR_TRY(orr_reference_create(scene, world, view, request->seed, &reference, error));
    orr_result result = add_samples(reference, request, error);
    result = result == ORR_OK ? orr_reference_picture(reference, request->linear, picture, error) : result;
    result = result == ORR_OK ? orr_reference_describe(reference, info, error) : result;
    orr_reference_destroy(reference);
    return result;
}
