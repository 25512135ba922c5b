#include "tests/render/vulkan_rig.h"

orr_vk *vk;
orr_jobs *jobs;
orr_vulkan_draw *vulkan_draw;
static int complaints;

static void print_complaint(void *user, orr_log_level level, int code, const char *line)
{
    (void)user;
    (void)level;
    (void)code;
    complaints++;
    print_message("%s\n", line);
}

bool vulkan_rig_open(void)
{
    orr_error error = {0};
    const orr_vk_desc desc = {.validate = true, .log = {print_complaint, NULL}};
    orr_result result = orr_vk_create(&desc, &vk, &error);
    if (result != ORR_OK && error.code == ORR_CODE_DEVICE_VALIDATION) {
        print_message("without validation: %s\n", error.message);
        result = orr_vk_create(&(orr_vk_desc){0}, &vk, &error);
    }
    if (result == ORR_OK) {
        result = orr_jobs_create(2, NULL, NULL, &jobs, &error);
    }
    if (result != ORR_OK) {
        print_message("skipped: %s\n", error.message);
        return false;
    }
    print_message("drawing on %s\n", orr_vk_name(vk));
    return true;
}

int vulkan_rig_open_draw(void **state)
{
    (void)state;
    assert_ok(orr_vulkan_draw_create(vk, jobs, VULKAN_RIG_FRAMES, &vulkan_draw, &error));
    return 0;
}

int vulkan_rig_close_draw(void **state)
{
    (void)state;
    orr_vulkan_draw_destroy(vulkan_draw);
    return 0;
}

int vulkan_rig_close(int failures)
{
    orr_jobs_destroy(jobs);
    orr_vk_destroy(vk);
    return failures + complaints;
}

drawn drawn_on_vulkan(orr_vulkan_draw *draw, const orr_draw_list *list)
{
    drawn d = drawn_make(list);
    assert_ok(orr_vulkan_draw_submit(draw, list, NULL, &error));
    assert_ok(orr_vulkan_draw_finish(draw, &(orr_picture){d.rgba, d.depth}, NULL, &error));
    return d;
}
