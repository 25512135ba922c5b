#include "samples/orrery/view/panel_font.h"

#include "engine/core/file.h"

#include <fontconfig/fontconfig.h>
#include <stdio.h>
#include <string.h>

// Dear ImGui reads what stb_truetype reads, and asserts that it does: TrueType outlines in a file of their
// own kind, no bitmaps and no variable fonts.
static FcPattern *wanted(void)
{
    FcPattern *pattern = FcPatternCreate();
    if (pattern) {
        FcPatternAddString(pattern, FC_FAMILY, (const FcChar8 *)"DejaVu Sans");
        FcPatternAddString(pattern, FC_FAMILY, (const FcChar8 *)"sans-serif");
        FcPatternAddString(pattern, FC_FONTFORMAT, (const FcChar8 *)"TrueType");
        FcPatternAddBool(pattern, FC_SCALABLE, FcTrue);
        FcPatternAddBool(pattern, FC_VARIABLE, FcFalse);
        FcConfigSubstitute(NULL, pattern, FcMatchPattern);
        FcDefaultSubstitute(pattern);
    }
    return pattern;
}

static bool take(const FcPattern *font, char path[PANEL_FONT_PATH_SIZE], int *index)
{
    FcChar8 *file, *format;
    FcBool scalable;
    if (FcPatternGetString(font, FC_FILE, 0, &file) != FcResultMatch ||
        FcPatternGetString(font, FC_FONTFORMAT, 0, &format) != FcResultMatch ||
        FcPatternGetBool(font, FC_SCALABLE, 0, &scalable) != FcResultMatch || !scalable ||
        strcmp((const char *)format, "TrueType") != 0 ||
        FcPatternGetInteger(font, FC_INDEX, 0, index) != FcResultMatch ||
        strlen((const char *)file) >= PANEL_FONT_PATH_SIZE) {
        return false;
    }
    strcpy(path, (const char *)file);
    FILE *stream;
    orr_error error;
    if (orr_file_open(path, &stream, &error) != ORR_OK) {
        return false;
    }
    fclose(stream);
    return true;
}

bool panel_font_find(char path[PANEL_FONT_PATH_SIZE], int *index)
{
    if (!FcInit()) {
        return false;
    }
    FcResult result;
    FcPattern *pattern = wanted();
    FcPattern *font = pattern ? FcFontMatch(NULL, pattern, &result) : NULL;
    bool found = font && take(font, path, index);
    if (font) {
        FcPatternDestroy(font);
    }
    if (pattern) {
        FcPatternDestroy(pattern);
    }
    FcFini();
    return found;
}
