#include "engine/device/interop_gpu.h"

#include <string.h>
#include <unistd.h>

enum { NOTES = 8, PROBE_BYTES = 4096 };
static const uint64_t PATIENCE = 10000000000u; // [ns] of the host in CUDA's stream; then Vulkan hangs

typedef struct timeline {
    VkSemaphore semaphore;
    cudaExternalSemaphore_t imported; // NULL: the host carries it
    uint64_t value;                   // the last that was promised
} timeline;

// What the host is to do in its turn in the stream.
typedef struct note {
    orr_interop *interop;
    VkSemaphore semaphore;
    uint64_t value;
    void *to; // and this copy; NULL: none
    const void *from;
    size_t bytes;
    atomic_bool pending;
} note;

struct orr_interop {
    orr_vk *vk;
    orr_cuda *cuda;
    bool shared;
    timeline by_cuda, by_vulkan; // who signals it
    note notes[NOTES];
    int next_note;
    atomic_int failed; // VkResult of the host in the stream: the first that is no success
};

// ---- timelines ----

// CUDA owns the descriptor once it has taken it.
static orr_result import_timeline(orr_interop *interop, timeline *line, orr_error *error)
{
    const VkSemaphoreGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
        .semaphore = line->semaphore,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    int descriptor;
    ORR_VK_TRY(vkGetSemaphoreFdKHR(interop->vk->device, &get, &descriptor), error);
    const struct cudaExternalSemaphoreHandleDesc desc = {
        .type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd, .handle.fd = descriptor};
    cudaError_t code = cudaImportExternalSemaphore(&line->imported, &desc);
    if (code != cudaSuccess) {
        close(descriptor);
        line->imported = NULL;
        return orr_cuda_fail(error, code, "cudaImportExternalSemaphore");
    }
    return ORR_OK;
}

static void destroy_timeline(orr_interop *interop, timeline *line)
{
    if (line->imported) {
        cudaDestroyExternalSemaphore(line->imported);
    }
    vkDestroySemaphore(interop->vk->device, line->semaphore, NULL);
    *line = (timeline){0};
}

static orr_result create_timeline(orr_interop *interop, bool exported, timeline *line, orr_error *error)
{
    const VkExportSemaphoreCreateInfo handed_out = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .pNext = exported ? &handed_out : NULL,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    *line = (timeline){0};
    ORR_VK_TRY(vkCreateSemaphore(interop->vk->device, &info, NULL, &line->semaphore), error);
    return exported ? import_timeline(interop, line, error) : ORR_OK;
}

// Both, or neither.
static orr_result create_timelines(orr_interop *interop, bool exported, orr_error *error)
{
    orr_result result = create_timeline(interop, exported, &interop->by_cuda, error);
    if (result == ORR_OK) {
        result = create_timeline(interop, exported, &interop->by_vulkan, error);
    }
    if (result != ORR_OK) {
        destroy_timeline(interop, &interop->by_cuda);
        destroy_timeline(interop, &interop->by_vulkan);
    }
    return result;
}

// ---- the host in the stream ----

static void end_note(note *n, VkResult result)
{
    int none = VK_SUCCESS;
    if (result != VK_SUCCESS) {
        atomic_compare_exchange_strong(&n->interop->failed, &none, (int)result);
    }
    atomic_store(&n->pending, false);
}

static void carry_wait(void *user)
{
    note *n = user;
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &n->semaphore,
        .pValues = &n->value,
    };
    VkResult result = vkWaitSemaphores(n->interop->vk->device, &info, PATIENCE);
    if (result == VK_SUCCESS && n->to) {
        memcpy(n->to, n->from, n->bytes);
    }
    end_note(n, result);
}

static VkResult signal_from_host(const orr_interop *interop, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = semaphore,
        .value = value,
    };
    return vkSignalSemaphore(interop->vk->device, &info);
}

static void carry_signal(void *user)
{
    note *n = user;
    if (n->to) {
        memcpy(n->to, n->from, n->bytes);
    }
    end_note(n, signal_from_host(n->interop, n->semaphore, n->value));
}

static orr_result check_host(const orr_interop *interop, orr_error *error)
{
    VkResult failed = (VkResult)atomic_load(&interop->failed);
    if (failed == VK_TIMEOUT) {
        return orr_fail(error, ORR_CODE_DEVICE_LOST, "Vulkan: nothing is done for %.0f s: CUDA waits for it",
                        (double)PATIENCE * 1e-9);
    }
    return orr_vk_check(failed, "a timeline in CUDA's stream", error);
}

// Puts a turn of the host into the stream.
static orr_result enqueue_note(orr_interop *interop, void (*carry)(void *), const timeline *line,
                               uint64_t value, void *to, const void *from, size_t bytes, orr_error *error)
{
    note *n = &interop->notes[interop->next_note];
    if (atomic_load(&n->pending)) {
        ORR_TRY(orr_cuda_wait(interop->cuda, error));
    }
    n->interop = interop;
    n->semaphore = line->semaphore;
    n->value = value;
    n->to = to;
    n->from = from;
    n->bytes = bytes;
    atomic_store(&n->pending, true);
    cudaError_t code = cudaLaunchHostFunc(interop->cuda->stream, carry, n);
    if (code != cudaSuccess) {
        atomic_store(&n->pending, false);
        return orr_cuda_fail(error, code, "cudaLaunchHostFunc");
    }
    interop->next_note = (interop->next_note + 1) % NOTES;
    return ORR_OK;
}

// ---- back and forth ----

orr_result orr_interop_to_vulkan(orr_interop *interop, const orr_interop_buffer *buffer, size_t bytes,
                                 orr_error *error)
{
    timeline *line = &interop->by_cuda;
    uint64_t value = line->value + 1;
    assert(!buffer || bytes <= buffer->size);
    ORR_TRY(check_host(interop, error));
    if (line->imported) {
        const struct cudaExternalSemaphoreSignalParams params = {.params.fence.value = value};
        ORR_CUDA_TRY(cudaSignalExternalSemaphoresAsync(&line->imported, &params, 1, interop->cuda->stream));
    } else if (buffer && !interop->shared) {
        ORR_CUDA_TRY(cudaMemcpyAsync(buffer->pinned, buffer->cuda, bytes, cudaMemcpyDeviceToHost,
                                     interop->cuda->stream));
        ORR_TRY(enqueue_note(interop, carry_signal, line, value, buffer->vulkan.mapped, buffer->pinned, bytes,
                             error));
    } else {
        ORR_TRY(enqueue_note(interop, carry_signal, line, value, NULL, NULL, 0, error));
    }
    line->value = value;
    return ORR_OK;
}

orr_result orr_interop_to_cuda(orr_interop *interop, const orr_interop_buffer *buffer, size_t bytes,
                               orr_error *error)
{
    const timeline *line = &interop->by_vulkan;
    assert(!buffer || bytes <= buffer->size);
    ORR_TRY(check_host(interop, error));
    if (line->value == 0) { // nothing was ever submitted
        return ORR_OK;
    }
    if (line->imported) {
        const struct cudaExternalSemaphoreWaitParams params = {.params.fence.value = line->value};
        ORR_CUDA_TRY(cudaWaitExternalSemaphoresAsync(&line->imported, &params, 1, interop->cuda->stream));
    } else if (buffer && !interop->shared) {
        ORR_TRY(enqueue_note(interop, carry_wait, line, line->value, buffer->pinned, buffer->vulkan.mapped,
                             bytes, error));
        ORR_CUDA_TRY(cudaMemcpyAsync(buffer->cuda, buffer->pinned, bytes, cudaMemcpyHostToDevice,
                                     interop->cuda->stream));
    } else {
        ORR_TRY(enqueue_note(interop, carry_wait, line, line->value, NULL, NULL, 0, error));
    }
    return ORR_OK;
}

orr_result orr_interop_submit(orr_interop *interop, VkCommandBuffer commands, uint64_t *value,
                              orr_error *error)
{
    const VkSemaphoreSubmitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = interop->by_cuda.semaphore,
        .value = interop->by_cuda.value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = interop->by_vulkan.semaphore,
        .value = interop->by_vulkan.value + 1,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    ORR_TRY(orr_vk_submit_between(interop->vk, commands, &wait, &signal, VK_NULL_HANDLE, error));
    *value = ++interop->by_vulkan.value;
    return ORR_OK;
}

// Shared memory comes from CUDA as from a queue family outside of Vulkan; copies are the host's.
static void record_passing(const orr_interop *interop, VkCommandBuffer commands,
                           const orr_interop_buffer *buffer, bool acquire)
{
    const VkPipelineStageFlags2 ours = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    const VkAccessFlags2 any = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    const VkAccessFlags2 of_host = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_HOST_WRITE_BIT;
    const VkPipelineStageFlags2 theirs =
        interop->shared ? VK_PIPELINE_STAGE_2_NONE : VK_PIPELINE_STAGE_2_HOST_BIT;
    const VkAccessFlags2 their_access = interop->shared ? VK_ACCESS_2_NONE : of_host;
    uint32_t family = interop->shared ? interop->vk->queue_family : VK_QUEUE_FAMILY_IGNORED;
    uint32_t outside = interop->shared ? VK_QUEUE_FAMILY_EXTERNAL : VK_QUEUE_FAMILY_IGNORED;
    const VkBufferMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
        .srcStageMask = acquire ? theirs : ours,
        .srcAccessMask = acquire ? their_access : any,
        .dstStageMask = acquire ? ours : theirs,
        .dstAccessMask = acquire ? any : their_access,
        .srcQueueFamilyIndex = acquire ? outside : family,
        .dstQueueFamilyIndex = acquire ? family : outside,
        .buffer = buffer->vulkan.buffer,
        .size = VK_WHOLE_SIZE,
    };
    const VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .bufferMemoryBarrierCount = 1,
        .pBufferMemoryBarriers = &barrier,
    };
    vkCmdPipelineBarrier2(commands, &info);
}

void orr_interop_acquire(const orr_interop *interop, VkCommandBuffer commands,
                         const orr_interop_buffer *buffer)
{
    record_passing(interop, commands, buffer, true);
}

void orr_interop_release(const orr_interop *interop, VkCommandBuffer commands,
                         const orr_interop_buffer *buffer)
{
    record_passing(interop, commands, buffer, false);
}

orr_result orr_interop_reach(orr_interop *interop, uint64_t value, orr_error *error)
{
    return orr_vk_timeline_wait(interop->vk, interop->by_vulkan.semaphore, value, error);
}

// A stream that has failed never signals what it should. The host waits for it once more, so that nothing
// runs in it: a value that is signalled twice loses the device.
static void let_vulkan_go_on(orr_interop *interop)
{
    const timeline *line = &interop->by_cuda;
    uint64_t reached;
    orr_cuda_wait(interop->cuda, NULL);
    if (line->value > 0 &&
        vkGetSemaphoreCounterValue(interop->vk->device, line->semaphore, &reached) == VK_SUCCESS &&
        reached < line->value) {
        signal_from_host(interop, line->semaphore, line->value);
    }
}

orr_result orr_interop_settle(orr_interop *interop, orr_error *error)
{
    orr_result result = orr_cuda_wait(interop->cuda, error);
    if (result == ORR_OK) {
        result = check_host(interop, error);
    }
    if (result != ORR_OK) {
        let_vulkan_go_on(interop);
    }
    return result;
}

// ---- buffers ----

// CUDA owns the descriptor once it has taken it, and its view of the memory goes before the memory.
static orr_result import_memory(orr_interop *interop, const orr_vk_export *memory, orr_interop_buffer *buffer,
                                orr_error *error)
{
    const VkMemoryGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = buffer->vulkan.memory,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    int descriptor;
    ORR_VK_TRY(vkGetMemoryFdKHR(interop->vk->device, &get, &descriptor), error);
    const struct cudaExternalMemoryHandleDesc desc = {.type = cudaExternalMemoryHandleTypeOpaqueFd,
                                                      .handle.fd = descriptor,
                                                      .size = memory->size,
                                                      .flags = memory->dedicated ? cudaExternalMemoryDedicated
                                                                                 : 0};
    cudaError_t code = cudaImportExternalMemory(&buffer->imported, &desc);
    if (code != cudaSuccess) {
        close(descriptor);
        buffer->imported = NULL;
        return orr_cuda_fail(error, code, "cudaImportExternalMemory");
    }
    const struct cudaExternalMemoryBufferDesc whole = {.size = buffer->vulkan.size};
    ORR_CUDA_TRY(cudaExternalMemoryGetMappedBuffer(&buffer->cuda, buffer->imported, &whole));
    return ORR_OK;
}

static orr_result fill_buffer(orr_interop *interop, orr_interop_direction direction, const char *what,
                              orr_interop_buffer *buffer, orr_error *error)
{
    ORR_TRY(orr_cuda_use(interop->cuda, error));
    if (interop->shared) {
        orr_vk_export memory;
        ORR_TRY(orr_vk_buffer_create_exportable(interop->vk, buffer->size, 0, what, &buffer->vulkan, &memory,
                                                error));
        return import_memory(interop, &memory, buffer, error);
    }
    orr_vk_residence residence = direction == ORR_INTEROP_TO_VULKAN ? ORR_VK_UPLOAD : ORR_VK_READBACK;
    ORR_TRY(orr_vk_buffer_create(interop->vk, buffer->size, residence, 0, what, &buffer->vulkan, error));
    ORR_CUDA_TRY(cudaMallocHost(&buffer->pinned, buffer->size));
    return orr_cuda_alloc(interop->cuda, buffer->size, 1, &buffer->cuda, error);
}

orr_result orr_interop_buffer_create(orr_interop *interop, size_t size, orr_interop_direction direction,
                                     const char *what, orr_interop_buffer *buffer, orr_error *error)
{
    *buffer = (orr_interop_buffer){.size = size > 16 ? size : 16};
    orr_result result = fill_buffer(interop, direction, what, buffer, error);
    if (result != ORR_OK) {
        orr_interop_buffer_destroy(interop, buffer);
    }
    return result;
}

void orr_interop_buffer_destroy(orr_interop *interop, orr_interop_buffer *buffer)
{
    orr_cuda_free(buffer->cuda);
    if (buffer->imported) {
        cudaDestroyExternalMemory(buffer->imported);
    }
    cudaFreeHost(buffer->pinned);
    orr_vk_buffer_destroy(interop->vk, &buffer->vulkan);
    *buffer = (orr_interop_buffer){0};
}

// ---- creation ----

static orr_result check_sharing(const orr_vk *vk, const orr_cuda *cuda, orr_error *error)
{
    if (memcmp(vk->uuid, cuda->info.uuid, sizeof vk->uuid) != 0) {
        return orr_fail(error, ORR_CODE_DEVICE_SHARING,
                        "interop: %s (Vulkan) and %s (CUDA) are two devices, expected one UUID",
                        orr_vk_name(vk), cuda->info.name);
    }
    if (!vk->exports_memory) {
        return orr_fail(error, ORR_CODE_DEVICE_SHARING, "interop: %s: expected %s and memory that it exports",
                        orr_vk_name(vk), VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    }
    return ORR_OK;
}

static orr_result open_interop(orr_interop *interop, orr_error *error)
{
    ORR_TRY(orr_cuda_use(interop->cuda, error));
    if (interop->shared) {
        ORR_TRY(check_sharing(interop->vk, interop->cuda, error));
    }
    bool exported = interop->shared && interop->vk->exports_semaphores;
    if (!exported || create_timelines(interop, true, NULL) != ORR_OK) {
        ORR_TRY(create_timelines(interop, false, error));
    }
    orr_interop_buffer probe;
    ORR_TRY(
        orr_interop_buffer_create(interop, PROBE_BYTES, ORR_INTEROP_TO_VULKAN, "an attempt", &probe, error));
    orr_interop_buffer_destroy(interop, &probe);
    return ORR_OK;
}

orr_result orr_interop_create(orr_vk *vk, orr_cuda *cuda, bool shared, orr_interop **out, orr_error *error)
{
    *out = NULL;
    orr_interop *interop = orr_alloc_zero(1, sizeof *interop);
    if (!interop) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: interop");
    }
    interop->vk = vk;
    interop->cuda = cuda;
    interop->shared = shared;
    orr_result result = open_interop(interop, error);
    if (result != ORR_OK) {
        orr_interop_destroy(interop);
        return result;
    }
    *out = interop;
    return ORR_OK;
}

void orr_interop_destroy(orr_interop *interop)
{
    if (!interop) {
        return;
    }
    orr_cuda_use(interop->cuda, NULL);
    orr_interop_settle(interop, NULL);   // notes refer to it
    vkQueueWaitIdle(interop->vk->queue); // a lost device answers at once
    destroy_timeline(interop, &interop->by_cuda);
    destroy_timeline(interop, &interop->by_vulkan);
    orr_free(interop);
}

bool orr_interop_has_timelines(const orr_interop *interop)
{
    return interop->by_cuda.imported != NULL;
}
