// MJCF text into a tree of nodes, with the line of each.
#include "physics/mjcf/mjcf.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct open_file {
    const char *path;
    struct open_file *next;
} open_file;

typedef struct reading { // of a model and all it includes
    orr_arena *arena;
    const char *main_path;
    open_file *files; // read so far: a file may be included once
    orr_error *error;
} reading;

typedef struct parsing { // of one file
    reading *all;
    const char *file;
    XML_Parser parser;
    int lines_before; // blank ones, which expat is not given
    mjcf_node *open[MJCF_DEPTH_MAX];
    mjcf_node **next[MJCF_DEPTH_MAX]; // the link that the next child of each open node is written to
    int depth;
    mjcf_node *root;
    orr_result result;
} parsing;

spec_location mjcf_location(const mjcf_node *node)
{
    return (spec_location){node->file, node->line, node->name};
}

bool mjcf_is(const mjcf_node *node, const char *name)
{
    return strcmp(node->name, name) == 0;
}

const char *mjcf_find(const mjcf_node *node, const char *attribute)
{
    for (const mjcf_attribute *a = node->attributes; a; a = a->next) {
        if (strcmp(a->name, attribute) == 0) {
            return a->value;
        }
    }
    return NULL;
}

const char *mjcf_find_name(const mjcf_node *node, const char *attribute)
{
    const char *name = mjcf_find(node, attribute);
    return name && name[0] ? name : NULL;
}

orr_result mjcf_fail(const mjcf_node *node, orr_error *error, const char *format, ...)
{
    char what[384];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return orr_fail(error, ORR_CODE_MODEL_FILE, "%s:%d: <%.64s>: %s", node->file, node->line, node->name,
                    what);
}

// Elements that MuJoCo has and this engine has not, or not here: soft bodies, plugins, layers of textures.
static bool is_unsupported(const mjcf_node *node)
{
    static const char *const names[] = {"flex",   "flexvert", "flexstrain",  "deformable", "skin",
                                        "plugin", "layer",    "orientation", "config"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (mjcf_is(node, names[i])) {
            return true;
        }
    }
    return false;
}

orr_result mjcf_unknown(const mjcf_node *node, const mjcf_node *parent, orr_error *error)
{
    if (is_unsupported(node)) {
        return mjcf_fail(node, error, "this element of MuJoCo's is not supported");
    }
    return mjcf_fail(node, error, "unknown element inside <%.64s>", parent->name);
}

orr_result mjcf_no_children(const mjcf_node *node, orr_error *error)
{
    return node->children ? mjcf_unknown(node->children, node, error) : ORR_OK;
}

orr_result mjcf_no_head(const mjcf_node *node, orr_error *error)
{
    const char *found = mjcf_find(node, "name") ? "name" : mjcf_find(node, "class") ? "class" : NULL;
    return found ? mjcf_fail(node, error, "unknown attribute '%s'", found) : ORR_OK;
}

void mjcf_note_text(orr_spec *spec, const mjcf_node *node)
{
    spec_note(spec, node->file, node->text_line, "text between elements: expected attributes only");
}

static char *copy_text(orr_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = orr_arena_take(arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static void stop(parsing *p, orr_result result)
{
    p->result = result;
    XML_StopParser(p->parser, XML_FALSE);
}

static int line_of(const parsing *p)
{
    return p->lines_before + (int)XML_GetCurrentLineNumber(p->parser);
}

static void begin_element(void *user, const XML_Char *name, const XML_Char **attributes)
{
    parsing *p = user;
    int line = line_of(p);
    if (p->depth == MJCF_DEPTH_MAX) {
        stop(p, orr_fail(p->all->error, ORR_CODE_MODEL_FILE, "%s:%d: elements are nested more than %d deep",
                         p->file, line, MJCF_DEPTH_MAX));
        return;
    }
    mjcf_node *node = orr_arena_take(p->all->arena, 1, sizeof *node);
    char *copy = node ? copy_text(p->all->arena, name) : NULL;
    if (!copy) {
        stop(p, spec_memory_fail(p->all->error));
        return;
    }
    *node = (mjcf_node){.name = copy, .file = p->file, .line = line};
    mjcf_attribute **last = &node->attributes;
    for (int i = 0; attributes[i]; i += 2) {
        mjcf_attribute *attribute = orr_arena_take(p->all->arena, 1, sizeof *attribute);
        char *key = copy_text(p->all->arena, attributes[i]),
             *value = copy_text(p->all->arena, attributes[i + 1]);
        if (!attribute || !key || !value) {
            stop(p, spec_memory_fail(p->all->error));
            return;
        }
        *attribute = (mjcf_attribute){key, value, NULL};
        *last = attribute;
        last = &attribute->next;
    }
    if (p->depth == 0) {
        p->root = node;
    } else {
        *p->next[p->depth - 1] = node;
        p->next[p->depth - 1] = &node->next;
    }
    p->open[p->depth] = node;
    p->next[p->depth] = &node->children;
    p->depth++;
}

static void end_element(void *user, const XML_Char *name)
{
    (void)name;
    ((parsing *)user)->depth--;
}

static void read_text(void *user, const XML_Char *text, int length)
{
    parsing *p = user;
    mjcf_node *node = p->depth ? p->open[p->depth - 1] : NULL;
    for (int i = 0; node && !node->text_line && i < length; i++) {
        if (!strchr(" \t\r\n", text[i])) {
            node->text_line = line_of(p);
        }
    }
}

static orr_result parse_file(reading *all, const char *text, size_t size, const char *file, mjcf_node **root);

// `file` in the folder of `beside`, or `file` itself when it is absolute.
static char *path_in_arena(orr_arena *arena, const char *beside, const char *file)
{
    char *path = orr_path_beside(beside, file), *copy = path ? copy_text(arena, path) : NULL;
    orr_free(path);
    return copy;
}

static bool is_readable(const char *path)
{
    return path && access(path, R_OK) == 0;
}

// `file`, which an element of the file `from` names: in `folder` beside the model. Where there is none and
// the model includes `from`, beside that file, as in MuJoCo for a model with an absolute path, or in the
// folder of its name below `folder`, as there for a relative one. NULL: out of memory.
static char *find_file(orr_arena *arena, const char *model, const char *from, const char *folder,
                       const char *file)
{
    const bool absolute = file[0] == '/', in_folder = folder && folder[0] && !absolute;
    const size_t before = (size_t)(orr_path_name(model) - model);
    const char *inside = strncmp(from, model, before) == 0 ? from + before : from;
    const int length = (int)(orr_path_name(inside) - inside);
    char joined[2][4096]; // beside the model; there below the name of the folder of `from`
    for (int i = 0; i < 2; i++) {
        if (snprintf(joined[i], sizeof joined[i], "%s%s%.*s%s", in_folder ? folder : "", in_folder ? "/" : "",
                     i == 0 ? 0 : length, inside, file) >= (int)sizeof joined[i]) {
            return NULL;
        }
    }
    char *path = path_in_arena(arena, model, joined[0]);
    if (!path || absolute || is_readable(path) || strcmp(from, model) == 0) {
        return path;
    }
    char *own = path_in_arena(arena, from, file), *below = path_in_arena(arena, model, joined[1]);
    return !own || !below ? NULL : is_readable(own) ? own : is_readable(below) ? below : path;
}

// The children of the root of an included file, as a list.
static orr_result read_included(reading *all, const mjcf_node *node, mjcf_node **children)
{
    const char *file = mjcf_find(node, "file");
    if (!file || !file[0] || node->attributes->next) {
        return mjcf_fail(node, all->error, "expected one attribute, file");
    }
    ORR_TRY(mjcf_no_children(node, all->error));
    char *path = find_file(all->arena, all->main_path, node->file, NULL, file);
    orr_bytes bytes;
    orr_error reason;
    if (!path) {
        return spec_memory_fail(all->error);
    }
    for (const open_file *f = all->files; f; f = f->next) {
        if (strcmp(f->path, path) == 0) {
            return mjcf_fail(node, all->error, "file '%.200s' is included a second time: expected once",
                             file);
        }
    }
    if (orr_file_read(path, &bytes, &reason) != ORR_OK) {
        return mjcf_fail(node, all->error, "file: %.300s", reason.message);
    }
    mjcf_node *root;
    orr_result result = parse_file(all, (const char *)bytes.data, bytes.size, path, &root);
    orr_free(bytes.data);
    *children = result == ORR_OK ? root->children : NULL;
    return result;
}

static orr_result expand_includes(reading *all, mjcf_node *node)
{
    for (mjcf_node **link = &node->children; *link;) {
        mjcf_node *child = *link;
        if (!mjcf_is(child, "include")) {
            ORR_TRY(expand_includes(all, child));
            link = &child->next;
            continue;
        }
        mjcf_node *first = NULL, **last = &first;
        ORR_TRY(read_included(all, child, &first)); // its own includes are expanded already
        while (*last) {
            last = &(*last)->next;
        }
        *last = child->next;
        *link = first;
        link = last == &first ? link : last; // an empty list leaves no last node
    }
    return ORR_OK;
}

static bool begins(const char *text, size_t size, size_t at, const char *with)
{
    size_t length = strlen(with);
    return size - at >= length && memcmp(text + at, with, length) == 0;
}

// What follows the next `end`; `size` where there is none.
static size_t after(const char *text, size_t size, size_t at, const char *end)
{
    while (at < size && !begins(text, size, at, end)) {
        at++;
    }
    return at < size ? at + strlen(end) : size;
}

// Copies what MuJoCo's reader accepts as XML allows it, in the same lines: comments, which may have hyphens
// and bytes of any encoding, are blank, and attributes are apart. copy: up to 2 size. Returns its size.
static size_t make_strict(const char *text, size_t size, char *copy)
{
    size_t used = 0;
    bool tag = false;
    char quote = 0;
    for (size_t i = 0; i < size;) {
        size_t end = i + 1;
        bool open_before = quote != 0;
        bool comment = !tag && begins(text, size, i, "<!--");
        if (comment) {
            end = after(text, size, i + 4, "-->");
            comment = begins(text, size, end - 3, "-->"); // one without an end is expat's to refuse
        } else if (!tag && begins(text, size, i, "<![CDATA[")) {
            end = after(text, size, i, "]]>");
        } else if (quote) {
            quote = text[i] == quote ? 0 : quote;
        } else if (tag) {
            quote = text[i] == '"' || text[i] == '\'' ? text[i] : 0;
            tag = text[i] != '>';
        } else {
            tag = text[i] == '<';
        }
        for (; i < end; i++) {
            copy[used++] = (char)(comment && text[i] != '\n' ? ' ' : text[i]);
        }
        if (open_before && !quote && i < size && !strchr(" \t\r\n>/?", text[i])) {
            copy[used++] = ' ';
        }
    }
    return used;
}

static orr_result parse_file(reading *all, const char *text, size_t size, const char *file, mjcf_node **root)
{
    open_file *entry = orr_arena_take(all->arena, 1, sizeof *entry);
    XML_Parser parser = XML_ParserCreate(NULL);
    if (!entry || !parser) {
        XML_ParserFree(parser);
        return spec_memory_fail(all->error);
    }
    int depth = 0;
    for (const open_file *f = all->files; f; f = f->next) {
        depth++;
    }
    *entry = (open_file){file, all->files};
    all->files = entry;
    parsing p = {.all = all, .file = file, .parser = parser};
    for (; size > 0 && text[0] && strchr(" \t\r\n", text[0]);
         text++, size--) { // blank lines before a declaration are allowed
        p.lines_before += text[0] == '\n';
    }
    while (size > 0 && !text[size - 1]) { // and zeros after the root
        size--;
    }
    XML_SetUserData(parser, &p);
    XML_SetElementHandler(parser, begin_element, end_element);
    XML_SetCharacterDataHandler(parser, read_text);
    bool readable = size <= INT32_MAX / 2 && depth < MJCF_DEPTH_MAX;
    char *strict = orr_alloc(readable ? 2 * size + 1 : 1, 1);
    if (!strict) {
        XML_ParserFree(parser);
        return spec_memory_fail(all->error);
    }
    enum XML_Status status = readable
                                 ? XML_Parse(parser, strict, (int)make_strict(text, size, strict), XML_TRUE)
                                 : XML_STATUS_ERROR;
    orr_free(strict);
    orr_result result = p.result;
    if (status != XML_STATUS_OK && result == ORR_OK) {
        result = orr_fail(all->error, ORR_CODE_MODEL_FILE, "%s:%d: expected well-formed XML: %s", file,
                          line_of(&p), XML_ErrorString(XML_GetErrorCode(parser)));
    }
    XML_ParserFree(parser);
    *root = p.root;
    return result == ORR_OK ? expand_includes(all, p.root) : result;
}

orr_result mjcf_parse(const char *text, size_t size, const char *path, orr_arena *arena, mjcf_node **root,
                      orr_error *error)
{
    reading all = {.arena = arena, .main_path = path, .error = error};
    return parse_file(&all, text, size, path, root);
}

char *mjcf_file(orr_spec *spec, const mjcf_node *node, const char *folder, const char *file)
{
    return find_file(&spec->arena, spec->path, node->file, folder,
                     spec->compiler.strippath ? orr_path_name(file) : file);
}
