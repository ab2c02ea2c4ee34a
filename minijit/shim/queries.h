/* What the compiler asks about objects while it traces: the same answers the tests give later. */

static PyObject *
type_version(PyObject *Py_UNUSED(module), PyObject *type)
{
    if (!PyType_Check(type)) {
        PyErr_Format(PyExc_TypeError, "type_version() takes a type, not %.100s", Py_TYPE(type)->tp_name);
        return NULL;
    }
    PyTypeObject *subject = (PyTypeObject *)type;
#if PY_VERSION_HEX >= 0x030c0000
    PyUnstable_Type_AssignVersionTag(subject);
#else
    PyObject *name = PyUnicode_InternFromString("__class__");
    if (name == NULL) {
        return NULL;
    }
    _PyType_Lookup(subject, name); /* a lookup that enters the method cache assigns one */
    Py_DECREF(name);
#endif
    return PyLong_FromUnsignedLong(has_version(subject, subject->tp_version_tag) ? subject->tp_version_tag : 0);
}

static PyObject *
member_offset(PyObject *Py_UNUSED(module), PyObject *descriptor)
{
    if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) {
        Py_RETURN_NONE;
    }
    PyMemberDef *definition = ((PyMemberDescrObject *)descriptor)->d_member;
    int plain = definition->type == T_OBJECT_EX && definition->flags == 0;
    return plain ? PyLong_FromSsize_t(definition->offset) : Py_NewRef(Py_None);
}

static PyObject *
instance_attribute(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2 || !PyUnicode_CheckExact(args[1]) || PyObject_Hash(args[1]) == -1) {
        PyErr_SetString(PyExc_TypeError, "instance_attribute(object, name)");
        return NULL;
    }
    PyObject *value = NULL;
    Py_ssize_t hint = 0;
    if (own_attribute(args[0], args[1], &hint, &value) == FOUND) {
        return Py_NewRef(value);
    }
    PyErr_SetObject(PyExc_LookupError, args[1]);
    return NULL;
}

static PyObject *
dict_has_unicode_keys(PyObject *Py_UNUSED(module), PyObject *dict)
{
    return PyBool_FromLong(PyDict_CheckExact(dict) && has_unicode_keys(dict));
}

/* KeyError: not there. LookupError of no other class: looking it up might run code. */
static PyObject *
quiet_item(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "quiet_item(container, key)");
        return NULL;
    }
    PyObject *value = NULL;
    Lookup lookup = quiet_find(args[0], args[1], &value);
    if (lookup == FOUND) {
        return Py_NewRef(value != NULL ? value : Py_True);
    }
    PyErr_SetObject(lookup == ABSENT ? PyExc_KeyError : PyExc_LookupError, args[1]);
    return NULL;
}

static PyObject *
is_dict_of(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "is_dict_of(object, dict)");
        return NULL;
    }
    return PyBool_FromLong(own_dict(args[0], Py_TYPE(args[0])) == args[1]);
}

/* Hidden locals show neither in locals() nor in f_locals. Only for a code object nobody runs yet. */
static PyObject *
hide_locals(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyCodeObject *code;
    Py_ssize_t first, count;
    if (!PyArg_ParseTuple(args, "O!nn:hide_locals", &PyCode_Type, &code, &first, &count)) {
        return NULL;
    }
    if (first < 0 || count < 0 || first + count > code->co_nlocalsplus) {
        PyErr_SetString(PyExc_ValueError, "there are no such locals");
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030c0000
    PyObject *kinds = PyBytes_FromStringAndSize(NULL, code->co_nlocalsplus);
    if (kinds == NULL) {
        return NULL;
    }
    char *bytes = PyBytes_AS_STRING(kinds);
    memcpy(bytes, PyBytes_AS_STRING(code->co_localspluskinds), (size_t)code->co_nlocalsplus);
    for (Py_ssize_t i = first; i < first + count; i++) {
        bytes[i] |= CO_FAST_HIDDEN;
    }
    Py_SETREF(code->co_localspluskinds, kinds);
#endif
    Py_RETURN_NONE;
}

/* stand_in(code, original): `code` does what `original` does. */
static PyObject *
stand_in(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2 || !PyCode_Check(args[0]) || !PyCode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "stand_in(code, original)");
        return NULL;
    }
    if (stand_ins == NULL && (stand_ins = PyDict_New()) == NULL) {
        return NULL;
    }
    PyObject *key = PyLong_FromVoidPtr(args[0]);
    int failed = key == NULL || PyDict_SetItem(stand_ins, key, args[1]) < 0;
    Py_XDECREF(key);
    if (failed) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static void
forget(PyObject *table, PyObject *address)
{
    if (table != NULL && PyDict_DelItem(table, address) < 0) {
        PyErr_Clear();
    }
}

/* forget_stand_in(table, address, ...): the code object that was there is gone. */
static PyObject *
forget_stand_in(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs < 2 || !PyDict_CheckExact(args[0])) {
        PyErr_SetString(PyExc_TypeError, "forget_stand_in(table, address)");
        return NULL;
    }
    forget(stand_ins, args[1]);
    forget(args[0], args[1]);
    Py_RETURN_NONE;
}
