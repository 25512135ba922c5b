// Sizes of the dispatches after projection.
#version 460
#include "shaders/control.glsl"

layout(local_size_x = 1) in;
layout(binding = 0, scalar) buffer Control { control_block control; };

void main()
{
    uint visible = control.counts[COUNT_VISIBLE];
    control.visible_groups = uint[3](divide_up(visible, GROUP), 1u, 1u);
    control.visible_blocks = uint[3](divide_up(visible, SORT_BLOCK), 1u, 1u);
}
