/* The questions a guard asks: one table of what each takes, one switch that answers. */

#define TEST_ROWS(ROW) \
    ROW(TYPE, "type", "LT") \
    ROW(IS, "is", "LO") \
    ROW(IS_NOT, "is_not", "LO") \
    ROW(SAME, "same", "LL") \
    ROW(DISTINCT, "distinct", "LL") \
    ROW(NOT_DICT_OF, "not_dict_of", "LL") \
    ROW(VALUE, "value", "LO") \
    ROW(SLOT, "slot", "LND") \
    ROW(ATTR, "attr", "LSD") \
    ROW(NO_ATTR, "no_attr", "LS") \
    ROW(INERT_SLOT, "inert_slot", "LN") \
    ROW(INERT_ATTR, "inert_attr", "LS") \
    ROW(CELL_SLOT, "cell_slot", "LD") \
    ROW(UNICODE_KEYS, "unicode_keys", "L") \
    ROW(ITEM, "item", "LSD") \
    ROW(NO_ITEM, "no_item", "LS") \
    ROW(LIST_ITEM, "list_item", "LND") \
    ROW(LEN, "len", "LN") \
    ROW(QUIET_KEY, "quiet_key", "LL") \
    ROW(HAS_KEY, "has_key", "LL") \
    ROW(NO_KEY, "no_key", "LL") \
    ROW(INERT_ITEM, "inert_item", "LL") \
    ROW(KEYED_ITEM, "keyed_item", "LLD") \
    ROW(ALL_PLAIN, "all_plain", "L") \
    ROW(ALL_OF, "all_of", "LT") \
    ROW(INDEX, "index", "L") \
    ROW(CELL, "cell", "CD") \
    ROW(CONSTANT, "constant", "OD") \
    ROW(NEVER, "never", "") \
    ROW(UNBIND, "unbind", "X") \
    ROW(CELL_IS, "cell_is", "CO") \
    ROW(VERSION, "version", "TN") \
    ROW(GLOBAL_IS, "global_is", "dSO") \
    ROW(GLOBAL_ABSENT, "global_absent", "dS") \
    ROW(DICT_ITEMS, "dict_items", "dUU") \
    ROW(LIST_ITEMS, "list_items", "lU") \
    ROW(FUNCTION, "function", "FOOO") \
    ROW(ATTR_IS, "attr_is", "OSO") \
    ROW(ATTR_ABSENT, "attr_absent", "OS") \
    ROW(ITEM_IS, "item_is", "dSO")

typedef enum {
#define ROW(op, name, kinds) TEST_##op,
    TEST_ROWS(ROW)
#undef ROW
    TEST_COUNT,
    FIRST_CONSTANT = TEST_CELL /* from here on, rows that look at no local */
} TestOp;

typedef struct {
    const char *name;
    const char *kinds;
} TestRow;

static const TestRow test_rows[TEST_COUNT] = {
#define ROW(op, name, kinds) {name, kinds},
    TEST_ROWS(ROW)
#undef ROW
};

/* One test, parsed. Objects are borrowed from the tuple the guard keeps. */
typedef struct {
    TestOp op;
    int slots[3];
    Py_ssize_t number;
    PyObject *objects[4];
    uint64_t seen; /* the dict's version, or the place of an attribute, when last looked up */
} Test;

typedef struct {
    char letter;
    const char *name;
    PyTypeObject *type;
} Kind;

/* What the letters of the table stand for; a type is the exact one an object must have. */
static const Kind kinds[] = {
    {'L', "local", NULL},          {'D', "destination", NULL},    {'N', "number", NULL},
    {'X', "unbound", NULL},
    {'O', "object", NULL},         {'T', "type", NULL},           {'S', "str", &PyUnicode_Type},
    {'d', "dict", &PyDict_Type},   {'l', "list", &PyList_Type},   {'U', "tuple", &PyTuple_Type},
    {'C', "cell", &PyCell_Type},   {'F', "function", &PyFunction_Type},
};

static const Kind *
find_kind(char letter)
{
    const Kind *kind = kinds;
    while (kind->letter != letter) {
        kind++;
    }
    return kind;
}

/* ---- parsing ---- */

static int
parse_number(PyObject *argument, Py_ssize_t *number)
{
    if (!PyLong_CheckExact(argument)) {
        PyErr_Format(PyExc_TypeError, "a test's number must be an int, not %.100s", Py_TYPE(argument)->tp_name);
        return -1;
    }
    *number = PyLong_AsSsize_t(argument);
    return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

static int
parse_slot(PyObject *argument, int *slot, int *highest)
{
    Py_ssize_t number;
    if (parse_number(argument, &number) < 0) {
        return -1;
    }
    if (number < 0 || number > 0xffff) {
        PyErr_Format(PyExc_ValueError, "no local has index %zd", number);
        return -1;
    }
    *slot = (int)number;
    *highest = *slot > *highest ? *slot : *highest;
    return 0;
}

static int
parse_object(PyObject *argument, const Kind *kind, PyObject **object)
{
    int fits = kind->letter == 'T' ? PyType_Check(argument)
        : kind->type == NULL || Py_TYPE(argument) == kind->type;
    if (!fits) {
        PyErr_Format(PyExc_TypeError, "a test's %s can't be a %.100s", kind->name, Py_TYPE(argument)->tp_name);
        return -1;
    }
    if (kind->letter == 'S' && PyObject_Hash(argument) == -1) {
        return -1;
    }
    *object = argument;
    return 0;
}

static int
parse_arguments(PyObject *source, const TestRow *row, Test *test, int *highest)
{
    int slots = 0, objects = 0, failed = 0;
    for (Py_ssize_t i = 0; !failed && row->kinds[i] != '\0'; i++) {
        PyObject *argument = PyTuple_GET_ITEM(source, i + 1);
        const Kind *kind = find_kind(row->kinds[i]);
        switch (kind->letter) {
        case 'L':
        case 'D':
        case 'X':
            failed = parse_slot(argument, &test->slots[slots++], highest);
            break;
        case 'N':
            failed = parse_number(argument, &test->number);
            break;
        default:
            failed = parse_object(argument, kind, &test->objects[objects++]);
        }
    }
    return failed;
}

static int
find_row(PyObject *name)
{
    for (int op = 0; PyUnicode_Check(name) && op < TEST_COUNT; op++) {
        if (PyUnicode_CompareWithASCIIString(name, test_rows[op].name) == 0) {
            return op;
        }
    }
    PyErr_Format(PyExc_ValueError, "there is no test named %R", name);
    return -1;
}

/* Raises the highest local index met. */
static int
parse_test(PyObject *source, Test *test, int *highest)
{
    if (!PyTuple_CheckExact(source) || PyTuple_GET_SIZE(source) == 0) {
        PyErr_SetString(PyExc_TypeError, "a test is a tuple: a name and its arguments");
        return -1;
    }
    int op = find_row(PyTuple_GET_ITEM(source, 0));
    if (op < 0) {
        return -1;
    }
    const TestRow *row = &test_rows[op];
    if (PyTuple_GET_SIZE(source) - 1 != (Py_ssize_t)strlen(row->kinds)) {
        PyErr_Format(PyExc_TypeError, "%s takes %zd arguments: %R", row->name, strlen(row->kinds), source);
        return -1;
    }
    memset(test, 0, sizeof(*test));
    test->op = (TestOp)op;
    return parse_arguments(source, row, test, highest);
}

/* {name: (kind, ...)}: the table as Python sees it. */
static PyObject *
tests_table(void)
{
    PyObject *table = PyDict_New();
    for (int op = 0; table != NULL && op < TEST_COUNT; op++) {
        const char *letters = test_rows[op].kinds;
        PyObject *names = PyTuple_New((Py_ssize_t)strlen(letters));
        for (Py_ssize_t i = 0; names != NULL && letters[i] != '\0'; i++) {
            PyTuple_SET_ITEM(names, i, PyUnicode_FromString(find_kind(letters[i])->name));
        }
        if (names == NULL || PyDict_SetItemString(table, test_rows[op].name, names) < 0) {
            Py_CLEAR(table);
        }
        Py_XDECREF(names);
    }
    return table;
}

/* ---- answering ---- */

/* The old value goes last: dropping it may run code, which must find the new one. */
static inline int
load(PyObject **locals, int slot, PyObject *value)
{
    PyObject *old = locals[slot];
    locals[slot] = Py_NewRef(value);
    Py_XDECREF(old);
    return 1;
}

static inline PyObject **
member(PyObject *object, Py_ssize_t offset)
{
    int inside = offset > 0 && offset + (Py_ssize_t)sizeof(PyObject *) <= Py_TYPE(object)->tp_basicsize;
    return inside ? (PyObject **)((char *)object + offset) : NULL;
}

static inline PyObject *
list_item(PyObject *list, Py_ssize_t index)
{
    int is_list = PyList_CheckExact(list);
    if (!is_list && !PyTuple_CheckExact(list)) {
        return NULL;
    }
    Py_ssize_t size = Py_SIZE(list);
    index += index < 0 ? size : 0;
    if (index < 0 || index >= size) {
        return NULL;
    }
    return is_list ? PyList_GET_ITEM(list, index) : PyTuple_GET_ITEM(list, index);
}

static inline Lookup
attribute(Test *test, PyObject *object, PyObject *name, PyObject **value)
{
    Py_ssize_t hint = (Py_ssize_t)test->seen;
    Lookup lookup = own_attribute(object, name, &hint, value);
    test->seen = (uint64_t)hint;
    return lookup;
}

/* A combined table's version moves at each change, so an unmoved one needs no second look. A split
   table's may not: its values can be stored to through the instance. */
static inline int
unchanged(const Test *test, PyObject *dict)
{
    return test->seen != 0 && test->seen == ((PyDictObject *)dict)->ma_version_tag;
}

static inline int
remember(Test *test, PyObject *dict, int answer)
{
    PyDictObject *table = (PyDictObject *)dict;
    test->seen = answer && table->ma_values == NULL ? table->ma_version_tag : 0;
    return answer;
}

static inline int
item_is(Test *test)
{
    PyObject *dict = test->objects[0], *value = NULL;
    return unchanged(test, dict)
        || remember(test, dict, dict_find(dict, test->objects[1], &value) == FOUND && value == test->objects[2]);
}

static inline int
item_absent(Test *test)
{
    PyObject *dict = test->objects[0], *value = NULL;
    return unchanged(test, dict) || remember(test, dict, dict_find(dict, test->objects[1], &value) == ABSENT);
}

static int
same_items(PyObject *dict, PyObject *keys, PyObject *values)
{
    Py_ssize_t position = 0, i = 0, size = PyTuple_GET_SIZE(keys);
    PyObject *key, *value;
    if (((PyDictObject *)dict)->ma_used != size || PyTuple_GET_SIZE(values) != size) {
        return 0;
    }
    for (; PyDict_Next(dict, &position, &key, &value); i++) {
        if (key != PyTuple_GET_ITEM(keys, i) || value != PyTuple_GET_ITEM(values, i)) {
            return 0;
        }
    }
    return 1;
}

static int
same_list(PyObject *list, PyObject *items)
{
    if (PyList_GET_SIZE(list) != PyTuple_GET_SIZE(items)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        if (PyList_GET_ITEM(list, i) != PyTuple_GET_ITEM(items, i)) {
            return 0;
        }
    }
    return 1;
}

static inline int
is_or_none(PyObject *field, PyObject *expected)
{
    return (field != NULL ? field : Py_None) == expected;
}

/* Code objects that minijit made, by address, and the original each stands for. Python forgets an
   entry when the code object dies. */
static PyObject *stand_ins = NULL;

static int
stands_for(PyObject *code, PyObject *original)
{
    if (code == original || stand_ins == NULL) {
        return code == original;
    }
    PyObject *key = PyLong_FromVoidPtr(code);
    PyObject *found = key != NULL ? PyDict_GetItemWithError(stand_ins, key) : NULL;
    Py_XDECREF(key);
    PyErr_Clear();
    return found == original;
}

static int
same_function(PyObject *object, PyObject *code, PyObject *defaults, PyObject *kwdefaults)
{
    PyFunctionObject *function = (PyFunctionObject *)object;
    return stands_for(function->func_code, code) && is_or_none(function->func_defaults, defaults)
        && is_or_none(function->func_kwdefaults, kwdefaults)
        && !observed_here((PyCodeObject *)code) && !observed_here((PyCodeObject *)function->func_code);
}

/* A tool that watches a function's code must see it called: its events come and go without a word moving. */
static int
function_may_be_observed(const Test *test)
{
    PyFunctionObject *function = (PyFunctionObject *)test->objects[0];
    return may_be_observed((PyCodeObject *)test->objects[1]) || may_be_observed((PyCodeObject *)function->func_code);
}

/* Tests that look at no local. */
static int
ask_constant(Test *test, PyObject **locals)
{
    PyObject *subject = test->objects[0], *value = NULL;
    switch (test->op) {
    case TEST_CELL:
        value = ((PyCellObject *)subject)->ob_ref;
        return value != NULL && load(locals, test->slots[0], value);
    case TEST_NEVER:
        return 0;
    case TEST_CONSTANT:
        return load(locals, test->slots[0], subject);
    case TEST_UNBIND:
        Py_CLEAR(locals[test->slots[0]]);
        return 1;
    case TEST_CELL_IS:
        return ((PyCellObject *)subject)->ob_ref == test->objects[1];
    case TEST_VERSION:
        return has_version((PyTypeObject *)subject, (uint64_t)test->number);
    case TEST_GLOBAL_IS:
    case TEST_ITEM_IS:
        return item_is(test);
    case TEST_GLOBAL_ABSENT:
        return item_absent(test);
    case TEST_DICT_ITEMS:
        return unchanged(test, subject)
            || remember(test, subject, same_items(subject, test->objects[1], test->objects[2]));
    case TEST_LIST_ITEMS:
        return same_list(subject, test->objects[1]);
    case TEST_FUNCTION:
        return same_function(subject, test->objects[1], test->objects[2], test->objects[3]);
    case TEST_ATTR_IS:
        return attribute(test, subject, test->objects[1], &value) == FOUND && value == test->objects[2];
    case TEST_ATTR_ABSENT:
        return attribute(test, subject, test->objects[1], &value) == ABSENT;
    default:
        Py_UNREACHABLE();
    }
}

/* Tests of a container and a key. */
static int
ask_key(Test *test, PyObject **locals, PyObject *container, PyObject *key)
{
    PyObject *value = NULL;
    Lookup lookup = quiet_find(container, key, &value);
    switch (test->op) {
    case TEST_QUIET_KEY:
        return lookup != UNKNOWN;
    case TEST_HAS_KEY:
        return lookup == FOUND;
    case TEST_NO_KEY:
        return lookup == ABSENT;
    case TEST_INERT_ITEM:
        return lookup == ABSENT || (lookup == FOUND && value != NULL && is_plain(value));
    case TEST_KEYED_ITEM:
        return lookup == FOUND && value != NULL && load(locals, test->slots[2], value);
    default:
        Py_UNREACHABLE();
    }
}

/* Tests of a local that is bound. */
static int
ask_local(Test *test, PyObject **locals, PyObject *subject)
{
    PyObject *value = NULL, *name = test->objects[0];
    PyObject **place;
    Lookup lookup;
    switch (test->op) {
    case TEST_SAME:
        return subject == locals[test->slots[1]];
    case TEST_DISTINCT:
        return locals[test->slots[1]] != NULL && subject != locals[test->slots[1]];
    case TEST_NOT_DICT_OF:
        return locals[test->slots[1]] != NULL && own_dict(subject, Py_TYPE(subject)) != locals[test->slots[1]];
    case TEST_VALUE:
        return same_value(subject, test->objects[0]);
    case TEST_SLOT:
        place = member(subject, test->number);
        return place != NULL && *place != NULL && load(locals, test->slots[1], *place);
    case TEST_INERT_SLOT:
        place = member(subject, test->number);
        return place != NULL && (*place == NULL || is_plain(*place));
    case TEST_ATTR:
        return attribute(test, subject, name, &value) == FOUND && load(locals, test->slots[1], value);
    case TEST_NO_ATTR:
        return attribute(test, subject, name, &value) == ABSENT;
    case TEST_INERT_ATTR:
        lookup = attribute(test, subject, name, &value);
        return lookup == ABSENT || (lookup == FOUND && is_plain(value));
    case TEST_CELL_SLOT:
        value = PyCell_Check(subject) ? ((PyCellObject *)subject)->ob_ref : NULL;
        return value != NULL && load(locals, test->slots[1], value);
    case TEST_UNICODE_KEYS:
        return PyDict_CheckExact(subject) && has_unicode_keys(subject);
    case TEST_ITEM:
        return PyDict_CheckExact(subject) && dict_find(subject, name, &value) == FOUND
            && load(locals, test->slots[1], value);
    case TEST_NO_ITEM:
        return PyDict_CheckExact(subject) && dict_find(subject, name, &value) == ABSENT;
    case TEST_LIST_ITEM:
        value = list_item(subject, test->number);
        return value != NULL && load(locals, test->slots[1], value);
    case TEST_LEN:
        return plain_length(subject) == test->number;
    case TEST_QUIET_KEY:
    case TEST_HAS_KEY:
    case TEST_NO_KEY:
    case TEST_INERT_ITEM:
    case TEST_KEYED_ITEM:
        return locals[test->slots[1]] != NULL && ask_key(test, locals, subject, locals[test->slots[1]]);
    case TEST_ALL_PLAIN:
        return all_plain(subject);
    case TEST_ALL_OF:
        return PyList_CheckExact(subject) && all_of(subject, (PyTypeObject *)name);
    case TEST_INDEX:
        return is_index(subject);
    default:
        Py_UNREACHABLE();
    }
}

static inline int
ask(Test *test, PyObject **locals)
{
    if (test->op >= FIRST_CONSTANT) {
        return ask_constant(test, locals);
    }
    PyObject *subject = locals[test->slots[0]];
    return subject != NULL && ask_local(test, locals, subject);
}

static inline int
ask_all(Test *tests, Py_ssize_t count, PyObject **locals)
{
    for (Test *test = tests, *end = tests + count; test < end; test++) {
        PyObject *subject;
        switch (test->op) {
        case TEST_TYPE:
            subject = locals[test->slots[0]];
            if (subject == NULL || (PyObject *)Py_TYPE(subject) != test->objects[0]) {
                return 0;
            }
            break;
        case TEST_IS:
            if (locals[test->slots[0]] != test->objects[0]) {
                return 0;
            }
            break;
        case TEST_IS_NOT:
            subject = locals[test->slots[0]];
            if (subject == NULL || subject == test->objects[0]) {
                return 0;
            }
            break;
        default:
            if (!ask(test, locals)) {
                return 0;
            }
        }
    }
    return 1;
}
