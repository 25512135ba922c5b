// Presenting: a window, a picture that fills it, and triangles over the picture (the panel). The only file
// that knows swapchains. It has a Vulkan device of its own, so that it shows what any machine drew, and
// survives resizing, minimising, and the loss of the surface or the device.
//
// Belongs to programs, not to the library: it needs GLFW.
#pragma once

#include "engine/core/image.h"

struct GLFWwindow;
typedef struct orr_present orr_present;

typedef struct orr_present_desc {
    const char *title;
    int width, height; // of the window [screen coordinates]
    bool validate;     // Vulkan's validation layer
    orr_log log;
} orr_present_desc;

// Where a triangle's corner lies [framebuffer px, y down], its place in the texture (0 .. 1), and its colour
// with straight alpha, which the texture's coverage multiplies.
typedef struct orr_overlay_vertex {
    float place[2];
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
    const uint8_t *coverage; // texture_height x texture_width; the same in every frame
    int texture_width, texture_height;
} orr_overlay;

// ORR_CODE_WINDOW when there is no display or the display has no Vulkan.
orr_result orr_present_create(const orr_present_desc *desc, orr_present **present, orr_error *error);
void orr_present_destroy(orr_present *present); // NULL is allowed
struct GLFWwindow *orr_present_window(const orr_present *present);
const char *orr_present_device(const orr_present *present); // the name of the Vulkan device that presents

// Shows a picture, stretched to the window, under an overlay (either may be NULL). The picture is
// premultiplied and is taken over when `revision` (> 0) is another than before. Does nothing while the window
// is minimised: *shown says so. A lost surface, swapchain or device is made anew; an error means that this
// failed too.
orr_result orr_present_frame(orr_present *present, const orr_image8 *picture, uint64_t revision,
                             const orr_overlay *overlay, bool *shown, orr_error *error);
