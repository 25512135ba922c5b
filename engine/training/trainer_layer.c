// A trainer as a layer of a scene, which shows what was learned as of its last refresh.
#include "engine/training/trainer.h"

#include "engine/core/entry.h"

static orr_result pack_cloud(orr_trainer *t, orr_splat_pack **pack, orr_error *error)
{
    orr_splats *splats;
    ORR_TRY(t->kind->functions->cloud(t->learner, &splats, error));
    const orr_splats_view view = orr_splats_data(splats);
    orr_result result = orr_splat_pack_create(t->engine->jobs, &view, NULL, pack, error);
    orr_splats_destroy(splats);
    return result;
}

static orr_result make_layer(orr_trainer *t, orr_layer_data *layer, orr_error *error)
{
    *layer = (orr_layer_data){.kind = ORR_LAYER_SPLATS, .visible = true, .trainer = t};
    if (t->kind->functions->cloud) {
        return pack_cloud(t, &layer->splats, error);
    }
    orr_field_model model = {.size = 1.0};
    layer->kind = ORR_LAYER_FIELD;
    ORR_TRY(orr_trainer_refresh(t, error));
    const orr_occupancy *grid = t->kind->functions->describe(t->learner, &model);
    return orr_field_layer_borrow_model(&model, grid, t->engine->jobs, &layer->field, error);
}

static orr_result check(const orr_scene *scene, const orr_trainer *t, orr_error *error)
{
    ORR_TRY(orr_scene_check(scene, error));
    return scene->context.engine == t->engine
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "a trainer of another engine: expected the scene's");
}

orr_result orr_scene_add_trainer(orr_scene *scene, const char *name, orr_trainer *t,
                                 const orr_transform *transform, orr_layer *id, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    ORR_TRY(check(scene, t, error));
    orr_layer_data layer;
    ORR_TRY(orr_trainer_enter(t, error));
    orr_result result = make_layer(t, &layer, error);
    orr_trainer_leave(t);
    ORR_TRY(result);
    const orr_photo_set *photos = t->kind->functions->photos(t->learner);
    ORR_TRY(orr_scene_append(scene, layer, name ? name : t->kind->name, transform, error));
    if (photos && scene->cameras.count == 0) {
        result = orr_photo_set_add_cameras(photos, scene, error);
    }
    if (result != ORR_OK) {
        orr_camera_list_free(&scene->cameras);
        orr_scene_truncate(scene, scene->layer_count - 1);
        return result;
    }
    if (id) {
        *id = orr_scene_layer(scene, scene->layer_count - 1);
    }
    return ORR_OK;
}

static orr_result refresh(orr_scene *scene, orr_layer_data *layer, orr_trainer *t, orr_error *error)
{
    orr_splat_pack *pack;
    if (!t->kind->functions->cloud) {
        return orr_trainer_refresh(t, error);
    }
    ORR_TRY(pack_cloud(t, &pack, error));
    orr_splat_pack_destroy(layer->splats);
    layer->splats = pack;
    layer->key = (*scene->context.next_key)++; // devices have the old one under its key
    return ORR_OK;
}

orr_result orr_scene_refresh_trainer(orr_scene *scene, orr_layer layer, orr_trainer *t, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    ORR_TRY(check(scene, t, error));
    const int index = orr_scene_find(scene, layer);
    if (index < 0) {
        return orr_scene_stale(layer, error);
    }
    if (scene->layers[index].trainer != t) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "layer %u.%u: expected one that shows this trainer",
                        layer.slot, layer.generation);
    }
    ORR_TRY(orr_trainer_enter(t, error));
    orr_result result = refresh(scene, &scene->layers[index], t, error);
    orr_trainer_leave(t);
    return result;
}
