// A premultiplied texture times a premultiplied colour: the picture under white, or the panel's coverage
// under its colours.
#version 460

layout(set = 0, binding = 0) uniform sampler2D picture;

layout(location = 0) in vec2 texture_coordinates;
layout(location = 1) in vec4 colour;
layout(location = 0) out vec4 out_colour;

void main()
{
    out_colour = texture(picture, texture_coordinates) * colour;
}
