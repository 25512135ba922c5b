#include "engine/image/exif.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"

#include <stdio.h>
#include <string.h>

enum { HEAD = 1 << 18, ORIENTATION = 0x0112, SHORT = 3 };

typedef struct tiff {
    const uint8_t *bytes;
    size_t size;
    bool little;
} tiff;

// `count` 2 or 4 bytes at `at`; 0 beyond the end.
static uint32_t number_at(const tiff *t, size_t at, size_t count)
{
    uint32_t value = 0;
    if (at > t->size || count > t->size - at) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        value = value << 8 | t->bytes[at + (t->little ? count - 1 - i : i)];
    }
    return value;
}

// The tag's value in the first directory.
static int read_tiff(const uint8_t *bytes, size_t size)
{
    tiff t = {bytes, size, size >= 2 && bytes[0] == 'I'};
    if (size < 8 || (memcmp(bytes, "II", 2) != 0 && memcmp(bytes, "MM", 2) != 0) ||
        number_at(&t, 2, 2) != 42) {
        return 0;
    }
    size_t directory = number_at(&t, 4, 4), entries = number_at(&t, directory, 2);
    for (size_t i = 0; i < entries; i++) {
        size_t entry = directory + 2 + 12 * i;
        if (number_at(&t, entry, 2) == ORIENTATION && number_at(&t, entry + 2, 2) == SHORT) {
            uint32_t value = number_at(&t, entry + 8, 2);
            return value >= 1 && value <= 8 ? (int)value : 0;
        }
    }
    return 0;
}

int orr_exif_orientation(const uint8_t *bytes, size_t size)
{
    if (size < 4 || bytes[0] != 0xff || bytes[1] != 0xd8) {
        return 0;
    }
    size_t at = 2;
    while (size - at >= 4 && bytes[at] == 0xff) {
        size_t length = (size_t)bytes[at + 2] << 8 | bytes[at + 3]; // of the segment behind its marker
        if (length < 2 || length > size - at - 2 || bytes[at + 1] == 0xda) {
            return 0;
        }
        const uint8_t *segment = bytes + at + 4;
        if (bytes[at + 1] == 0xe1 && length >= 8 && memcmp(segment, "Exif\0\0", 6) == 0) {
            return read_tiff(segment + 6, length - 8);
        }
        at += 2 + length;
    }
    return 0;
}

int orr_exif_orientation_of(const char *path)
{
    FILE *stream;
    uint8_t *head = orr_alloc(HEAD, 1);
    if (!head || orr_file_open(path, &stream, NULL) != ORR_OK) {
        orr_free(head);
        return 0;
    }
    int orientation = orr_exif_orientation(head, fread(head, 1, HEAD, stream));
    fclose(stream);
    orr_free(head);
    return orientation;
}
