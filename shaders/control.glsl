// Counts that the stages of a frame pass on, and the sizes of the dispatches after them. Mirrors
// orr_vulkan_control in render/vulkan/splats.h.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#define GROUP 256u       // invocations of a workgroup
#define SORT_BLOCK 2048u // elements a workgroup of the sort handles
#define NONE 0xffffffffu // the key of splats that draw nothing: the sort drops them

#define COUNT_SPLATS 0  // of all layers
#define COUNT_VISIBLE 1 // on the screen
#define COUNT_PAIRS 2   // of a splat and a tile it reaches; 0 when they exceed the capacity

struct control_block {
    uint counts[3];
    uint pairs_needed; // 2^32 - 1: that many or more
    uint visible_groups[3]; // arguments of indirect dispatches: visible splats, GROUP each
    uint visible_blocks[3]; // SORT_BLOCK each
    uint pair_blocks[3];
    float clip[4]; // camera space: splats whose middle is behind this plane are left out; zeros: none is
};

uint divide_up(uint count, uint size)
{
    return (count + size - 1u) / size;
}
