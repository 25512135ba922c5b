#include "samples/orrery/info/info.h"

#include "render/formats/splat_stats.h"

#include <math.h>
#include <stdio.h>

enum { BAR_WIDTH = 40 };

static void print_bar(int64_t count, int64_t largest)
{
    // every bin that is not empty shows something
    int length = count ? (int)((count * BAR_WIDTH + largest - 1) / largest) : 0;
    printf("%10lld %.*s\n", (long long)count, length, "########################################");
}

static int64_t largest_of(const int64_t *bins, int count)
{
    int64_t largest = 1;
    for (int i = 0; i < count; i++) {
        largest = bins[i] > largest ? bins[i] : largest;
    }
    return largest;
}

static double scale_edge(int bin)
{
    return pow(10.0, (double)ORR_STATS_SCALE_LOW + (double)ORR_STATS_SCALE_STEP * bin);
}

static void print_histograms(const orr_splat_stats *stats)
{
    printf("  largest standard deviation of each splat [scene units]\n");
    int64_t largest = largest_of(stats->scale, ORR_STATS_SCALE_BINS);
    for (int i = 0; i < ORR_STATS_SCALE_BINS; i++) {
        printf("  %8.2g .. %-8.2g", scale_edge(i), scale_edge(i + 1));
        print_bar(stats->scale[i], largest);
    }
    printf("  opacity\n");
    largest = largest_of(stats->opacity, ORR_STATS_OPACITY_BINS);
    for (int i = 0; i < ORR_STATS_OPACITY_BINS; i++) {
        printf("  %8.1f .. %-8.1f", (double)i / ORR_STATS_OPACITY_BINS,
               (double)(i + 1) / ORR_STATS_OPACITY_BINS);
        print_bar(stats->opacity[i], largest);
    }
}

static cJSON *histogram(const int64_t *counts, int bins, double low, double step)
{
    cJSON *json = cJSON_CreateObject(), *list = cJSON_CreateArray();
    cJSON_AddNumberToObject(json, "low", low);
    cJSON_AddNumberToObject(json, "step", step);
    for (int i = 0; i < bins; i++) {
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)counts[i]));
    }
    cJSON_AddItemToObject(json, "counts", list);
    return json;
}

static void add_json(cJSON *json, const orr_splat_stats *stats, const orr_splats_view *view)
{
    cJSON_AddStringToObject(json, "kind", "splats");
    cJSON_AddNumberToObject(json, "count", (double)stats->count);
    cJSON_AddNumberToObject(json, "dropped", (double)view->dropped);
    cJSON_AddStringToObject(json, "warning", view->warning ? view->warning : "");
    cJSON_AddNumberToObject(json, "sh_degree", stats->sh_degree);
    cJSON_AddBoolToObject(json, "antialiased", stats->antialiased);
    cJSON_AddNumberToObject(json, "bytes", (double)stats->bytes);
    info_add_bounds(json, "bounds", stats->low, stats->high);
    info_add_bounds(json, "robust_bounds", stats->robust_low, stats->robust_high);
    cJSON_AddItemToObject(json, "log10_scale",
                          histogram(stats->scale, ORR_STATS_SCALE_BINS, (double)ORR_STATS_SCALE_LOW,
                                    (double)ORR_STATS_SCALE_STEP));
    cJSON_AddItemToObject(
        json, "opacity",
        histogram(stats->opacity, ORR_STATS_OPACITY_BINS, 0.0, 1.0 / ORR_STATS_OPACITY_BINS));
}

static void print_text(const char *path, const orr_splat_stats *stats, const orr_splats_view *view)
{
    printf("%s: %lld splats, SH degree %d%s, %.1f MB in memory\n", path, (long long)stats->count,
           stats->sh_degree, stats->antialiased ? ", antialiased" : "", (double)stats->bytes * 1e-6);
    if (view->warning) {
        printf("  warning: %s\n", view->warning);
    }
    info_print_bounds("bounds", stats->low, stats->high);
    info_print_bounds("99 % of it", stats->robust_low, stats->robust_high);
    print_histograms(stats);
}

orr_result info_splats(const char *path, cJSON *json, orr_error *error)
{
    orr_splats *splats;
    ORR_TRY(orr_splats_load(path, &splats, error));
    orr_splats_view view = orr_splats_data(splats);
    orr_splat_stats stats = orr_splat_stats_of(&view);
    if (json) {
        add_json(json, &stats, &view);
    } else {
        print_text(path, &stats, &view);
    }
    orr_splats_destroy(splats);
    return ORR_OK;
}
