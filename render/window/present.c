#include "render/window/present.h"

#include "engine/core/memory.h"
#include "render/window/present_draw.h"
#include "render/window/present_swapchain.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

struct orr_present {
    GLFWwindow *window;
    bool validate;
    orr_log log;
    orr_vk *vk; // NULL after it was lost and could not be made anew
    orr_swapchain swapchain;
    orr_present_draw draw;
};

static orr_result create_window(const orr_present_desc *desc, GLFWwindow **window, orr_error *error)
{
    const char *why = NULL;
    if (!glfwInit()) {
        glfwGetError(&why);
        return orr_fail(error, ORR_CODE_WINDOW, "window: no display: %s", why ? why : "GLFW does not start");
    }
    if (!glfwVulkanSupported()) {
        return orr_fail(error, ORR_CODE_WINDOW,
                        "window: expected a Vulkan driver that presents to this display");
    }
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "orrery");
    *window = glfwCreateWindow(desc->width, desc->height, desc->title, NULL, NULL);
    if (!*window) {
        glfwGetError(&why);
        return orr_fail(error, ORR_CODE_WINDOW, "window: %s", why ? why : "could not be opened");
    }
    return ORR_OK;
}

static void destroy_device(orr_present *present)
{
    if (present->vk) {
        vkDeviceWaitIdle(present->vk->device); // a lost device answers at once
        orr_present_draw_destroy(present->vk, &present->draw);
        orr_swapchain_destroy(present->vk, &present->swapchain);
        orr_vk_destroy(present->vk);
        present->vk = NULL;
    }
}

static orr_result create_device(orr_present *present, orr_error *error)
{
    uint32_t count = 0;
    const char **extensions = glfwGetRequiredInstanceExtensions(&count);
    const orr_vk_desc desc = {
        .validate = present->validate,
        .present = true,
        .instance_extensions = extensions,
        .instance_extension_count = (int)count,
        .log = present->log,
    };
    ORR_TRY(orr_vk_create(&desc, &present->vk, error));
    orr_result result = orr_present_draw_create(present->vk, &present->draw, error);
    if (result != ORR_OK) {
        destroy_device(present);
    }
    return result;
}

orr_result orr_present_create(const orr_present_desc *desc, orr_present **out, orr_error *error)
{
    *out = NULL;
    orr_present *present = orr_alloc_zero(1, sizeof *present);
    if (!present) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a window");
    }
    present->validate = desc->validate;
    present->log = desc->log;
    orr_result result = create_window(desc, &present->window, error);
    if (result == ORR_OK) {
        result = create_device(present, error);
    }
    if (result != ORR_OK) {
        orr_present_destroy(present);
        return result;
    }
    *out = present;
    return ORR_OK;
}

void orr_present_destroy(orr_present *present)
{
    if (present) {
        destroy_device(present);
        if (present->window) {
            glfwDestroyWindow(present->window);
        }
        glfwTerminate();
        orr_free(present);
    }
}

GLFWwindow *orr_present_window(const orr_present *present)
{
    return present->window;
}

const char *orr_present_device(const orr_present *present)
{
    return present->vk ? orr_vk_name(present->vk) : "";
}

static orr_result show(orr_present *present, const orr_image8 *picture, uint64_t revision,
                       const orr_overlay *overlay, bool *shown, orr_error *error)
{
    if (!present->vk) {
        ORR_TRY(create_device(present, error));
    }
    orr_vk *vk = present->vk;
    orr_swapchain *swapchain = &present->swapchain;
    orr_present_draw *draw = &present->draw;
    for (int attempt = 0; attempt < 3;
         attempt++) { // a window being resized outdates swapchains as they are made
        bool ready;
        ORR_TRY(orr_swapchain_prepare(vk, present->window, swapchain, &ready, error));
        if (!ready) {
            return ORR_OK;
        }
        ORR_TRY(orr_present_draw_begin(vk, draw, swapchain->format, error));
        uint32_t image;
        bool acquired;
        ORR_TRY(
            orr_swapchain_acquire(vk, swapchain, draw->slots[draw->slot].acquired, &image, &acquired, error));
        if (acquired) {
            ORR_TRY(orr_present_draw_image(vk, draw, swapchain, image, picture, revision, overlay, error));
            *shown = true;
            return orr_swapchain_present(vk, swapchain, image, error);
        }
    }
    return ORR_OK;
}

orr_result orr_present_frame(orr_present *present, const orr_image8 *picture, uint64_t revision,
                             const orr_overlay *overlay, bool *shown, orr_error *error)
{
    assert(!picture || revision > 0);
    *shown = false;
    orr_error why = {0};
    orr_result result = show(present, picture, revision, overlay, shown, &why);
    if (result != ORR_OK && why.code == ORR_CODE_DEVICE_LOST) {
        orr_log_line(present->log, ORR_LOG_WARNING, ORR_CODE_DEVICE_LOST, "%s: starting it again",
                     why.message);
        destroy_device(present);
        result = show(present, picture, revision, overlay, shown, &why);
    }
    if (result != ORR_OK && error) {
        *error = why;
    }
    return result;
}
