// Custom numbers, texts and tuples; keyframes.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"

#include <math.h>
#include <string.h>

static void build_fields(model_builder *b)
{
    orr_model *m = b->m;
    int used = 0;
    for (int i = 0; i < m->nnumeric; i++) {
        const spec_numeric *numeric = &b->spec->numerics[i];
        m->numeric_adr[i] = used;
        m->numeric_size[i] = numeric->size;
        copy_user(m->numeric_data + used, numeric->size, &numeric->data);
        used += numeric->size;
    }
    used = 0;
    for (int i = 0; i < m->ntext; i++) {
        int size = (int)strlen(b->spec->texts[i].data) + 1;
        m->text_adr[i] = used;
        m->text_size[i] = size;
        memcpy(m->text_data + used, b->spec->texts[i].data, (size_t)size);
        used += size;
    }
}

static orr_result build_tuples(model_builder *b)
{
    orr_model *m = b->m;
    for (int i = 0; i < m->ntuple; i++) {
        m->tuple_adr[i] = b->spec->tuples[i].first;
        m->tuple_size[i] = b->spec->tuples[i].count;
    }
    for (int i = 0; i < m->ntupledata; i++) {
        const spec_tuple_element *element = &b->spec->tuple_elements[i];
        m->tuple_objtype[i] = element->objtype;
        m->tuple_objid[i] = orr_model_find(m, (orr_object)element->objtype, element->object);
        m->tuple_objprm[i] = element->prm;
        if (m->tuple_objid[i] < 0) {
            return spec_fail(&element->head, b->error, "there is no such object '%.64s'", element->object);
        }
    }
    return ORR_OK;
}

// A list that is too short leaves the last numbers as they are in the model: those of bodies that a file adds
// to one that it includes.
static orr_result fill(model_builder *b, const spec_head *head, const char *what, const spec_numbers *numbers,
                       int count, double *to)
{
    if (numbers->count > count) {
        return spec_fail(head, b->error, "%s: expected %d numbers or fewer", what, count);
    }
    for (int i = 0; i < numbers->count; i++) {
        to[i] = isnan(numbers->values[i]) ? to[i] : numbers->values[i];
    }
    return ORR_OK;
}

static void normalise_key(const orr_model *m, double *qpos)
{
    for (int i = 0; i < m->njnt; i++) {
        int type = m->jnt_type[i], at = m->jnt_qposadr[i];
        if (type == ORR_JOINT_FREE || type == ORR_JOINT_BALL) {
            quat_normalise(qpos + at + (type == ORR_JOINT_FREE ? 3 : 0));
        }
    }
}

static orr_result build_key(model_builder *b, int id)
{
    orr_model *m = b->m;
    double *qpos = m->key_qpos + (size_t)m->nq * (size_t)id;
    double *mpos = m->key_mpos + 3 * (size_t)m->nmocap * (size_t)id,
           *mquat = m->key_mquat + 4 * (size_t)m->nmocap * (size_t)id;
    memcpy(qpos, m->qpos0, (size_t)m->nq * sizeof *qpos);
    for (int i = 0; i < m->nbody; i++) {
        int mocap = m->body_mocapid[i];
        if (mocap >= 0) {
            memcpy(mpos + 3 * mocap, m->body_pos + 3 * i, 3 * sizeof *mpos);
            memcpy(mquat + 4 * mocap, m->body_quat + 4 * i, 4 * sizeof *mquat);
        }
    }
    if (id >= b->spec->keys_count) {
        return ORR_OK;
    }
    const spec_key *key = &b->spec->keys[id];
    size_t row = (size_t)id;
    m->key_time[id] = key->time;
    ORR_TRY(fill(b, &key->head, "qpos", &key->qpos, m->nq, qpos));
    ORR_TRY(fill(b, &key->head, "qvel", &key->qvel, m->nv, m->key_qvel + row * (size_t)m->nv));
    ORR_TRY(fill(b, &key->head, "act", &key->act, m->na, m->key_act + row * (size_t)m->na));
    ORR_TRY(fill(b, &key->head, "ctrl", &key->ctrl, m->nu, m->key_ctrl + row * (size_t)m->nu));
    ORR_TRY(fill(b, &key->head, "mpos", &key->mpos, 3 * m->nmocap, mpos));
    ORR_TRY(fill(b, &key->head, "mquat", &key->mquat, 4 * m->nmocap, mquat));
    double *plastic = m->key_plastic + row * (size_t)m->nplastic;
    for (int i = 0; i < m->nplastic; i++) {
        plastic[i] = (double)NAN; // the value at the start, which is found at the rest pose
    }
    ORR_TRY(fill(b, &key->head, "plastic", &key->plastic, m->nplastic, plastic));
    normalise_key(m, qpos);
    for (int i = 0; i < m->nmocap; i++) {
        quat_normalise(mquat + 4 * i);
    }
    return ORR_OK;
}

orr_result build_custom(model_builder *b)
{
    build_fields(b);
    ORR_TRY(build_tuples(b));
    for (int i = 0; i < b->m->nkey; i++) {
        ORR_TRY(build_key(b, i));
    }
    return ORR_OK;
}
