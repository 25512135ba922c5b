#!/usr/bin/env python3
"""Writes calls of every function of orrery.h, with each pointer NULL in turn: null_pointers.py HEADER OUT

The calls go into the table `null_calls` that test_arguments.c walks through. A parameter of a type for which
there is no value here is an error, so that no new function is left out."""
import re
import sys

# Where the header says that NULL is allowed; orr_error always may be NULL.
OPTIONAL = {
    "orr_engine_create_sized": ["desc"],
    "orr_camera_file_save": ["names"],
    "orr_scene_add_file": ["transform", "layer"],
    "orr_scene_add_splats": ["name", "transform", "layer"],
    "orr_scene_set_environment_sized": ["desc"],
    "orr_scene_set_physics_sized": ["desc"],
    "orr_scene_set_glass_sized": ["desc"],
    "orr_scene_set_sun_sized": ["desc"],
    "orr_scene_make_collider_sized": ["desc"],
    "orr_scene_add_collider": ["name", "transform", "layer"],
    "orr_collider_distance": ["gradients"],
    "orr_scene_add_mesh_sized": ["name", "transform", "layer"],
    "orr_world_set_transform": ["transform"],
    "orr_world_get": ["transform", "visible"],
    "orr_world_save": ["camera"],
    "orr_world_step_masked": ["mask"],
    "orr_world_reset_masked": ["mask"],
    "orr_world_get_soft": ["positions", "velocities"],
    "orr_world_set_soft": ["positions", "velocities"],
    "orr_world_get_robots": ["mask"],
    "orr_world_set_robots": ["mask"],
    "orr_eyes_draw_sized": ["mask"],
    "orr_eyes_draw_cuda_sized": ["mask", "after"],
    "orr_eyes_forget": ["mask"],
    "orr_eyes_set_looks_sized": ["mask"],
    "orr_eyes_set_surfaces_sized": ["mask"],
    "orr_world_create_with_sized": ["desc"],
    "orr_world_read_robots": ["mask"],
    "orr_world_get_parameters": ["mask"],
    "orr_world_set_parameters": ["mask"],
    "orr_world_get_contacts_sized": ["mask"],
    "orr_world_get_tactile_sized": ["mask", "forces", "heights"],
    "orr_world_get_jacobians": ["mask", "points"],
    "orr_env_shipped_task": ["file"],
    "orr_env_reset": ["mask", "seeds"],
    "orr_env_set_quantity": ["mask"],
    "orr_trainer_save_plot": ["title"],
    "orr_scene_set_material": ["path"],
    "orr_material_trainer_step": ["mean"],
    "orr_scene_add_trainer": ["name", "transform", "layer"],
    "orr_frame_create_sized": ["desc"],
    "orr_frame_finish_sized": ["picture"],
    "orr_frame_stages_sized": ["stages"],
    "orr_world_place_sized": ["desc"],
    "orr_scene_file_insert": ["name", "transform"],
    "orr_frame_compose_sized": ["rgba", "shadow"],
}
# Valid arguments. Objects are those of the test; what a call would fill is a zero of its own.
OBJECTS = {
    "orr_engine *": "engine",
    "orr_scene *": "made.scene",
    "orr_world *": "made.world",
    "orr_frame *": "made.frame",
    "orr_splats *": "made.splats",
    "orr_output *": "made.output",
    "orr_collider *": "made.collider",
    "orr_env *": "made.env",
    "orr_eyes *": "made.eyes",
    "orr_policy *": "orr_policy_trainer_policy(made.trainer)",
    "orr_policy_trainer *": "made.trainer",
    "orr_trainer *": "made.learner",
    "orr_material_trainer *": "made.material",
    "orr_reference *": "made.reference",
    "orr_registration *": "made.registration",
    "orr_error *": "where",
}
SCALARS = {
    "int": "1",
    "int64_t": "1",
    "uint32_t": "1",
    "unsigned": "1u",
    "float": "1.0f",
    "double": "1.0",
    "bool": "true",
    "size_t": None,  # of the struct before it
    "orr_layer": "made.robot",
    "orr_result": "ORR_OK",
    "orr_device_kind": "ORR_DEVICE_CPU",
    "orr_trainer_kind": "ORR_TRAINER_IMAGE",
    "orr_robot_quantity": "ORR_ROBOT_QPOS",
    "orr_number_kind": "ORR_NUMBER_F64",
    "orr_robot_object": "ORR_ROBOT_OBJECT_BODY",
    "orr_robot_parameter": "ORR_PARAMETER_BODY_MASS",
    "orr_robot_element_kind": "ORR_ROBOT_ELEMENT_JOINT",
    "orr_shadow_casting": "ORR_SHADOW_CASTING_ALWAYS",
}


def split(parameter):
    """(type without const, name) of a parameter; an array is a pointer."""
    parameter = re.sub(r"\bconst\b", "", parameter)
    found = re.fullmatch(r"\s*(\w+)\s*([*\s]*?)\s*(\w+)\s*(\[\d*\])?\s*", parameter)
    if not found:
        sys.exit(f"null_pointers.py: cannot read the parameter '{parameter}'")
    stars = found[2].replace(" ", "") + ("*" if found[4] else "")
    return found[1] + (" " + stars if stars else ""), found[3]


def value(kind, pointed_to):
    if kind in OBJECTS:
        return OBJECTS[kind]
    if kind == "size_t":
        return f"sizeof({pointed_to})"
    if kind in SCALARS:
        return SCALARS[kind]
    if kind == "char *":
        return '"no such file"'
    if kind == "char **":
        return "(const char *[1]){NULL}"
    if kind == "void *":  # numbers
        return "(double[64]){0}"
    if kind in ("double *", "float *"):
        return f"({kind[:-2]}[64]){{0}}"
    if kind.endswith("**"):
        return f"&({kind[:-1]}){{NULL}}"
    if kind.endswith("*"):
        return f"&({kind[:-2]}){{0}}"
    sys.exit(f"null_pointers.py: no value of type '{kind}'")


def main():
    header = re.sub(r"/\*.*?\*/", "", open(sys.argv[1], encoding="utf-8").read(), flags=re.S)
    functions = re.findall(r"ORR_API\s+([^;{(]*?)\s*(orr_\w+)\s*\(([^;{]*?)\)\s*;", header)
    if len(functions) < 50:
        sys.exit(f"null_pointers.py: found {len(functions)} functions")
    left = {(name, p) for name, names in OPTIONAL.items() for p in names}
    calls, table = [], []
    for returned, name, text in functions:
        parameters = [] if text.strip() == "void" else [split(p) for p in text.split(",")]
        for i, (kind, null) in enumerate(parameters):
            if not kind.endswith("*") or kind == "orr_error *":
                continue
            if (name, null) in left:
                left.remove((name, null))
                continue
            arguments, pointed_to = [], ""
            for j, (other, _) in enumerate(parameters):
                arguments.append("NULL" if i == j else value(other, pointed_to))
                pointed_to = other.rstrip("* ") if other.endswith("*") else pointed_to
            call = f"{name}({', '.join(arguments)})"
            function = f"null_call_{len(table)}"
            fails = returned == "orr_result"
            body = f"return {call};" if fails else f"(void){call};\n    return ORR_ERROR_ARGUMENT;"
            if returned == "void":
                body = f"{call};\n    return ORR_ERROR_ARGUMENT;"
            head = f"static orr_result {function}(orr_error *where)"
            calls.append(f"{head}\n{{\n    (void)where;\n    {body}\n}}\n")
            table.append(f'    {{"{name}", "{null}", {function}, {str(fails).lower()}}},')
    if left:
        sys.exit(f"null_pointers.py: not in the header: {sorted(left)}")
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("\n".join(calls))
        out.write("\nstatic const null_call null_calls[] = {\n" + "\n".join(table) + "\n};\n")


main()
