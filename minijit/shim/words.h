/* Most of what a guard assumes about the world is that a word of memory still holds what it held:
   a class's version, a dict's version, a function's code, a cell's content. Comparing the words answers for all
   of them at once; only when one has moved are the tests themselves asked again. */

typedef struct {
    const uint64_t *place;
    uint64_t expected;
} Word;

typedef struct {
    const unsigned int *place;
    unsigned int expected;
} Half;

typedef struct {
    Word *words;
    Half *halves;
    Py_ssize_t word_count, half_count;
    Py_ssize_t fixed_count; /* words that were there from the start; after them, those about stand-ins */
    PyObject **codes;       /* for each test, a weak reference to the code that stands for the expected one */
    int asked; /* the tests have held once, and the words are what they were then */
    Test *tests; /* what the words stand for; the rest of a guard's tests are asked each time */
    Py_ssize_t count;
} World;

#define WORDS_PER_TEST 5

/* A split table's values can be stored to without its version moving. */
static inline int
is_combined(PyObject *dict)
{
    return ((PyDictObject *)dict)->ma_values == NULL;
}

static int
is_about_words(const Test *test)
{
    switch (test->op) {
    case TEST_VERSION:
    case TEST_FUNCTION:
    case TEST_CELL_IS:
        return 1;
    case TEST_GLOBAL_IS:
    case TEST_GLOBAL_ABSENT:
    case TEST_ITEM_IS:
    case TEST_DICT_ITEMS:
        return is_combined(test->objects[0]);
    default:
        return 0;
    }
}

static void
add_word(World *world, const void *place)
{
    for (Py_ssize_t i = 0; i < world->word_count; i++) {
        if (world->words[i].place == place) {
            return;
        }
    }
    world->words[world->word_count++] = (Word){place, 0};
}

static void
add_half(World *world, const unsigned int *place)
{
    for (Py_ssize_t i = 0; i < world->half_count; i++) {
        if (world->halves[i].place == place) {
            return;
        }
    }
    world->halves[world->half_count++] = (Half){place, 0};
}

static void
add_monitoring(World *world, PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    add_word(world, &code->_co_monitoring);
#endif
}

static void
add_places(World *world, const Test *test)
{
    PyObject *subject = test->objects[0];
    PyFunctionObject *function = (PyFunctionObject *)subject;
    switch (test->op) {
    case TEST_VERSION:
        add_half(world, &((PyTypeObject *)subject)->tp_version_tag);
        break;
    case TEST_FUNCTION:
        add_word(world, &function->func_code);
        add_word(world, &function->func_defaults);
        add_word(world, &function->func_kwdefaults);
        add_monitoring(world, (PyCodeObject *)test->objects[1]);
        break;
    case TEST_CELL_IS:
        add_word(world, &((PyCellObject *)subject)->ob_ref);
        break;
    default:
        add_word(world, &((PyDictObject *)subject)->ma_version_tag);
    }
}

/* Move the tests that words can stand for to the world; the others keep their order. */
static int
world_split(World *world, Test *tests, Py_ssize_t *count)
{
    Py_ssize_t size = *count > 0 ? *count : 1, kept = 0;
    world->tests = PyMem_New(Test, size);
    world->words = PyMem_New(Word, size * WORDS_PER_TEST);
    world->halves = PyMem_New(Half, size);
    world->codes = PyMem_Calloc((size_t)size, sizeof(PyObject *));
    if (world->tests == NULL || world->words == NULL || world->halves == NULL || world->codes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < *count; i++) {
        if (is_about_words(&tests[i])) {
            add_places(world, &tests[i]);
            world->tests[world->count++] = tests[i];
        } else {
            tests[kept++] = tests[i];
        }
    }
    *count = kept;
    world->fixed_count = world->word_count;
    return 0;
}

static void
world_free(World *world)
{
    for (Py_ssize_t i = 0; i < world->count; i++) {
        Py_XDECREF(world->codes[i]);
    }
    PyMem_Free(world->codes);
    PyMem_Free(world->tests);
    PyMem_Free(world->words);
    PyMem_Free(world->halves);
    memset(world, 0, sizeof(*world));
}

/* Code that stands for the expected one is kept alive by nobody here: when it dies, other code may come to its
   address. A weak reference's own word tells. */
static int
add_stand_in(World *world, Py_ssize_t i)
{
    PyFunctionObject *function = (PyFunctionObject *)world->tests[i].objects[0];
    if (function->func_code == world->tests[i].objects[1]) {
        return 0;
    }
    PyObject *code = PyWeakref_NewRef(function->func_code, NULL);
    if (code == NULL) {
        return -1;
    }
    Py_XSETREF(world->codes[i], code);
    world->words[world->word_count++] = (Word){(const uint64_t *)&((PyWeakReference *)code)->wr_object, 0};
    return 0;
}

/* A word may have moved for a reason that no test minds: then what it holds now is expected from here on. */
static int
world_asked_again(World *world)
{
    int forgotten = 0;
    world->asked = 0;
    world->word_count = world->fixed_count;
    for (Py_ssize_t i = 0; i < world->count; i++) {
        Test *test = &world->tests[i];
        if (!ask_constant(test, NULL)) {
            return 0;
        }
        if (test->op == TEST_FUNCTION && add_stand_in(world, i) < 0) {
            PyErr_Clear();
            forgotten = 1;
        }
        forgotten |= test->op == TEST_FUNCTION && function_may_be_observed(test);
        if (test->op != TEST_VERSION && test->op != TEST_FUNCTION && test->op != TEST_CELL_IS
            && !is_combined(test->objects[0])) {
            forgotten = 1;
        }
    }
    if (forgotten) {
        return 1; /* nothing is remembered: it is asked again each time */
    }
    for (Py_ssize_t i = 0; i < world->word_count; i++) {
        world->words[i].expected = *world->words[i].place;
    }
    for (Py_ssize_t i = 0; i < world->half_count; i++) {
        world->halves[i].expected = *world->halves[i].place;
    }
    world->asked = 1;
    return 1;
}

static inline int
world_holds(World *world)
{
    if (!world->asked) {
        return world_asked_again(world);
    }
    for (Py_ssize_t i = 0; i < world->word_count; i++) {
        if (*world->words[i].place != world->words[i].expected) {
            return world_asked_again(world);
        }
    }
    for (Py_ssize_t i = 0; i < world->half_count; i++) {
        if (*world->halves[i].place != world->halves[i].expected) {
            return world_asked_again(world);
        }
    }
    return 1;
}
