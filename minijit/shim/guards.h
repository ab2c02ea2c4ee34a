/* Counter, Check and Entry: objects whose truth compiled code asks. */

/* ---- Counter: what happened to one function, and whom to call when a limit is reached ---- */

typedef struct {
    PyObject_HEAD
    PyObject *callback;
    Py_ssize_t calls, misses, aborts;
    Py_ssize_t warmup, miss_limit, abort_limit; /* NO_LIMIT once reached, until set again */
} Counter;

#define NO_LIMIT ((Py_ssize_t)-1)

static PyMemberDef counter_members[] = {
    {"callback", T_OBJECT, offsetof(Counter, callback), 0, "called as callback(event, function, arguments)"},
    {"calls", T_PYSSIZET, offsetof(Counter, calls), 0, "calls of the function"},
    {"misses", T_PYSSIZET, offsetof(Counter, misses), 0, "calls that no entry wanted"},
    {"aborts", T_PYSSIZET, offsetof(Counter, aborts), 0, "calls that left compiled code half-way"},
    {"warmup", T_PYSSIZET, offsetof(Counter, warmup), 0, "calls of a stub before 'warm'"},
    {"miss_limit", T_PYSSIZET, offsetof(Counter, miss_limit), 0, "misses before 'miss'"},
    {"abort_limit", T_PYSSIZET, offsetof(Counter, abort_limit), 0, "aborts before 'abort'"},
    {NULL},
};

static PyObject *
counter_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"callback", "warmup", "miss_limit", "abort_limit", NULL};
    PyObject *callback;
    Py_ssize_t warmup = 1, miss_limit = NO_LIMIT, abort_limit = NO_LIMIT;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|nnn:Counter", names, &callback, &warmup, &miss_limit,
                                     &abort_limit)) {
        return NULL;
    }
    Counter *self = (Counter *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->callback = Py_NewRef(callback);
        self->warmup = warmup;
        self->miss_limit = miss_limit;
        self->abort_limit = abort_limit;
    }
    return (PyObject *)self;
}

static int
counter_traverse(Counter *self, visitproc visit, void *arg)
{
    Py_VISIT(self->callback);
    return 0;
}

static int
counter_clear(Counter *self)
{
    Py_CLEAR(self->callback);
    return 0;
}

static void
counter_dealloc(Counter *self)
{
    PyObject_GC_UnTrack(self);
    counter_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyTypeObject Counter_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minijit._shim.Counter",
    .tp_doc = "Counter(callback, warmup=1, miss_limit=-1, abort_limit=-1)",
    .tp_basicsize = sizeof(Counter),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = counter_new,
    .tp_traverse = (traverseproc)counter_traverse,
    .tp_clear = (inquiry)counter_clear,
    .tp_dealloc = (destructor)counter_dealloc,
    .tp_members = counter_members,
};

/* minijit.disable(): every entry answers false, and nothing is counted. */
static int enabled = 1;

static PyObject *
enable(PyObject *Py_UNUSED(module), PyObject *on)
{
    int before = enabled, now = PyObject_IsTrue(on);
    if (now < 0) {
        return NULL;
    }
    enabled = now;
    return PyBool_FromLong(before);
}

/* While the compiler runs in a thread nothing calls it back there again; nor while its failure is reported,
   which may run a hook written in Python. */
static _Thread_local int busy = 0;

/* What a callback answered: None, or an exception to raise in the user's function. An Exception it
   let escape is its own failure, reported and dropped. Anything else (a KeyboardInterrupt, a
   SystemExit) arrived while it ran and goes on to the user. Steals `answer`. */
static int
callback_answered(PyObject *callback, PyObject *answer)
{
    if (answer == NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_WriteUnraisable(callback);
        return 0;
    }
    int raises = answer != NULL && PyExceptionInstance_Check(answer);
    if (raises) {
        PyErr_SetObject((PyObject *)Py_TYPE(answer), answer);
    }
    int status = answer == NULL || raises ? -1 : 0;
    Py_XDECREF(answer);
    return status;
}

static int
call_back(Counter *self, const char *event, Frame *frame, PyCodeObject *code)
{
    PyObject *arguments = frame_arguments(frame, code);
    PyObject *callback = Py_NewRef(self->callback);
    PyObject *function = Py_NewRef(frame_function(frame));
    PyObject *answer = NULL;
    busy = 1;
    if (arguments != NULL) {
        answer = PyObject_CallFunction(callback, "sOO", event, function, arguments);
    }
    int status = callback_answered(callback, answer);
    busy = 0;
    Py_XDECREF(arguments);
    Py_DECREF(function);
    Py_DECREF(callback);
    return status;
}

/* A limit that was reached is off until it is set again, so an event comes once. */
static inline int
count(Counter *self, Py_ssize_t number, Py_ssize_t *limit, const char *event, Frame *frame, PyCodeObject *code)
{
    if (*limit == NO_LIMIT || number < *limit || busy || self->callback == NULL || self->callback == Py_None) {
        return 0;
    }
    *limit = NO_LIMIT;
    return call_back(self, event, frame, code);
}

/* ---- Guard: the part that Check and Entry share ---- */

typedef struct {
    PyObject_HEAD
    PyObject *source; /* tuple of tests, or None for a stub */
    Counter *counter;
    Test *tests;
    Py_ssize_t count;
    World world; /* the tests that memory words answer */
    int highest; /* the highest local any test names */
    char last;   /* Entry: no other one is asked after this */
} Guard;

static PyMemberDef guard_members[] = {
    {"tests", T_OBJECT, offsetof(Guard, source), READONLY, "the tests, as they were given"},
    {"counter", T_OBJECT, offsetof(Guard, counter), READONLY, "what counts its answers"},
    {NULL},
};

static PyMemberDef entry_members[] = {
    {"tests", T_OBJECT, offsetof(Guard, source), READONLY, "the tests, as they were given; None: a stub"},
    {"counter", T_OBJECT, offsetof(Guard, counter), READONLY, "what counts its answers"},
    {"last", T_BOOL, offsetof(Guard, last), 0, "whether a false answer is a miss of the function"},
    {NULL},
};

static int
guard_parse(Guard *self)
{
    Py_ssize_t size = PyTuple_GET_SIZE(self->source);
    self->tests = PyMem_New(Test, size > 0 ? size : 1);
    if (self->tests == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; self->count < size; self->count++) {
        PyObject *source = PyTuple_GET_ITEM(self->source, self->count);
        if (parse_test(source, &self->tests[self->count], &self->highest) < 0) {
            return -1;
        }
    }
    return world_split(&self->world, self->tests, &self->count);
}

static PyObject *
guard_make(PyTypeObject *type, PyObject *tests, PyObject *counter, int last)
{
    if (!Py_IS_TYPE(counter, &Counter_Type)) {
        PyErr_Format(PyExc_TypeError, "counter must be a Counter, not %.100s", Py_TYPE(counter)->tp_name);
        return NULL;
    }
    Guard *self = (Guard *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->counter = (Counter *)Py_NewRef(counter);
    self->highest = -1;
    self->last = (char)last;
    self->source = tests == Py_None ? Py_NewRef(tests) : PySequence_Tuple(tests);
    if (self->source == NULL || (self->source != Py_None && guard_parse(self) < 0)) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static PyObject *
check_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"tests", "counter", NULL};
    PyObject *tests, *counter;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:Check", names, &tests, &counter)) {
        return NULL;
    }
    if (tests == Py_None) {
        PyErr_SetString(PyExc_TypeError, "a Check needs tests");
        return NULL;
    }
    return guard_make(type, tests, counter, 0);
}

static PyObject *
entry_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"tests", "counter", "last", NULL};
    PyObject *tests, *counter;
    int last = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|p:Entry", names, &tests, &counter, &last)) {
        return NULL;
    }
    return guard_make(type, tests, counter, last);
}

static int
guard_traverse(Guard *self, visitproc visit, void *arg)
{
    Py_VISIT(self->source);
    Py_VISIT(self->counter);
    return 0;
}

/* Tests borrow from `source`: without it there are none, and the guard is never true again. */
static int
guard_clear(Guard *self)
{
    self->count = 0;
    self->highest = INT_MAX;
    world_free(&self->world);
    Py_CLEAR(self->source);
    Py_CLEAR(self->counter);
    return 0;
}

static void
guard_dealloc(Guard *self)
{
    PyObject_GC_UnTrack(self);
    guard_clear(self);
    PyMem_Free(self->tests);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Whether the tests hold for the running frame: false too where they cannot be meant for it. */
static inline int
guard_holds(Guard *self, Frame *frame, PyCodeObject *code)
{
    return self->highest < code->co_nlocalsplus && world_holds(&self->world)
        && ask_all(self->tests, self->count, frame->localsplus);
}

static int
check_bool(Guard *self)
{
    Frame *frame = running_frame(PyThreadState_Get());
    PyCodeObject *code = frame != NULL ? frame_code(frame) : NULL;
    if (code == NULL || self->counter == NULL) {
        return 0;
    }
    if (guard_holds(self, frame, code)) {
        return 1;
    }
    Counter *counter = self->counter;
    counter->aborts++;
    return count(counter, counter->aborts, &counter->abort_limit, "abort", frame, code);
}

static int
entry_miss(Guard *self, Frame *frame, PyCodeObject *code)
{
    Counter *counter = self->counter;
    if (!self->last) {
        return 0;
    }
    counter->calls++;
    if (self->source == Py_None) {
        return count(counter, counter->calls, &counter->warmup, "warm", frame, code);
    }
    counter->misses++;
    return count(counter, counter->misses, &counter->miss_limit, "miss", frame, code);
}

static int
entry_bool(Guard *self)
{
    PyThreadState *thread = PyThreadState_Get();
    Frame *frame = running_frame(thread);
    PyCodeObject *code = frame != NULL ? frame_code(frame) : NULL;
    if (code == NULL || self->counter == NULL || !enabled || observed(thread, code)) {
        return 0;
    }
    if (self->source != Py_None && guard_holds(self, frame, code)) {
        self->counter->calls++;
        return 1;
    }
    return entry_miss(self, frame, code);
}

static PyNumberMethods check_truth = {.nb_bool = (inquiry)check_bool};
static PyNumberMethods entry_truth = {.nb_bool = (inquiry)entry_bool};

static PyTypeObject Check_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minijit._shim.Check",
    .tp_doc = "Check(tests, counter): true when the running frame passes them; false counts an abort.",
    .tp_basicsize = sizeof(Guard),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = check_new,
    .tp_traverse = (traverseproc)guard_traverse,
    .tp_clear = (inquiry)guard_clear,
    .tp_dealloc = (destructor)guard_dealloc,
    .tp_members = guard_members,
    .tp_as_number = &check_truth,
};

static PyTypeObject Entry_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minijit._shim.Entry",
    .tp_doc = "Entry(tests, counter, last=True): counts a call and tells whether compiled code may run it.",
    .tp_basicsize = sizeof(Guard),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = entry_new,
    .tp_traverse = (traverseproc)guard_traverse,
    .tp_clear = (inquiry)guard_clear,
    .tp_dealloc = (destructor)guard_dealloc,
    .tp_members = entry_members,
    .tp_as_number = &entry_truth,
};

/* ---- is_redo: may an abort pad drop this exception, because the original will raise it again? ---- */

static PyObject **const redo_types[] = {
    &PyExc_TypeError, &PyExc_ValueError, &PyExc_ZeroDivisionError, &PyExc_OverflowError, &PyExc_KeyError,
    &PyExc_IndexError, &PyExc_AttributeError, &PyExc_StopIteration, &PyExc_NameError,
    &PyExc_UnboundLocalError, &PyExc_MemoryError, &PyExc_RecursionError, &PyExc_RuntimeError,
    &PyExc_UnicodeError, &PyExc_UnicodeEncodeError, &PyExc_UnicodeDecodeError,
    &PyExc_UnicodeTranslateError, &PyExc_LookupError, &PyExc_ArithmeticError, &PyExc_BufferError,
};

static int
is_redo_type(PyTypeObject *type)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(redo_types); i++) {
        if ((PyObject *)type == *redo_types[i]) {
            return 1;
        }
    }
    return 0;
}

/* An entry below the running frame's own means that other code ran. */
static int
raised_here(PyObject *exception)
{
    PyObject *traceback = ((PyBaseExceptionObject *)exception)->traceback;
    return traceback != NULL && PyTraceBack_Check(traceback)
        && ((PyTracebackObject *)traceback)->tb_next == NULL;
}

static PyObject *
is_redo(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2 || !Py_IS_TYPE(args[1], &Counter_Type)) {
        PyErr_SetString(PyExc_TypeError, "is_redo(exception, counter)");
        return NULL;
    }
    if (!is_redo_type(Py_TYPE(args[0])) || !raised_here(args[0])) {
        Py_RETURN_FALSE;
    }
    Counter *counter = (Counter *)args[1];
    counter->aborts++;
    Frame *frame = running_frame(PyThreadState_Get());
    PyCodeObject *code = frame != NULL ? frame_code(frame) : NULL;
    if (code != NULL && count(counter, counter->aborts, &counter->abort_limit, "abort", frame, code) < 0) {
        return NULL;
    }
    Py_RETURN_TRUE;
}
