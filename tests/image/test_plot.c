// Plots, pixel by pixel: the curve is where the numbers say, between the axes, one panel per line.
#include "engine/image/image.h"
#include "engine/image/plot.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { POINTS = 101 };

static const uint8_t axis_colour[3] = {60, 60, 60};

// A panel as it is found in the picture: the inside of its axes [px], and the colour of its curve.
typedef struct panel {
    int left, right, top, bottom;
    uint8_t colour[3];
} panel;

static const uint8_t *pixel(const orr_image8 *image, int x, int y)
{
    return image->rgba + 4 * ((size_t)y * (size_t)image->width + (size_t)x);
}

static bool is_colour(const orr_image8 *image, int x, int y, const uint8_t colour[3])
{
    return memcmp(pixel(image, x, y), colour, 3) == 0;
}

static bool is_grey(const uint8_t *p)
{
    return p[0] == p[1] && p[1] == p[2];
}

// Panels stand below each other: each has the long line of its x axis, and the line of its y axis ends there.
static int find_panels(const orr_image8 *image, panel *panels, int most)
{
    int count = 0;
    for (int y = 0; y < image->height; y++) {
        int longest = 0, left = 0;
        for (int x = 0, run = 0; x < image->width; x++) {
            run = is_colour(image, x, y, axis_colour) ? run + 1 : 0;
            if (run > longest) {
                longest = run;
                left = x - run + 1;
            }
        }
        if (longest < image->width / 2) {
            continue;
        }
        assert_true(count < most);
        panel *p = &panels[count++];
        *p = (panel){.left = left, .right = left + longest - 1, .top = y, .bottom = y};
        while (p->top > 0 && pixel(image, p->left, p->top - 1)[0] != 255) { // the curve may begin on it
            p->top--;
        }
        for (int i = p->top + 1; i < p->bottom; i++) { // whatever is neither grid nor paper
            for (int x = p->left + 1; x < p->right; x++) {
                if (!is_grey(pixel(image, x, i))) {
                    memcpy(p->colour, pixel(image, x, i), 3);
                }
            }
        }
    }
    return count;
}

// The middle row of the curve in a column; NAN: none there.
static double curve_row(const orr_image8 *image, const panel *p, int column)
{
    double sum = 0.0;
    int count = 0;
    for (int y = p->top; y <= p->bottom; y++) {
        if (is_colour(image, column, y, p->colour)) {
            sum += y;
            count++;
        }
    }
    return count ? sum / count : NAN;
}

static orr_image8 plot(const orr_plot_line *lines, int count)
{
    orr_image8 image;
    const char *path = scratch_path("plot.png");
    assert_ok(orr_plot_save(path, "a title", "seconds", lines, count, &error));
    assert_ok(orr_image8_load(path, &image, &error));
    return image;
}

// Is the curve at x of `low` .. `high` at height `part` between its lowest and its highest place, `bottom`
// and `top` [px]?
static void assert_at(const orr_image8 *image, const panel *p, double x_part, double part, double bottom,
                      double top)
{
    int column = p->left + (int)lrint(x_part * (p->right - p->left));
    double row = curve_row(image, p, column), expected = bottom + part * (top - bottom);
    if (!(fabs(row - expected) <= 2.5)) { // two pixels thick, and a column covers a slope
        fail_msg("at %.2f: row %.1f: expected %.1f", x_part, row, expected);
    }
}

static void a_curve_goes_where_its_numbers_say(void **state)
{
    (void)state;
    double x[POINTS], y[POINTS], falling[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i] = 0.5 * i;
        y[i] = 3.0 + (x[i] - 20.0) * (x[i] - 20.0); // lowest at 20 of 50, highest at 50
        falling[i] = pow(10.0, -0.08 * x[i]);       // a line in logarithms
    }
    const orr_plot_line lines[2] = {
        {.name = "bowl", .x = x, .y = y, .count = POINTS},
        {.name = "fall", .x = x, .y = falling, .count = POINTS, .logarithmic = true}};
    orr_image8 image = plot(lines, 2);
    panel panels[2];
    assert_int_equal(find_panels(&image, panels, 2), 2);
    const panel *bowl = &panels[0], *fall = &panels[1];
    assert_true(bowl->bottom < fall->top && bowl->left == fall->left);
    assert_true(memcmp(bowl->colour, fall->colour, 3) != 0);
    double top = curve_row(&image, bowl, bowl->right),
           bottom = curve_row(&image, bowl, bowl->left + (int)lrint(0.4 * (bowl->right - bowl->left)));
    assert_true(bowl->top < top && bottom < bowl->bottom);
    assert_true(bottom - top > 0.8 * (bowl->bottom - bowl->top)); // it fills the panel
    for (int i = 0; i <= 10; i++) {
        double at = 50.0 * i / 10.0;
        assert_at(&image, bowl, i / 10.0, (at - 20.0) * (at - 20.0) / 900.0, bottom, top);
    }
    top = curve_row(&image, fall, fall->left);
    bottom = curve_row(&image, fall, fall->right);
    assert_true(fall->top < top && bottom < fall->bottom && bottom - top > 0.8 * (fall->bottom - fall->top));
    for (int i = 0; i <= 10; i++) {
        assert_at(&image, fall, i / 10.0, 1.0 - i / 10.0, bottom, top);
    }
    orr_image8_free(&image);
}

static void the_axis_of_x_begins_at_zero_and_is_shared(void **state)
{
    (void)state;
    const double early[2] = {10.0, 20.0}, late[2] = {30.0, 40.0}, y[2] = {1.0, 2.0};
    const orr_plot_line lines[2] = {{.name = "early", .x = early, .y = y, .count = 2},
                                    {.name = "late", .x = late, .y = y, .count = 2}};
    orr_image8 image = plot(lines, 2);
    panel panels[2];
    assert_int_equal(find_panels(&image, panels, 2), 2);
    const double span[2][2] = {{0.25, 0.5}, {0.75, 1.0}}; // of 0 .. 40
    for (int i = 0; i < 2; i++) {
        const panel *p = &panels[i];
        int first = -1, last = -1;
        for (int x = p->left; x <= p->right; x++) {
            if (!isnan(curve_row(&image, p, x))) {
                first = first < 0 ? x : first;
                last = x;
            }
        }
        double width = p->right - p->left;
        assert_true(fabs(first - p->left - span[i][0] * width) <= 2.0);
        assert_true(fabs(last - p->left - span[i][1] * width) <= 2.0);
    }
    orr_image8_free(&image);
}

static void values_that_cannot_be_drawn_are_left_out(void **state)
{
    (void)state;
    const double x[5] = {0.0, 1.0, 2.0, 3.0, 4.0}, y[5] = {1.0, NAN, 100.0, -5.0, 10000.0};
    const orr_plot_line line = {.name = "gaps", .x = x, .y = y, .count = 5, .logarithmic = true};
    orr_image8 image = plot(&line, 1);
    panel p;
    assert_int_equal(find_panels(&image, &p, 1), 1);
    double bottom = curve_row(&image, &p, p.left), top = curve_row(&image, &p, p.right);
    for (int i = 0; i <= 8; i++) { // 1, 100 and 10000 lie on a line, and nothing else bends it
        assert_at(&image, &p, i / 8.0, i / 8.0, bottom, top);
    }
    orr_image8_free(&image);
    const double nothing[1] = {NAN};
    const orr_plot_line none = {.name = "none", .x = x, .y = nothing, .count = 1};
    image = plot(&none, 1); // axes without a curve
    assert_int_equal(find_panels(&image, &p, 1), 1);
    assert_true(isnan(curve_row(&image, &p, (p.left + p.right) / 2)) || is_grey(p.colour));
    orr_image8_free(&image);
}

static void the_last_number_of_an_axis_is_whole(void **state)
{
    (void)state;
    enum { LETTERS = 7, LETTER = 12 }; // of 0.00123; pixels of a letter, the last two of them empty
    const double x[2] = {0.0, 0.00123}, y[2] = {1.0, 2.0};
    const orr_plot_line line = {.name = "short", .x = x, .y = y, .count = 2};
    orr_image8 image = plot(&line, 1);
    panel p;
    assert_int_equal(find_panels(&image, &p, 1), 1);
    int first = -1, last = -1;
    for (int at = p.left + (p.right - p.left) * 9 / 10 - 2 * LETTER; at < image.width; at++) {
        for (int row = p.bottom + 8; row < p.bottom + 22; row++) {
            if (pixel(&image, at, row)[0] < 128) {
                first = first < 0 ? at : first;
                last = at;
            }
        }
    }
    assert_int_equal(last - first + 1, LETTERS * LETTER - 2);
    orr_image8_free(&image);
}

// How many pixels left of the y axis, where its numbers stand, differ between two plots.
static int labels_that_differ(const orr_image8 *a, const orr_image8 *b, const panel *p)
{
    int count = 0;
    for (int y = p->top; y < p->bottom; y++) {
        for (int x = 0; x < p->left; x++) {
            count += memcmp(pixel(a, x, y), pixel(b, x, y), 3) != 0;
        }
    }
    return count;
}

static void axes_say_what_the_numbers_are(void **state)
{
    (void)state;
    const double x[3] = {0.0, 1.0, 2.0}, y[3] = {1.0, 3.0, 2.0}, larger[3] = {40.0, 120.0, 80.0};
    const orr_plot_line small = {.name = "a", .x = x, .y = y, .count = 3},
                        large = {.name = "a", .x = x, .y = larger, .count = 3};
    orr_image8 a = plot(&small, 1), b = plot(&large, 1), again = plot(&small, 1);
    panel p;
    assert_int_equal(find_panels(&a, &p, 1), 1);
    for (int column = p.left + 1; column < p.right; column++) { // the same curve
        assert_true(curve_row(&a, &p, column) == curve_row(&b, &p, column));
    }
    assert_true(labels_that_differ(&a, &b, &p) > 100); // six numbers of a few digits
    assert_int_equal(labels_that_differ(&a, &again, &p), 0);
    orr_image8_free(&a);
    orr_image8_free(&b);
    orr_image8_free(&again);
}

static void bars_stand_where_their_times_say(void **state)
{
    (void)state;
    const char *const rows[2] = {"first", "second"};
    const orr_plot_bar bars[] = {{0, 0.0, 5.0, "half", ORR_PLOT_BLUE},
                                 {1, 2.5, 10.0, "rest", ORR_PLOT_RED},
                                 {0, 11.0, 12.0, "outside", ORR_PLOT_GREEN},
                                 {1, 1.0, 1.0, "nothing", ORR_PLOT_GREEN}};
    const char *path = scratch_path("bars.png");
    assert_ok(orr_plot_bars_save(path, "bars", "ms", 10.0, rows, 2, bars, 4, &error));
    orr_image8 image;
    assert_ok(orr_image8_load(path, &image, &error));
    static const uint8_t seen[3][3] = {{31, 95, 165}, {200, 80, 30}, {40, 130, 70}};
    int left[3], right[3], count[3] = {0};
    for (int k = 0; k < 3; k++) {
        left[k] = image.width;
        right[k] = -1;
        for (int i = 0; i < image.width * image.height; i++) {
            if (memcmp(pixel(&image, i % image.width, i / image.width), seen[k], 3) == 0) {
                int x = i % image.width;
                left[k] = x < left[k] ? x : left[k];
                right[k] = x > right[k] ? x : right[k];
                count[k]++;
            }
        }
    }
    assert_true(count[0] > 1000 && count[1] > 1000);
    assert_int_equal(count[2], 0);
    // the blue one begins with the axis and is half of it, the red one begins at a quarter and ends with it
    double unit = (right[1] - left[0]) / 10.0;
    assert_true(fabs(right[0] - left[0] - 5.0 * unit) < 3.0);
    assert_true(fabs(left[1] - left[0] - 2.5 * unit) < 3.0);
    orr_image8_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_curve_goes_where_its_numbers_say),
        cmocka_unit_test(the_axis_of_x_begins_at_zero_and_is_shared),
        cmocka_unit_test(values_that_cannot_be_drawn_are_left_out),
        cmocka_unit_test(the_last_number_of_an_axis_is_whole),
        cmocka_unit_test(axes_say_what_the_numbers_are),
        cmocka_unit_test(bars_stand_where_their_times_say),
    };
    return cmocka_run_group_tests_name("plots", tests, NULL, NULL);
}
