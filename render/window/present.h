// Presenting: a window, a picture that fills it, and triangles over the picture (the panel). It borrows a
// Vulkan device, so that what this device drew is shown without leaving it, and survives resizing,
// minimising, and the loss of the surface.
//
// Belongs to programs, not to the library: it needs GLFW.
#pragma once

#include "engine/device/vulkan.h"
#include "engine/image/image.h"

struct GLFWwindow;
struct orr_vulkan_image;
typedef struct orr_present orr_present;

typedef struct orr_present_desc {
    const char *title;
    int width, height; // of the window [screen coordinates]
} orr_present_desc;

// A triangle's corner: position [framebuffer px, y down], texture coordinates (0 .. 1), and colour with
// straight alpha, which the texture's coverage multiplies.
typedef struct orr_overlay_vertex {
    float position[2];
    float texture[2];
    uint8_t rgba[4];
} orr_overlay_vertex;

// Triangles drawn together, inside a rectangle.
typedef struct orr_overlay_part {
    uint32_t first_index, index_count;
    uint32_t first_vertex; // added to every index
    float low[2], high[2]; // nothing is drawn outside [framebuffer px]
} orr_overlay_part;

typedef struct orr_overlay_list {
    const orr_overlay_vertex *vertices; // vertex_count
    const uint16_t *indices;            // index_count
    const orr_overlay_part *parts;      // part_count
    uint32_t vertex_count, index_count, part_count;
} orr_overlay_list;

typedef struct orr_overlay {
    const orr_overlay_list *lists; // list_count, drawn in order
    int list_count;
    const uint8_t *coverage; // texture_height x texture_width
    int texture_width, texture_height;
    uint64_t revision; // > 0; of the coverage: taken over when it is another than before
} orr_overlay;

// What fills the window: bytes in memory of the host, or an image on the device.
typedef struct orr_present_picture {
    const orr_image8 *bytes; // premultiplied; taken over when `revision` is another than before
    const struct orr_vulkan_image
        *image;        // instead of bytes: of the window's device, see render/vulkan/image.h
    uint64_t revision; // > 0; of the bytes
} orr_present_picture;

// Starts the window system. ORR_CODE_WINDOW when there is no display or the display has no Vulkan.
orr_result orr_present_create(orr_present **present, orr_error *error);
void orr_present_destroy(orr_present *present); // NULL is allowed; after its device was detached
// The Vulkan instance extensions a device needs to present here (and orr_vk_desc.present); valid until
// destroy.
const char *const *orr_present_extensions(const orr_present *present, int *count);

orr_result orr_present_open(orr_present *present, const orr_present_desc *desc,
                            orr_error *error); // the window
struct GLFWwindow *orr_present_window(const orr_present *present);

// The display's server may go away, as when it is ended or a connection over ssh breaks: `lost` is called
// then, on the thread that finds out, and must not ask anything of the window. The process ends with exit
// code 1 when it returns. NULL: nothing is called. X11 only; others end windows as a user does.
void orr_present_when_lost(void (*lost)(void *context), void *context);

// Gives the window its device, which is borrowed until it is detached: before it is closed, or when it was
// lost.
orr_result orr_present_attach(orr_present *present, orr_vk *vk, orr_error *error);
void orr_present_detach(orr_present *present); // without one it does nothing

// Shows a picture, stretched to the window, under an overlay (either may be NULL). Does nothing while the
// window is minimised: *shown is false then. A lost surface or swapchain is created again.
// ORR_CODE_DEVICE_LOST: detach, and attach another.
orr_result orr_present_frame(orr_present *present, const orr_present_picture *picture,
                             const orr_overlay *overlay, bool *shown, orr_error *error);
