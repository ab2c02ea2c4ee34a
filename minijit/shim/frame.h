/* The running frame, as each version lays it out. The only place, with objects.h, that asks. */

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "minijit supports CPython 3.11, 3.12 and 3.13"
#endif
#ifdef Py_GIL_DISABLED
#error "minijit does not support free-threaded builds of CPython"
#endif

typedef struct _PyInterpreterFrame Frame;

static inline Frame *
running_frame(PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030d0000
    return thread->current_frame;
#else
    return thread->cframe->current_frame;
#endif
}

/* NULL for the marker frames that stand for C code. */
static inline PyCodeObject *
frame_code(const Frame *frame)
{
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *code = frame->f_executable;
#else
    PyObject *code = (PyObject *)frame->f_code;
#endif
    return code != NULL && PyCode_Check(code) ? (PyCodeObject *)code : NULL;
}

static inline PyObject *
frame_function(const Frame *frame)
{
#if PY_VERSION_HEX >= 0x030c0000
    return frame->f_funcobj;
#else
    return (PyObject *)frame->f_func;
#endif
}

#if PY_VERSION_HEX >= 0x030c0000

/* settrace and setprofile are tools 6 and 7 of every thread; whether they are meant for this
   thread is told by its callbacks. */
#define SYS_TOOLS ((1ull << PY_MONITORING_SYS_PROFILE_ID) | (1ull << PY_MONITORING_SYS_TRACE_ID))

/* One byte of tools per event, eight events at a time: this is asked at each guarded call. */
static inline int
any_tool(const uint8_t *tools, size_t count)
{
    uint64_t low, high;
    memcpy(&low, tools, sizeof(low));
    memcpy(&high, tools + count - sizeof(high), sizeof(high));
    return ((low | high) & ~(SYS_TOOLS * 0x0101010101010101u)) != 0;
}

static_assert(sizeof(_Py_GlobalMonitors) >= 8 && sizeof(_Py_GlobalMonitors) <= 16, "two words of tools");
static_assert(sizeof(_Py_LocalMonitors) >= 8 && sizeof(_Py_LocalMonitors) <= 16, "two words of tools");

/* Whether a tool was ever interested in this code object: then it may be again. */
static inline int
may_be_observed(PyCodeObject *code)
{
    return code->_co_monitoring != NULL;
}

static inline int
observed_here(PyCodeObject *code)
{
    const _PyCoMonitoringData *here = code->_co_monitoring;
    return here != NULL && any_tool(here->local_monitors.tools, sizeof(here->local_monitors.tools));
}

static inline int
observed(PyThreadState *thread, PyCodeObject *code)
{
    if (thread->c_tracefunc != NULL || thread->c_profilefunc != NULL) {
        return 1;
    }
    const _Py_GlobalMonitors *everywhere = &thread->interp->monitors;
    if (any_tool(everywhere->tools, sizeof(everywhere->tools))) {
        return 1;
    }
    return observed_here(code);
}

#else

/* There are no tools that watch a single code object. */
static inline int
may_be_observed(PyCodeObject *Py_UNUSED(code))
{
    return 0;
}

static inline int
observed_here(PyCodeObject *Py_UNUSED(code))
{
    return 0;
}

static inline int
observed(PyThreadState *thread, PyCodeObject *Py_UNUSED(code))
{
    return thread->cframe->use_tracing != 0;
}

#endif

static inline int
is_parameter_cell(PyCodeObject *code, Py_ssize_t slot, PyObject *value)
{
    return (_PyLocals_GetKind(code->co_localspluskinds, (int)slot) & CO_FAST_CELL) != 0
        && PyCell_Check(value);
}

static inline Py_ssize_t
parameter_count(PyCodeObject *code)
{
    return code->co_argcount + code->co_kwonlyargcount
        + ((code->co_flags & CO_VARARGS) != 0) + ((code->co_flags & CO_VARKEYWORDS) != 0);
}

/* The values of the parameters, cells unwrapped; None where one was deleted. */
static PyObject *
frame_arguments(Frame *frame, PyCodeObject *code)
{
    Py_ssize_t count = parameter_count(code);
    PyObject *arguments = PyTuple_New(count);
    for (Py_ssize_t i = 0; arguments != NULL && i < count; i++) {
        PyObject *value = frame->localsplus[i];
        if (value != NULL && is_parameter_cell(code, i, value)) {
            value = ((PyCellObject *)value)->ob_ref;
        }
        PyTuple_SET_ITEM(arguments, i, Py_NewRef(value != NULL ? value : Py_None));
    }
    return arguments;
}
