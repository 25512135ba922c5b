// Triangles in framebuffer pixels: the viewer's picture and the panel over it (render/window/present_draw.c).
#version 460

layout(push_constant) uniform Push
{
    vec2 scale; // 2 / size of the framebuffer
};

layout(location = 0) in vec2 position;
layout(location = 1) in vec2 texture_coordinates;
layout(location = 2) in vec4 colour; // straight alpha
layout(location = 0) out vec2 out_texture_coordinates;
layout(location = 1) out vec4 out_colour; // premultiplied

void main()
{
    gl_Position = vec4(position * scale - 1.0, 0.0, 1.0);
    out_texture_coordinates = texture_coordinates;
    out_colour = vec4(colour.rgb * colour.a, colour.a);
}
