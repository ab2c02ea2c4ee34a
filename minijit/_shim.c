/* minijit._shim: what bytecode cannot do. Guards that read the running frame, capture of frames, raw stores.

   One translation unit, read in this order:
     frame.h    the running frame of each CPython version
     objects.h  reading objects without running user code
     keys.h     looking keys up without running user code
     tests.h    the table of tests, parsed and answered
     guards.h   Counter, Check, Entry, is_redo
     queries.h  what the compiler asks while it traces
     replay.h   stores past overrides and descriptors
     effects.h  builtins called where nothing else may run
     capture.h  PEP 523 */

#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE_MODULE
#include <Python.h>
#include <structmember.h>
#include <assert.h>
#include <opcode.h>
#include <internal/pycore_ceval.h>
#include <internal/pycore_code.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_object.h>
#include <internal/pycore_pystate.h>

#include "shim/frame.h"
#include "shim/objects.h"
#include "shim/keys.h"
#include "shim/tests.h"
#include "shim/words.h"
#include "shim/guards.h"
#include "shim/queries.h"
#include "shim/replay.h"
#include "shim/effects.h"
#include "shim/capture.h"

#define FASTCALL(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL

static PyMethodDef functions[] = {
    {"is_redo", FASTCALL(is_redo),
     "is_redo(exception, counter): whether an abort may drop it, as the original raises it again."},
    {"type_version", type_version, METH_O, "type_version(type): its version tag, or 0."},
    {"member_offset", member_offset, METH_O, "member_offset(descriptor): byte offset of a slot, or None."},
    {"instance_attribute", FASTCALL(instance_attribute),
     "instance_attribute(object, name): what the object itself stores, or LookupError."},
    {"has_unicode_keys", dict_has_unicode_keys, METH_O, "has_unicode_keys(dict): exact dict, exact str keys."},
    {"quiet_item", FASTCALL(quiet_item),
     "quiet_item(container, key): what a dict has there, True for a set; KeyError: not there; LookupError: not quiet."},
    {"is_dict_of", FASTCALL(is_dict_of), "is_dict_of(object, dict): whether that is its __dict__, which is not made."},
    {"stand_in", FASTCALL(stand_in), "stand_in(code, original): code does what original does."},
    {"forget_stand_in", FASTCALL(forget_stand_in),
     "forget_stand_in(table, address, ...): that code object is gone, and goes from the table too."},
    {"hide_locals", hide_locals, METH_VARARGS, "hide_locals(code, first, count): keep them out of locals()."},
    {"set_instance_attribute", FASTCALL(set_instance_attribute),
     "set_instance_attribute(object, name, value): past __setattr__ and descriptors."},
    {"delete_instance_attribute", FASTCALL(delete_instance_attribute),
     "delete_instance_attribute(object, name): past __delattr__ and descriptors."},
    {"enable", enable, METH_O, "enable(on): whether entries may answer true; returns what it was."},
    {"capture", capture, METH_VARARGS,
     "capture(callback, filter=None): call callback(function, arguments) before watched code runs; "
     "filter(code) tells whether to watch one not seen before."},
    {"release", release, METH_NOARGS, "release(): capture nothing."},
    {"watch", watch, METH_O, "watch(code): capture calls of functions with this code."},
    {"unwatch", unwatch, METH_O, "unwatch(code): never capture it."},
    {NULL},
};

/* Frames and interned layouts are those of the version compiled for, in the main interpreter. */
static int
check_interpreter(void)
{
    if ((Py_Version >> 16) != (PY_VERSION_HEX >> 16)) {
        PyErr_Format(PyExc_ImportError, "minijit._shim was compiled for CPython %d.%d; reinstall minijit",
                     PY_MAJOR_VERSION, PY_MINOR_VERSION);
        return -1;
    }
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "minijit works in the main interpreter only");
        return -1;
    }
    return 0;
}

static int
add_tests(PyObject *module)
{
    PyObject *table = tests_table();
    int status = table != NULL ? PyModule_AddObjectRef(module, "TESTS", table) : -1;
    Py_XDECREF(table);
    return status;
}

static int
execute(PyObject *module)
{
    if (check_interpreter() < 0 || prepare_capture() < 0 || add_tests(module) < 0) {
        return -1;
    }
    PyTypeObject *types[] = {&Counter_Type, &Check_Type, &Entry_Type, &Effect_Type};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(types); i++) {
        if (PyModule_AddType(module, types[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "minijit._shim",
    .m_doc = "Guards that read the running frame, capture of frames, and raw stores.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__shim(void)
{
    return PyModuleDef_Init(&definition);
}
