#include "render/field_light/field_light.h"

typedef void row_kernel(const orr_field_light_job *job, int row);

#define ROW(isa) orr_field_light_row_##isa
static row_kernel *const kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(ROW);

typedef struct light_task {
    row_kernel *kernel;
    orr_field_light_job job;
} light_task;

static void light_row(void *context, int row, int worker)
{
    (void)worker;
    const light_task *task = context;
    task->kernel(&task->job, row);
}

static orr_result draw_maps(const orr_field_pass *pass, orr_isa isa, orr_shadow_maps *shadows,
                            orr_cloud_shadows *clouds, orr_error *error)
{
    if (pass->list->mesh_count > 0) {
        ORR_TRY(orr_shadow_maps_draw(pass->jobs, isa, pass->arena, pass->list, shadows, error));
    }
    return orr_cloud_shadows_draw(pass->jobs, isa, pass->arena, pass->list, &shadows->plan, clouds, error);
}

orr_result orr_field_light(orr_field_pass *pass, orr_isa isa, const orr_field_light_maps *maps,
                           orr_error *error)
{
    const orr_draw_list *list = pass->list;
    orr_field_lamps lamps;
    orr_shadow_maps shadows = {.texels = NULL};
    orr_cloud_shadows clouds = {.count = 0};
    if (list->field_count == 0 || !orr_field_lamps_find(list, &lamps)) {
        return ORR_OK;
    }
    ORR_TRY(maps ? ORR_OK : draw_maps(pass, isa, &shadows, &clouds, error));
    light_task task = {.kernel = kernels[isa],
                       .job = {.lamps = &lamps,
                               .captured = list->self_shadow ? list->self_shadow->depths : NULL,
                               .maps = maps ? *maps : (orr_field_light_maps){&shadows, &clouds},
                               .depth = pass->depth,
                               .colour = pass->colour}};
    orr_jobs_for(pass->jobs, lamps.height, light_row, &task);
    return ORR_OK;
}
