#include "render/cuda/fields.h"

typedef struct orr_cuda_fields_entry {
    uint64_t key;
    orr_cuda_field field;
    orr_result result; // not OK: refused, and why
    orr_error refusal;
} entry;

// On failure the entry is empty.
static orr_result bring_up(orr_cuda *cuda, const orr_field_layer *layer, entry *e, orr_error *error)
{
    orr_result result = ORR_OK;
    if (!e->field.cuda) {
        result = orr_cuda_field_create(cuda, orr_field_layer_field(layer), orr_field_layer_grid(layer),
                                       &e->field, error);
    }
    if (result == ORR_OK) {
        result = orr_cuda_field_update(&e->field, error);
    }
    if (result != ORR_OK) {
        orr_cuda_field_destroy(&e->field);
    }
    return result;
}

static int find(const orr_cuda_fields *fields, uint64_t key)
{
    int i = 0;
    while (i < fields->count && fields->entries[i].key != key) {
        i++;
    }
    return i;
}

bool orr_cuda_fields_lag(const orr_cuda_fields *fields, const orr_draw_field *drawn)
{
    int i = find(fields, drawn->key);
    if (i == fields->count) {
        return true;
    }
    const entry *e = &fields->entries[i];
    return e->result == ORR_OK && !orr_cuda_field_is_current(&e->field);
}

orr_result orr_cuda_fields_take(orr_cuda *cuda, orr_cuda_fields *fields, const orr_draw_field *drawn,
                                orr_cuda_field **field, bool *first, orr_error *error)
{
    int i = find(fields, drawn->key);
    *first = true;
    if (i == fields->count) {
        ORR_GROW(fields->entries, fields->capacity, fields->count + 1, "fields on the device", error);
        fields->entries[fields->count++] = (entry){.key = drawn->key};
    }
    entry *e = &fields->entries[i];
    *first = e->result == ORR_OK;
    if (*first) {
        e->result = bring_up(cuda, drawn->layer, e, &e->refusal);
    }
    if (e->result != ORR_OK && error) {
        *error = e->refusal;
    }
    *field = &e->field;
    return e->result;
}

void orr_cuda_fields_release(orr_cuda_fields *fields, uint64_t key)
{
    for (int i = 0; i < fields->count; i++) {
        if (fields->entries[i].key == key) {
            orr_cuda_field_destroy(&fields->entries[i].field);
            fields->entries[i] = fields->entries[--fields->count];
            return;
        }
    }
}

void orr_cuda_fields_destroy(orr_cuda_fields *fields)
{
    for (int i = 0; i < fields->count; i++) {
        orr_cuda_field_destroy(&fields->entries[i].field);
    }
    orr_free(fields->entries);
    *fields = (orr_cuda_fields){0};
}
