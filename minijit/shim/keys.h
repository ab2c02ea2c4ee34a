/* Looking keys up without running user code: a lookup calls `__eq__` of keys with the same hash only. */

/* Hashing and comparing such an object runs no user code. */
static int
is_quiet(PyObject *key)
{
    if (is_plain(key)) {
        return 1;
    }
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) > 16) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        if (!is_plain(PyTuple_GET_ITEM(key, i))) {
            return 0;
        }
    }
    return 1;
}

#define SHIFT 5
#define LINEAR 9

/* The places a set would look at for that hash, in its order. */
static int
set_is_quiet(PyObject *set, Py_hash_t hash)
{
    PySetObject *table = (PySetObject *)set;
    size_t mask = (size_t)table->mask, perturb = (size_t)hash, i = (size_t)hash & mask;
    for (;;) {
        size_t probes = i + LINEAR <= mask ? LINEAR : 0;
        for (setentry *entry = &table->table[i], *end = entry + probes; entry <= end; entry++) {
            if (entry->key == NULL) {
                return 1;
            }
            if (entry->hash == hash && !is_quiet(entry->key)) {
                return 0;
            }
        }
        perturb >>= SHIFT;
        i = (i * 5 + 1 + perturb) & mask;
    }
}

static inline int64_t
dict_index(PyDictKeysObject *keys, size_t i)
{
    const char *indices = (const char *)keys->dk_indices;
    int size = keys->dk_log2_size;
    if (size < 8) {
        return ((const int8_t *)indices)[i];
    }
    if (size < 16) {
        return ((const int16_t *)indices)[i];
    }
    return size < 32 ? ((const int32_t *)indices)[i] : ((const int64_t *)indices)[i];
}

static int
dict_is_quiet(PyObject *dict, Py_hash_t hash)
{
    PyDictKeysObject *keys = dict_keys(dict);
    if (DK_IS_UNICODE(keys)) {
        return 1;
    }
    size_t mask = ((size_t)1 << keys->dk_log2_size) - 1, perturb = (size_t)hash, i = (size_t)hash & mask;
    for (;;) {
        int64_t index = dict_index(keys, i);
        if (index == DKIX_EMPTY) {
            return 1;
        }
        if (index >= 0 && DK_ENTRIES(keys)[index].me_hash == hash && !is_quiet(DK_ENTRIES(keys)[index].me_key)) {
            return 0;
        }
        perturb >>= SHIFT;
        i = (i * 5 + perturb + 1) & mask;
    }
}

/* Whether the key is there, in a dict or set or an instance of a subclass; a borrowed reference to its value. */
static Lookup
quiet_find(PyObject *container, PyObject *key, PyObject **value)
{
    int is_dict = PyDict_Check(container);
    if ((!is_dict && !PyAnySet_Check(container)) || !is_quiet(key)) {
        return UNKNOWN;
    }
    Py_hash_t hash = PyObject_Hash(key);
    if (!(is_dict ? dict_is_quiet(container, hash) : set_is_quiet(container, hash))) {
        return UNKNOWN;
    }
    if (is_dict) {
        *value = _PyDict_GetItem_KnownHash(container, key, hash);
        return *value != NULL ? FOUND : ABSENT;
    }
    return PySet_Contains(container, key) == 1 ? FOUND : ABSENT;
}

/* All items of a list are of that very type. */
static int
all_of(PyObject *list, PyTypeObject *type)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        if (!Py_IS_TYPE(PyList_GET_ITEM(list, i), type)) {
            return 0;
        }
    }
    return 1;
}

/* Nothing in an exact list, dict or set runs code when it dies. */
static int
all_plain(PyObject *container)
{
    Py_ssize_t position = 0;
    PyObject *key, *value;
    if (PyList_CheckExact(container)) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(container); i++) {
            if (!is_plain(PyList_GET_ITEM(container, i))) {
                return 0;
            }
        }
        return 1;
    }
    if (PyDict_CheckExact(container)) {
        while (PyDict_Next(container, &position, &key, &value)) {
            if (!is_quiet(key) || !is_plain(value)) {
                return 0;
            }
        }
        return 1;
    }
    if (!PySet_CheckExact(container)) {
        return 0;
    }
    PySetObject *table = (PySetObject *)container;
    for (setentry *entry = table->table, *end = entry + table->mask; entry <= end; entry++) {
        if (entry->key != NULL && entry->hash != -1 && !is_quiet(entry->key)) {
            return 0;
        }
    }
    return 1;
}

/* An exact int that a container may be asked for as an index. */
static int
is_index(PyObject *number)
{
    if (!PyLong_CheckExact(number)) {
        return 0;
    }
    int overflow;
    PyLong_AsLongAndOverflow(number, &overflow);
    return overflow == 0;
}
