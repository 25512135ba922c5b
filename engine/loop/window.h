// For a program with a window: one Vulkan device draws and presents, so that pictures need not leave it. The
// engine owns the device, opens it again when it was lost, and goes on with the next rung of the ladder
// (docs/devices.md) when a device fails; the program attaches its window to the device, submits and finishes
// frames, and reads where each picture is.
#pragma once

#include "engine/device/vulkan.h"

struct orr_vulkan_image; // render/vulkan/image.h

// What the engine needs of the window.
typedef struct orr_window {
    const char *const *extensions; // extension_count: Vulkan instance extensions that presenting needs
    int extension_count;
    // Attaches the window to the device, which is borrowed until `detach`.
    orr_result (*attach)(void *user, orr_vk *vk, orr_error *error);
    void (*detach)(void *user); // the device goes, or was lost; not called after an attach that failed
    void *user;
} orr_window;

// As orr_engine_create; the Vulkan device will be one that can present to the window. Copies `window`; what
// it refers to must live as long as the engine.
orr_result orr_engine_create_for_window(const orr_engine_desc *desc, const orr_window *window,
                                        orr_engine **engine, orr_error *error);
// Attaches the window, once it is open, to the engine's Vulkan device; does nothing where it is attached. The
// engine detaches it and attaches it again when that device is lost.
orr_result orr_engine_attach_window(orr_engine *engine, orr_error *error);
void orr_engine_detach_window(orr_engine *engine); // before the window closes; NULL is allowed
// After presenting has failed with *error: ORR_OK when the reason was a lost device and another is attached,
// so that presenting can be tried again (pictures on the lost one are gone, see orr_frame_location);
// otherwise the error remains what it was.
orr_result orr_engine_restore_window(orr_engine *engine, orr_error *error);
// The device after this one in the order CPU, Vulkan, CUDA; those that the engine does not draw on are
// skipped.
orr_device_kind orr_engine_next_device(const orr_engine *engine, orr_device_kind device);

// As orr_frame_create. `device` draws, and when it fails, the next rung; ORR_DEVICE_AUTO: the engine's.
orr_result orr_frame_create_for_window(orr_engine *engine, const orr_frame_desc *desc, orr_frame **frame,
                                       orr_error *error);
// As orr_frame_submit, for a picture that may end in an image of the Vulkan device. Of frames made by either
// call; those of orr_frame_create_for_window open a lost Vulkan device again.
orr_result orr_frame_submit_for_window(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                                       const orr_view *view, orr_error *error);
// Completes the oldest frame, submitted either way. orr_frame_location says where its picture is: in the
// memory of `picture`, or in *image. Both are nullable.
orr_result orr_frame_finish_for_window(orr_frame *frame, const orr_picture *picture,
                                       struct orr_vulkan_image *image, orr_error *error);

typedef enum orr_picture_location {
    ORR_PICTURE_NOWHERE = 0, // there is none, or it was lost with its device
    ORR_PICTURE_IN_MEMORY,
    ORR_PICTURE_ON_DEVICE // until as many more frames as are in flight are submitted for the window
} orr_picture_location;
// Where the picture is that was submitted for the window and finished last.
orr_picture_location orr_frame_location(const orr_frame *frame);
