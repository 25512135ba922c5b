#include "render/window/present.h"

#include "engine/core/memory.h"
#include "render/window/present_draw.h"
#include "render/window/present_swapchain.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

struct orr_present {
    GLFWwindow *window;
    orr_vk *vk; // borrowed; NULL while there is none
    orr_swapchain swapchain;
    orr_present_draw draw;
};

static orr_result start_window_system(orr_error *error)
{
    const char *why = NULL;
    if (!glfwInit()) {
        glfwGetError(&why);
        return orr_fail(error, ORR_CODE_WINDOW, "window: no display: %s", why ? why : "GLFW does not start");
    }
    uint32_t count; // a loader without a driver for this display reports no extensions
    if (!glfwVulkanSupported() || !glfwGetRequiredInstanceExtensions(&count)) {
        return orr_fail(error, ORR_CODE_WINDOW,
                        "window: expected a Vulkan driver that presents to this display (Debian: "
                        "mesa-vulkan-drivers has one for any machine)");
    }
    return ORR_OK;
}

orr_result orr_present_create(orr_present **out, orr_error *error)
{
    *out = NULL;
    orr_present *present = orr_alloc_zero(1, sizeof *present);
    if (!present) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a window");
    }
    orr_result result = start_window_system(error);
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
        assert(!present->vk); // detached before
        if (present->window) {
            glfwDestroyWindow(present->window);
        }
        glfwTerminate();
        orr_free(present);
    }
}

const char *const *orr_present_extensions(const orr_present *present, int *count)
{
    (void)present; // GLFW is initialised
    uint32_t found = 0;
    const char **extensions = glfwGetRequiredInstanceExtensions(&found);
    *count = (int)found;
    return extensions;
}

orr_result orr_present_open(orr_present *present, const orr_present_desc *desc, orr_error *error)
{
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "orrery");
    present->window = glfwCreateWindow(desc->width, desc->height, desc->title, NULL, NULL);
    if (!present->window) {
        const char *why = NULL;
        glfwGetError(&why);
        return orr_fail(error, ORR_CODE_WINDOW, "window: %s", why ? why : "could not be opened");
    }
    return ORR_OK;
}

GLFWwindow *orr_present_window(const orr_present *present)
{
    return present->window;
}

orr_result orr_present_attach(orr_present *present, orr_vk *vk, orr_error *error)
{
    assert(present->window && !present->vk);
    present->vk = vk;
    orr_result result = orr_present_draw_create(vk, &present->draw, error);
    if (result != ORR_OK) {
        orr_present_detach(present);
    }
    return result;
}

void orr_present_detach(orr_present *present)
{
    if (present->vk) {
        vkDeviceWaitIdle(present->vk->device); // returns at once when the device is lost
        orr_present_draw_destroy(present->vk, &present->draw);
        orr_swapchain_destroy(present->vk, &present->swapchain);
        present->vk = NULL;
    }
}

orr_result orr_present_frame(orr_present *present, const orr_present_picture *picture,
                             const orr_overlay *overlay, bool *shown, orr_error *error)
{
    assert(!picture || (picture->bytes && picture->revision > 0) || picture->image);
    *shown = false;
    orr_vk *vk = present->vk;
    orr_swapchain *swapchain = &present->swapchain;
    orr_present_draw *draw = &present->draw;
    for (int attempt = 0; attempt < 3;
         attempt++) { // while a window is resized, swapchains may be out of date at once
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
            ORR_TRY(orr_present_draw_image(vk, draw, swapchain, image, picture, overlay, error));
            *shown = true;
            return orr_swapchain_present(vk, swapchain, image, error);
        }
    }
    return ORR_OK;
}
