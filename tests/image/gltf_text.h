// Texts of small glTF files.
#pragma once

// Buffer 0: positions of a triangle (0, 0, 0) (1, 0, 0) (0, 1, 0), then as bytes: normals (0, 0, 127), and
// indices 0 1 2 1 0; 56 bytes, base64.
#define BUFFER                                                                                               \
    "\"buffers\":[{\"byteLength\":56,\"uri\":\"data:application/octet-stream;base64,"                        \
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAB/AAAAfwAAAH8AAAECAQAAAAA=\"}],"
#define VIEWS                                                                                                \
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},{\"buffer\":0,\"byteOffset\":36,\"byteLength\":12,"   \
    "\"byteStride\":4},{\"buffer\":0,\"byteOffset\":48,\"byteLength\":8}],"
#define ACCESSORS                                                                                            \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"                \
    "{\"bufferView\":1,\"componentType\":5120,\"normalized\":true,\"count\":3,\"type\":\"VEC3\"},"           \
    "{\"bufferView\":2,\"componentType\":5121,\"count\":3,\"type\":\"SCALAR\"},"                             \
    "{\"componentType\":5126,\"count\":5,\"type\":\"VEC3\",\"sparse\":{\"count\":2,\"indices\":{"            \
    "\"bufferView\":2,\"componentType\":5121,\"byteOffset\":1},\"values\":{\"bufferView\":0,"                \
    "\"byteOffset\":12}}}],"
#define HEAD "{\"asset\":{\"version\":\"2.0\"}," BUFFER VIEWS ACCESSORS
#define TRIANGLE                                                                                             \
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1},\"indices\":2}]}]"

#define PNG "{\"uri\":\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAA"
// Pictures of one texel (51 128 255), one (102 0 0), and two texels.
#define IMAGES                                                                                               \
    "\"images\":[" PNG "EAAAABCAIAAACQd1PeAAAADElEQVR42mMwbvgPAAKcAbPnPvARAAAAAElFTkSuQmCC\"}," PNG          \
    "EAAAABCAIAAACQd1PeAAAADElEQVR42mNIY2AAAAE2AGdEzl5XAAAAAElFTkSuQmCC\"}," PNG                             \
    "IAAAABCAIAAAB7QOjdAAAADUlEQVR42mNgZGIGIgAALQAN+IuHsAAAAABJRU5ErkJggg==\"}],"
#define PICTURES IMAGES "\"textures\":[{\"source\":0},{\"source\":1},{\"source\":2}],"
#define WITH_MATERIAL(material)                                                                              \
    HEAD PICTURES "\"materials\":[" material "],\"meshes\":[{\"primitives\":[{\"attributes\":{"              \
                  "\"POSITION\":0},\"material\":0}]}],\"nodes\":[{\"mesh\":0}]}"
#define METAL "\"pbrMetallicRoughness\":{\"metallicRoughnessTexture\":{\"index\":0}}"
