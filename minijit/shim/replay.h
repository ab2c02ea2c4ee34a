/* Stores that bytecode can't express: past an overridden __setattr__ and past descriptors. */

/* object.__setattr__ would run a data descriptor of the class; one that is not a slot is gone past. */
static int
is_hooked(PyTypeObject *type, PyObject *name)
{
    PyObject *descriptor = _PyType_Lookup(type, name);
    return descriptor != NULL && Py_TYPE(descriptor)->tp_descr_set != NULL
        && !Py_IS_TYPE(descriptor, &PyMemberDescr_Type);
}

/* `value` NULL deletes. */
static int
store_attribute(PyObject *object, PyObject *name, PyObject *value)
{
    if (PyType_Check(object)) {
        return PyType_Type.tp_setattro(object, name, value);
    }
    if (!is_hooked(Py_TYPE(object), name)) {
        return PyObject_GenericSetAttr(object, name, value);
    }
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    if (dict == NULL) {
        return -1;
    }
    int status = value != NULL ? PyDict_SetItem(dict, name, value) : PyDict_DelItem(dict, name);
    Py_DECREF(dict);
    return status;
}

static PyObject *
change_attribute(PyObject *const *args, Py_ssize_t nargs, Py_ssize_t wanted, const char *signature)
{
    if (nargs != wanted || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, signature);
        return NULL;
    }
    PyObject *value = wanted == 3 ? args[2] : NULL;
    return store_attribute(args[0], args[1], value) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *
set_instance_attribute(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    return change_attribute(args, nargs, 3, "set_instance_attribute(object, name, value)");
}

static PyObject *
delete_instance_attribute(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    return change_attribute(args, nargs, 2, "delete_instance_attribute(object, name)");
}
