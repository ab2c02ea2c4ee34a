/* PEP 523: seeing a function's frame before it starts, and running it with rewritten code.

   The hook is in place only while some code object is watched, or while every new one is asked
   about. A captured frame is not patched: its arguments are taken out, the function is called with
   them again, now with its new code, and the frame that never started is thrown away. */

#if PY_VERSION_HEX < 0x030c0000
#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#define PyUnstable_Code_GetExtra _PyCode_GetExtra
#define PyUnstable_Code_SetExtra _PyCode_SetExtra
#endif

/* What is noted at a code object: nothing yet, never to be captured, to be captured. */
enum { NEW = 0, IGNORED = 1, WATCHED = 2 };

static struct {
    PyObject *callback;         /* callback(function, arguments) may assign function.__code__ */
    PyObject *filter;           /* filter(code): capture this one, not seen before? NULL: no such */
    _PyFrameEvalFunction inner; /* what evaluates frames when the hook is through */
    PyCodeObject *leave;        /* RETURN_VALUE: how a frame that never started is popped on 3.12 */
    Py_ssize_t index;           /* of the note among a code object's extras */
    Py_ssize_t watched;         /* how many code objects are noted WATCHED */
} capturing = {.inner = _PyEval_EvalFrameDefault, .index = -1};

static PyObject *evaluate(PyThreadState *thread, Frame *frame, int throwing);

static void
place_hook(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Main();
    _PyFrameEvalFunction current = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    int needed = capturing.callback != NULL && (capturing.filter != NULL || capturing.watched > 0);
    if (needed && current != evaluate) {
        capturing.inner = current;
        _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
    }
    else if (!needed && current == evaluate) {
        _PyInterpreterState_SetEvalFrameFunc(interpreter, capturing.inner);
    }
}

/* ---- notes at code objects ---- */

static void
note_freed(void *note)
{
    capturing.watched -= (intptr_t)note == WATCHED;
}

static intptr_t
get_note(PyCodeObject *code)
{
    void *note = NULL;
    PyUnstable_Code_GetExtra((PyObject *)code, capturing.index, &note);
    return (intptr_t)note;
}

static int
set_note(PyCodeObject *code, intptr_t note)
{
    if (get_note(code) == note) {
        return 0;
    }
    /* Setting frees the old note, which takes it off the count. */
    if (PyUnstable_Code_SetExtra((PyObject *)code, capturing.index, (void *)note) < 0) {
        return -1;
    }
    capturing.watched += note == WATCHED;
    place_hook();
    return 0;
}

/* ---- running a captured frame ---- */

static inline int
is_fresh(Frame *frame, PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030d0000
    int unstarted = frame->instr_ptr == _PyCode_CODE(code);
#else
    int unstarted = frame->prev_instr == _PyCode_CODE(code) - 1;
#endif
    int flags = CO_OPTIMIZED | CO_NEWLOCALS;
    return unstarted && (code->co_flags & flags) == flags && frame->owner == FRAME_OWNED_BY_THREAD;
}

/* A call's arguments as vectorcall wants them. Owns what it holds. */
typedef struct {
    PyObject *items; /* list: positional values, then those of the keywords */
    PyObject *names; /* list of keyword names */
} Arguments;

static PyObject *
take(Frame *frame, Py_ssize_t slot)
{
    PyObject *value = frame->localsplus[slot];
    frame->localsplus[slot] = NULL;
    return value;
}

static int
append_taken(PyObject *list, PyObject *value)
{
    int status = PyList_Append(list, value);
    Py_DECREF(value);
    return status;
}

static int
append_keywords(Arguments *arguments, PyObject *keywords)
{
    Py_ssize_t position = 0;
    PyObject *key, *value;
    while (PyDict_Next(keywords, &position, &key, &value)) {
        if (PyList_Append(arguments->names, key) < 0 || PyList_Append(arguments->items, value) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *
parameter_name(PyCodeObject *code, Py_ssize_t slot)
{
    return PyTuple_GET_ITEM(code->co_localsplusnames, slot);
}

static int
fill_arguments(Arguments *arguments, Frame *frame, PyCodeObject *code)
{
    Py_ssize_t positional = code->co_argcount, named = positional + code->co_kwonlyargcount;
    int failed = 0;
    for (Py_ssize_t i = 0; !failed && i < positional; i++) {
        failed = append_taken(arguments->items, take(frame, i)) < 0;
    }
    if (!failed && (code->co_flags & CO_VARARGS)) {
        PyObject *rest = take(frame, named);
        Py_ssize_t end = PyList_GET_SIZE(arguments->items);
        failed = PyList_SetSlice(arguments->items, end, end, rest) < 0;
        Py_DECREF(rest);
    }
    for (Py_ssize_t i = positional; !failed && i < named; i++) {
        failed = PyList_Append(arguments->names, parameter_name(code, i)) < 0
            || append_taken(arguments->items, take(frame, i)) < 0;
    }
    if (!failed && (code->co_flags & CO_VARKEYWORDS)) {
        PyObject *keywords = take(frame, named + ((code->co_flags & CO_VARARGS) != 0));
        failed = append_keywords(arguments, keywords) < 0;
        Py_DECREF(keywords);
    }
    return failed ? -1 : 0;
}

static PyObject *
call_again(PyObject *function, Frame *frame, PyCodeObject *code)
{
    Arguments arguments = {PyList_New(0), PyList_New(0)};
    PyObject *names = NULL, *result = NULL;
    if (arguments.items != NULL && arguments.names != NULL && fill_arguments(&arguments, frame, code) == 0) {
        names = PyList_AsTuple(arguments.names);
    }
    if (names != NULL) {
        Py_ssize_t count = PyList_GET_SIZE(arguments.items) - PyTuple_GET_SIZE(names);
        PyObject **items = ((PyListObject *)arguments.items)->ob_item;
        result = PyObject_Vectorcall(function, items, (size_t)count, names);
    }
    Py_XDECREF(names);
    Py_XDECREF(arguments.items);
    Py_XDECREF(arguments.names);
    return result;
}

/* Throw away a frame that never started; `result` (NULL: the exception that is set) passes through. */
static PyObject *
discard(PyThreadState *thread, Frame *frame, PyObject *result)
{
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *exception = result == NULL ? PyErr_GetRaisedException() : NULL;
    _PyEval_FrameClearAndPop(thread, frame);
    if (exception != NULL) {
        PyErr_SetRaisedException(exception);
    }
    return result;
#elif PY_VERSION_HEX >= 0x030c0000
    /* The evaluator alone can pop it, so it is given a body that only returns. Such a frame counts
       as incomplete: an exception thrown into it leaves no traceback entry. */
    PyCodeObject *code = frame->f_code;
    for (int i = 0; i < code->co_nlocalsplus; i++) {
        Py_CLEAR(frame->localsplus[i]);
    }
    frame->f_code = (PyCodeObject *)Py_NewRef(capturing.leave);
    frame->prev_instr = _PyCode_CODE(capturing.leave) - 1;
    frame->stacktop = 0;
    Py_DECREF(code); /* may run a callback, whose frame comes right behind this one */
    if (result != NULL) {
        /* A code object may need no stack at all. The thread's stack of frames has a word to spare behind any frame,
           and nothing else is put there before this is returned. */
        frame->localsplus[frame->stacktop++] = result;
    }
    thread->tracing++; /* a tracer that was set meanwhile must not see it */
    result = _PyEval_EvalFrameDefault(thread, frame, result == NULL);
    thread->tracing--;
    return result;
#else
    (void)thread, (void)frame;
    return result; /* the caller clears and pops it */
#endif
}

#define MAX_DEPTH 200

/* Each frame evaluated by a hook takes C stack, which plain Python calls don't: in deep recursion
   the hook steps aside, so recursion ends where it does without one. */
static PyObject *
evaluate_inner(PyThreadState *thread, Frame *frame, int throwing)
{
    static _Thread_local int depth = 0;
    int aside = ++depth >= MAX_DEPTH;
    if (aside) {
        _PyInterpreterState_SetEvalFrameFunc(thread->interp, capturing.inner);
    }
    PyObject *result = capturing.inner(thread, frame, throwing);
    depth--;
    if (aside) {
        place_hook();
    }
    return result;
}

/* -1: an exception for the user is set. */
static int
ask_callback(PyObject *function, Frame *frame, PyCodeObject *code)
{
    PyObject *arguments = frame_arguments(frame, code);
    PyObject *callback = Py_NewRef(capturing.callback);
    busy = 1;
    PyObject *answer = arguments != NULL ? PyObject_CallFunctionObjArgs(callback, function, arguments, NULL) : NULL;
    int status = callback_answered(callback, answer);
    busy = 0;
    Py_DECREF(callback);
    Py_XDECREF(arguments);
    return status;
}

static PyObject *
run_captured(PyThreadState *thread, Frame *frame, PyCodeObject *code)
{
    PyObject *function = Py_NewRef(frame_function(frame)), *result;
    int status = ask_callback(function, frame, code);
    if (status < 0) {
        result = discard(thread, frame, NULL);
    }
    else if (((PyFunctionObject *)function)->func_code == (PyObject *)code) {
        result = evaluate_inner(thread, frame, 0);
    }
    else if (set_note((PyCodeObject *)((PyFunctionObject *)function)->func_code, IGNORED) < 0) {
        result = discard(thread, frame, NULL);
    }
    else {
        result = discard(thread, frame, call_again(function, frame, code));
    }
    Py_DECREF(function);
    return result;
}

static int
is_wanted(PyCodeObject *code)
{
    intptr_t note = get_note(code);
    if (note == NEW && capturing.filter != NULL) {
        PyObject *filter = Py_NewRef(capturing.filter);
        busy = 1;
        PyObject *answer = PyObject_CallOneArg(filter, (PyObject *)code);
        note = answer != NULL && PyObject_IsTrue(answer) == 1 ? WATCHED : IGNORED;
        Py_XDECREF(answer);
        if (PyErr_Occurred() || set_note(code, note) < 0) {
            PyErr_WriteUnraisable(filter);
        }
        busy = 0;
        Py_DECREF(filter);
    }
    return note == WATCHED;
}

static PyObject *
evaluate(PyThreadState *thread, Frame *frame, int throwing)
{
    PyCodeObject *code = frame_code(frame);
    if (!throwing && !busy && code != NULL && capturing.callback != NULL && is_fresh(frame, code)
        && !observed(thread, code)) {
        PyFunctionObject *function = (PyFunctionObject *)frame_function(frame);
        if (PyFunction_Check(function) && function->func_code == (PyObject *)code && is_wanted(code)) {
            return run_captured(thread, frame, code);
        }
    }
    return evaluate_inner(thread, frame, throwing);
}

/* ---- what Python calls ---- */

static PyObject *
capture(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *callback, *filter = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:capture", &callback, &filter)) {
        return NULL;
    }
    Py_XSETREF(capturing.callback, Py_NewRef(callback));
    Py_XSETREF(capturing.filter, filter != Py_None ? Py_NewRef(filter) : NULL);
    place_hook();
    Py_RETURN_NONE;
}

static PyObject *
release(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    Py_CLEAR(capturing.callback);
    Py_CLEAR(capturing.filter);
    place_hook();
    Py_RETURN_NONE;
}

static PyObject *
note_code(PyObject *code, intptr_t note)
{
    if (!PyCode_Check(code)) {
        PyErr_Format(PyExc_TypeError, "only code objects are watched, not %.100s", Py_TYPE(code)->tp_name);
        return NULL;
    }
    return set_note((PyCodeObject *)code, note) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *
watch(PyObject *Py_UNUSED(module), PyObject *code)
{
    return note_code(code, WATCHED);
}

static PyObject *
unwatch(PyObject *Py_UNUSED(module), PyObject *code)
{
    return note_code(code, IGNORED);
}

static int
prepare_capture(void)
{
    if (capturing.index < 0) {
        capturing.index = PyUnstable_Eval_RequestCodeExtraIndex(note_freed);
    }
    if (capturing.leave == NULL) {
        capturing.leave = PyCode_NewEmpty("<minijit>", "leave", 1);
    }
    if (capturing.leave == NULL || capturing.index < 0) {
        return -1;
    }
#if PY_VERSION_HEX >= 0x030c0000
    _Py_CODEUNIT *body = _PyCode_CODE(capturing.leave);
    body->op.code = RETURN_VALUE;
    body->op.arg = 0;
    /* Nothing of it is traceable: it is never instrumented. */
    capturing.leave->_co_firsttraceable = (int)Py_SIZE(capturing.leave);
#endif
    return 0;
}
