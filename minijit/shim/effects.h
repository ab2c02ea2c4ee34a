/* Effect: a builtin that a ledger entry replays, called by an instruction at which nothing else may run.

   `effect[arguments]` is a subscript: unlike a call it neither polls for signals nor lets other threads in. */

typedef struct {
    PyObject_HEAD
    PyObject *function;
} Effect;

static PyObject *
effect_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function", NULL};
    PyObject *function;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Effect", names, &function)) {
        return NULL;
    }
    if (!PyCFunction_Check(function) && !Py_IS_TYPE(function, &PyMethodDescr_Type)
        && !Py_IS_TYPE(function, &PyWrapperDescr_Type)) {
        PyErr_Format(PyExc_TypeError, "an effect is a builtin, not %.100s", Py_TYPE(function)->tp_name);
        return NULL;
    }
    Effect *self = (Effect *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->function = Py_NewRef(function);
    }
    return (PyObject *)self;
}

static void
effect_dealloc(Effect *self)
{
    Py_DECREF(self->function);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
effect_call(Effect *self, PyObject *arguments)
{
    if (!PyTuple_CheckExact(arguments)) {
        PyErr_SetString(PyExc_TypeError, "an effect takes a tuple of arguments");
        return NULL;
    }
    return PyObject_Vectorcall(self->function, ((PyTupleObject *)arguments)->ob_item,
                               (size_t)PyTuple_GET_SIZE(arguments), NULL);
}

static PyObject *
effect_repr(Effect *self)
{
    return PyUnicode_FromFormat("<effect %R>", self->function);
}

static PyMappingMethods effect_mapping = {.mp_subscript = (binaryfunc)effect_call};

static PyMemberDef effect_members[] = {
    {"function", T_OBJECT, offsetof(Effect, function), READONLY, "the builtin that is called"},
    {NULL},
};

static PyTypeObject Effect_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minijit._shim.Effect",
    .tp_doc = "Effect(builtin): effect[arguments] calls it, letting nothing else run before or after.",
    .tp_basicsize = sizeof(Effect),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = effect_new,
    .tp_dealloc = (destructor)effect_dealloc,
    .tp_repr = (reprfunc)effect_repr,
    .tp_as_mapping = &effect_mapping,
    .tp_members = effect_members,
};
