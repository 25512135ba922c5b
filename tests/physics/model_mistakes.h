// Models with one mistake each, and what their error must say.
#pragma once

#include "physics/load/load.h"
#include "tests/support/support.h"

#include <string.h>

typedef struct model_mistake {
    const char *text;
    const char *line; // what the message begins with: file, line and element
    const char *what; // further words of it
} model_mistake;

// Parses the texts as a file `name`, whose ending says which format it is.
static inline void assert_mistakes(const model_mistake *mistakes, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const model_mistake *m = &mistakes[i];
        orr_error error = {0};
        orr_model *model = NULL;
        (void)orr_model_parse(m->text, strlen(m->text), name, &model, &error);
        if (model || strncmp(error.message, m->line, strlen(m->line)) != 0 ||
            !strstr(error.message, m->what)) {
            fail_msg("'%s': expected '%s... %s', got '%s'", m->text, m->line, m->what, error.message);
        }
    }
}
