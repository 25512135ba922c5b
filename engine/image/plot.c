#include "engine/image/plot.h"

#include "engine/core/memory.h"
#include "engine/image/image.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 960,
    PANEL = 280, // height, with its margins
    LEFT = 120,
    RIGHT = 24,
    TOP = 40,
    BOTTOM = 30,
    TICKS = 5,
    GLYPH_WIDTH = 5,
    GLYPH_HEIGHT = 7,
    SCALE = 2 // pixels per dot of a glyph
};

// Letters as dots, a byte per row; capitals are drawn as small letters.
static const uint8_t glyphs[128][GLYPH_HEIGHT] = {
    ['+'] = {0x00, 0x04, 0x04, 0x1f, 0x04, 0x04, 0x00}, ['-'] = {0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00},
    ['.'] = {0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c}, ['/'] = {0x01, 0x02, 0x02, 0x04, 0x08, 0x08, 0x10},
    ['0'] = {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}, ['1'] = {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e},
    ['2'] = {0x0e, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1f}, ['3'] = {0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e},
    ['4'] = {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}, ['5'] = {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
    ['6'] = {0x0e, 0x10, 0x10, 0x1e, 0x11, 0x11, 0x0e}, ['7'] = {0x1f, 0x01, 0x02, 0x04, 0x04, 0x08, 0x08},
    ['8'] = {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}, ['9'] = {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x01, 0x0e},
    [':'] = {0x00, 0x0c, 0x0c, 0x00, 0x0c, 0x0c, 0x00}, ['_'] = {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1f},
    ['a'] = {0x00, 0x00, 0x0e, 0x01, 0x0f, 0x11, 0x0f}, ['b'] = {0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x1e},
    ['c'] = {0x00, 0x00, 0x0f, 0x10, 0x10, 0x10, 0x0f}, ['d'] = {0x01, 0x01, 0x0f, 0x11, 0x11, 0x11, 0x0f},
    ['e'] = {0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0f}, ['f'] = {0x06, 0x08, 0x1e, 0x08, 0x08, 0x08, 0x08},
    ['g'] = {0x00, 0x0f, 0x11, 0x11, 0x0f, 0x01, 0x0e}, ['h'] = {0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x11},
    ['i'] = {0x04, 0x00, 0x0c, 0x04, 0x04, 0x04, 0x0e}, ['j'] = {0x02, 0x00, 0x06, 0x02, 0x02, 0x12, 0x0c},
    ['k'] = {0x10, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11}, ['l'] = {0x0c, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e},
    ['m'] = {0x00, 0x00, 0x1a, 0x15, 0x15, 0x15, 0x15}, ['n'] = {0x00, 0x00, 0x1e, 0x11, 0x11, 0x11, 0x11},
    ['o'] = {0x00, 0x00, 0x0e, 0x11, 0x11, 0x11, 0x0e}, ['p'] = {0x00, 0x1e, 0x11, 0x11, 0x1e, 0x10, 0x10},
    ['q'] = {0x00, 0x0f, 0x11, 0x11, 0x0f, 0x01, 0x01}, ['r'] = {0x00, 0x00, 0x17, 0x18, 0x10, 0x10, 0x10},
    ['s'] = {0x00, 0x00, 0x0f, 0x10, 0x0e, 0x01, 0x1e}, ['t'] = {0x08, 0x08, 0x1e, 0x08, 0x08, 0x09, 0x06},
    ['u'] = {0x00, 0x00, 0x11, 0x11, 0x11, 0x13, 0x0d}, ['v'] = {0x00, 0x00, 0x11, 0x11, 0x11, 0x0a, 0x04},
    ['w'] = {0x00, 0x00, 0x11, 0x15, 0x15, 0x15, 0x0a}, ['x'] = {0x00, 0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11},
    ['y'] = {0x00, 0x11, 0x11, 0x0f, 0x01, 0x11, 0x0e}, ['z'] = {0x00, 0x00, 0x1f, 0x02, 0x04, 0x08, 0x1f},
};

typedef struct canvas {
    uint8_t *rgba;
    int width, height;
} canvas;

typedef struct range {
    double low, high;
} range;

static const uint8_t ink[4] = {60, 60, 60, 255}, grid[4] = {224, 224, 224, 255};
static const uint8_t colours[][4] = {[ORR_PLOT_BLUE] = {31, 95, 165, 255},
                                     [ORR_PLOT_RED] = {200, 80, 30, 255},
                                     [ORR_PLOT_GREEN] = {40, 130, 70, 255},
                                     [ORR_PLOT_VIOLET] = {120, 60, 150, 255},
                                     [ORR_PLOT_GREY] = {200, 200, 200, 255}};
static const uint8_t paper[4] = {255, 255, 255, 255};

static void set_pixel(canvas *c, int x, int y, const uint8_t colour[4])
{
    if (x >= 0 && y >= 0 && x < c->width && y < c->height) {
        memcpy(c->rgba + 4 * ((size_t)y * (size_t)c->width + (size_t)x), colour, 4);
    }
}

static void draw_segment(canvas *c, double x0, double y0, double x1, double y1, int thick,
                         const uint8_t colour[4])
{
    int steps = (int)fmax(fabs(x1 - x0), fabs(y1 - y0)) + 1;
    for (int i = 0; i <= steps; i++) {
        int x = (int)lrint(x0 + (x1 - x0) * i / steps), y = (int)lrint(y0 + (y1 - y0) * i / steps);
        for (int k = 0; k < thick * thick; k++) {
            set_pixel(c, x + k % thick, y + k / thick, colour);
        }
    }
}

static int text_width(const char *text)
{
    return (int)strlen(text) * (GLYPH_WIDTH + 1) * SCALE;
}

static void draw_text_in(canvas *c, int x, int y, const char *text, const uint8_t colour[4])
{
    for (; *text; text++, x += (GLYPH_WIDTH + 1) * SCALE) {
        int letter = *text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text & 127;
        for (int i = 0; i < GLYPH_WIDTH * GLYPH_HEIGHT * SCALE * SCALE; i++) {
            int px = i % (GLYPH_WIDTH * SCALE), py = i / (GLYPH_WIDTH * SCALE);
            if (glyphs[letter][py / SCALE] >> (GLYPH_WIDTH - 1 - px / SCALE) & 1) {
                set_pixel(c, x + px, y + py, colour);
            }
        }
    }
}

static void draw_text(canvas *c, int x, int y, const char *text)
{
    draw_text_in(c, x, y, text, ink);
}

// The number of a tick at x, in the middle below it, moved where it would leave the canvas.
static void draw_tick(canvas *c, int x, int y, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", value);
    const int last = c->width - text_width(text), left = x - text_width(text) / 2;
    draw_text(c, left < last ? left : last, y, text);
}

static double scaled(const orr_plot_line *line, double value)
{
    return line->logarithmic ? log10(value) : value;
}

static bool is_shown(const orr_plot_line *line, int i)
{
    return isfinite(line->x[i]) && isfinite(line->y[i]) && (!line->logarithmic || line->y[i] > 0.0);
}

static range range_of(const orr_plot_line *line, bool of_x)
{
    range r = {INFINITY, -INFINITY};
    for (int i = 0; i < line->count; i++) {
        double value = !is_shown(line, i) ? NAN : of_x ? line->x[i] : scaled(line, line->y[i]);
        r.low = fmin(r.low, value);
        r.high = fmax(r.high, value);
    }
    if (!(r.low <= r.high)) {
        return (range){0.0, 1.0};
    }
    double margin = r.high > r.low ? 0.04 * (r.high - r.low) : 0.5;
    return of_x ? (range){fmin(r.low, 0.0), r.high > 0.0 ? r.high : 1.0}
                : (range){r.low - margin, r.high + margin};
}

static void draw_panel(canvas *c, const orr_plot_line *line, int panel, range x_range)
{
    range y_range = range_of(line, false);
    int top = panel * PANEL + TOP, bottom = (panel + 1) * PANEL - BOTTOM, right = WIDTH - RIGHT;
    double per_x = (right - LEFT) / (x_range.high - x_range.low),
           per_y = (bottom - top) / (y_range.high - y_range.low);
    for (int i = 0; i <= TICKS; i++) {
        char text[32];
        double part = (double)i / TICKS, x = x_range.low + part * (x_range.high - x_range.low);
        double y = y_range.low + part * (y_range.high - y_range.low);
        int px = LEFT + (int)(part * (right - LEFT)), py = bottom - (int)(part * (bottom - top));
        draw_segment(c, px, top, px, bottom, 1, grid);
        draw_segment(c, LEFT, py, right, py, 1, grid);
        draw_tick(c, px, bottom + 8, x);
        snprintf(text, sizeof text, "%.3g", line->logarithmic ? pow(10.0, y) : y);
        draw_text(c, LEFT - 8 - text_width(text), py - GLYPH_HEIGHT * SCALE / 2, text);
    }
    draw_segment(c, LEFT, top, LEFT, bottom, 1, ink);
    draw_segment(c, LEFT, bottom, right, bottom, 1, ink);
    draw_text(c, LEFT, top - 22, line->name);
    int before = -1;
    for (int i = 0; i < line->count; i++) {
        if (!is_shown(line, i)) {
            continue;
        }
        if (before >= 0) {
            draw_segment(c, LEFT + (line->x[before] - x_range.low) * per_x,
                         bottom - (scaled(line, line->y[before]) - y_range.low) * per_y,
                         LEFT + (line->x[i] - x_range.low) * per_x,
                         bottom - (scaled(line, line->y[i]) - y_range.low) * per_y, 2, colours[panel]);
        }
        before = i;
    }
}

static orr_result open_canvas(canvas *c, int height, const char *path, orr_error *error)
{
    *c = (canvas){.width = WIDTH, .height = height};
    ORR_ALLOC(c->rgba, (size_t)c->width * (size_t)c->height * 4, path, error);
    memset(c->rgba, 255, (size_t)c->width * (size_t)c->height * 4);
    return ORR_OK;
}

orr_result orr_plot_save(const char *path, const char *title, const char *x_name, const orr_plot_line *lines,
                         int line_count, orr_error *error)
{
    assert(line_count >= 1 && line_count <= ORR_PLOT_LINES_MAX);
    canvas c;
    ORR_TRY(open_canvas(&c, line_count * PANEL + TOP, path, error));
    range x_range = range_of(&lines[0], true);
    for (int i = 1; i < line_count; i++) {
        range other = range_of(&lines[i], true);
        x_range = (range){fmin(x_range.low, other.low), fmax(x_range.high, other.high)};
    }
    draw_text(&c, WIDTH / 2 - text_width(title) / 2, 2, title);
    for (int i = 0; i < line_count; i++) {
        draw_panel(&c, &lines[i], i, x_range);
    }
    draw_text(&c, WIDTH / 2 - text_width(x_name) / 2, c.height - 26, x_name);
    orr_result result = orr_png_save(path, c.rgba, c.width, c.height, error);
    orr_free(c.rgba);
    return result;
}

// ---- bars ----

enum { ROW = 26, ROW_NAMES = 210, BAR = 20 }; // [px]: a row, the names of rows, the height of a bar

static void draw_bar(canvas *c, const orr_plot_bar *bar, double per_x, double length)
{
    double begin = fmax(bar->begin, 0.0), end = fmin(bar->end, length);
    if (!(begin < end)) {
        return;
    }
    int left = ROW_NAMES + (int)(begin * per_x), right = ROW_NAMES + (int)(end * per_x);
    int top = TOP + bar->row * ROW + (ROW - BAR) / 2;
    for (int y = top; y < top + BAR; y++) {
        for (int x = left; x <= right; x++) {
            set_pixel(c, x, y, x == right && right > left + 2 ? paper : colours[bar->colour]);
        }
    }
    if (text_width(bar->name) + 4 < right - left) {
        draw_text_in(c, left + 4, top + (BAR - GLYPH_HEIGHT * SCALE) / 2, bar->name,
                     bar->colour == ORR_PLOT_GREY ? ink : paper);
    }
}

orr_result orr_plot_bars_save(const char *path, const char *title, const char *x_name, double length,
                              const char *const *rows, int row_count, const orr_plot_bar *bars, int bar_count,
                              orr_error *error)
{
    assert(row_count >= 1 && row_count <= 1000 && length > 0.0);
    canvas c;
    ORR_TRY(open_canvas(&c, TOP + row_count * ROW + 2 * BOTTOM, path, error));
    int bottom = TOP + row_count * ROW, right = WIDTH - RIGHT;
    for (int i = 0; i <= TICKS; i++) {
        int x = ROW_NAMES + (right - ROW_NAMES) * i / TICKS;
        draw_segment(&c, x, TOP, x, bottom, 1, grid);
        draw_tick(&c, x, bottom + 8, length * i / TICKS);
    }
    for (int i = 0; i < row_count; i++) {
        draw_text(&c, 8, TOP + i * ROW + (ROW - GLYPH_HEIGHT * SCALE) / 2, rows[i]);
    }
    for (int i = 0; i < bar_count; i++) {
        draw_bar(&c, &bars[i], (right - ROW_NAMES) / length, length);
    }
    draw_text(&c, WIDTH / 2 - text_width(title) / 2, 2, title);
    draw_text(&c, WIDTH / 2 - text_width(x_name) / 2, c.height - 26, x_name);
    orr_result result = orr_png_save(path, c.rgba, c.width, c.height, error);
    orr_free(c.rgba);
    return result;
}
