/* Reading objects without running user code and without creating an instance __dict__. */

typedef enum { ABSENT, FOUND, UNKNOWN } Lookup;

static inline PyDictKeysObject *
dict_keys(PyObject *dict)
{
    return ((PyDictObject *)dict)->ma_keys;
}

/* A table of the unicode kind holds exact str only; the general kind may, so it is looked through. */
static int
has_unicode_keys(PyObject *dict)
{
    if (DK_IS_UNICODE(dict_keys(dict))) {
        return 1;
    }
    Py_ssize_t position = 0;
    PyObject *key;
    while (PyDict_Next(dict, &position, &key, NULL)) {
        if (!PyUnicode_CheckExact(key)) {
            return 0;
        }
    }
    return 1;
}

/* `key` is an exact str with its hash known. A borrowed reference. */
static inline Lookup
dict_find(PyObject *dict, PyObject *key, PyObject **value)
{
    if (!DK_IS_UNICODE(dict_keys(dict)) && !has_unicode_keys(dict)) {
        return UNKNOWN;
    }
    *value = _PyDict_GetItem_KnownHash(dict, key, ((PyASCIIObject *)key)->hash);
    return *value != NULL ? FOUND : ABSENT;
}

static inline int
same_text(PyObject *a, PyObject *b)
{
    return a == b || PyUnicode_Compare(a, b) == 0;
}

/* Instances of one class share their keys, so the place found last is nearly always right. */
static inline PyObject *
values_find(PyTypeObject *type, PyObject **values, PyObject *name, Py_ssize_t *hint)
{
    PyDictKeysObject *keys = ((PyHeapTypeObject *)type)->ht_cached_keys;
    PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(keys);
    Py_ssize_t count = keys->dk_nentries;
    if (*hint < count && entries[*hint].me_key == name) {
        return values[*hint];
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (entries[i].me_key != NULL && same_text(entries[i].me_key, name)) {
            *hint = i;
            return values[i];
        }
    }
    return NULL;
}

#define HAS_MANAGED_DICT(type) (((type)->tp_flags & Py_TPFLAGS_MANAGED_DICT) != 0)

/* The values kept in the instance itself, or NULL. */
static inline PyObject **
inline_values(PyObject *object, PyTypeObject *type)
{
#if PY_VERSION_HEX >= 0x030d0000
    if ((type->tp_flags & Py_TPFLAGS_INLINE_VALUES) == 0) {
        return NULL;
    }
    PyDictValues *values = _PyObject_InlineValues(object);
    return values->valid ? values->values : NULL;
#elif PY_VERSION_HEX >= 0x030c0000
    (void)type;
    PyDictOrValues held = *_PyObject_DictOrValuesPointer(object);
    return _PyDictOrValues_IsValues(held) && held.values != NULL
        ? _PyDictOrValues_GetValues(held)->values : NULL;
#else
    (void)type;
    PyDictValues *values = *_PyObject_ValuesPointer(object);
    return values != NULL ? values->values : NULL;
#endif
}

static inline PyObject *
managed_dict(PyObject *object)
{
#if PY_VERSION_HEX >= 0x030d0000
    return (PyObject *)_PyObject_GetManagedDict(object);
#elif PY_VERSION_HEX >= 0x030c0000
    PyDictOrValues held = *_PyObject_DictOrValuesPointer(object);
    return _PyDictOrValues_IsValues(held) ? NULL : _PyDictOrValues_GetDict(held);
#else
    return *_PyObject_ManagedDictPointer(object);
#endif
}

static inline PyObject *
own_dict(PyObject *object, PyTypeObject *type)
{
    if (HAS_MANAGED_DICT(type)) {
        return managed_dict(object);
    }
    if (PyType_Check(object)) {
#if PY_VERSION_HEX >= 0x030c0000
        /* Built-in static types keep theirs elsewhere; a class always has one, so borrowing is safe. */
        PyObject *dict = PyType_GetDict((PyTypeObject *)object);
        Py_XDECREF(dict);
        return dict;
#else
        return ((PyTypeObject *)object)->tp_dict;
#endif
    }
    PyObject **place = _PyObject_GetDictPtr(object);
    return place != NULL ? *place : NULL;
}

/* The attribute stored in the object itself: no type lookup, no hook. A borrowed reference. */
static inline Lookup
own_attribute(PyObject *object, PyObject *name, Py_ssize_t *hint, PyObject **value)
{
    PyTypeObject *type = Py_TYPE(object);
    if (HAS_MANAGED_DICT(type)) {
        PyObject **values = inline_values(object, type);
        if (values != NULL) {
            *value = values_find(type, values, name, hint);
            return *value != NULL ? FOUND : ABSENT;
        }
    }
    PyObject *dict = own_dict(object, type);
    return dict != NULL ? dict_find(dict, name, value) : ABSENT;
}

/* Overwriting such a value runs no code. */
static inline int
is_plain(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return value == Py_None || type == &PyLong_Type || type == &PyFloat_Type
        || type == &PyUnicode_Type || type == &PyBool_Type || type == &PyBytes_Type
        || type == &PyComplex_Type;
}

/* Same exact type and same bits: 0.0 is not -0.0, True is not 1, and a nan equals itself. */
static int
same_value(PyObject *a, PyObject *b)
{
    if (a == b) {
        return 1;
    }
    PyTypeObject *type = Py_TYPE(a);
    if (type != Py_TYPE(b)) {
        return 0;
    }
    if (type == &PyFloat_Type) {
        double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
        return memcmp(&x, &y, sizeof(double)) == 0;
    }
    if (type == &PyComplex_Type) {
        return memcmp(&((PyComplexObject *)a)->cval, &((PyComplexObject *)b)->cval, sizeof(Py_complex)) == 0;
    }
    if (type == &PyLong_Type || type == &PyUnicode_Type || type == &PyBytes_Type) {
        return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
    }
    if (type != &PyTuple_Type || PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); i++) {
        if (!same_value(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) {
            return 0;
        }
    }
    return 1;
}

/* -1 for what has no length a test may ask for. */
static inline Py_ssize_t
plain_length(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyList_Type) {
        return PyList_GET_SIZE(object);
    }
    if (type == &PyTuple_Type) {
        return PyTuple_GET_SIZE(object);
    }
    if (type == &PyDict_Type) {
        return ((PyDictObject *)object)->ma_used;
    }
    if (type == &PyUnicode_Type) {
        return PyUnicode_GET_LENGTH(object);
    }
    return type == &PySet_Type ? PySet_GET_SIZE(object) : -1;
}

static inline int
has_version(PyTypeObject *type, uint64_t tag)
{
#if PY_VERSION_HEX < 0x030d0000
    if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) == 0) {
        return 0;
    }
#endif
    return tag != 0 && type->tp_version_tag == tag;
}
