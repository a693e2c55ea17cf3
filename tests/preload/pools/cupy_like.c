/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for three modules of CuPy, each compiled with its name: -DMEMORY, -DSTREAM, -DOTHER.  As Cython does,
 * `memory` makes its objects by tp_alloc of their types without any other slot, and calls itself.  -DUNKNOWN: a version
 * whose blocks are allocated in another way.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef STREAM
static intptr_t current;

static intptr_t current_stream(void)
{
	return current;
}

static PyObject *use(PyObject *module, PyObject *stream)
{
	(void)module;
	current = (intptr_t)PyLong_AsVoidPtr(stream);
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {{"use", use, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static int begin(PyObject *module)
{
	PyObject *exports = PyDict_New(), *capsule = PyCapsule_New((void *)current_stream, "intptr_t (void)", NULL);
	return !exports || !capsule || PyDict_SetItemString(exports, "get_current_stream_ptr", capsule) ||
	       PyModule_AddObject(module, "__pyx_capi__", exports);
}
#define MODULE(name) name(stream)
#elif defined OTHER
static PyMethodDef functions[] = {{NULL, NULL, 0, NULL}};

static int begin(PyObject *module)
{
	(void)module;
	return 0;
}
#define MODULE(name) name(other)
#else
int cudaMalloc(void **memory, size_t bytes);
int cudaMemsetAsync(void *memory, int value, size_t bytes, void *stream);

#define SEGMENT (1u << 20)
#define BLOCKS	64

static char *segment;
static size_t used;
static struct {
	char *at;
	size_t bytes;
	int is_free;
} blocks[BLOCKS];
static int n;

struct block { /* as CuPy 14.2 has it: a table of functions, the address, the size, the device */
	PyObject_HEAD void *functions;
	intptr_t ptr;
	size_t size;
	int device;
	PyObject *pool;
};

static void give_back(struct block *block)
{
	for (int i = 0; i < n; i++)
		if (blocks[i].at == (char *)block->ptr)
			blocks[i].is_free = 1;
	block->ptr = 0;
}

static PyObject *block_free(PyObject *self, PyObject *unused)
{
	(void)unused;
	give_back((struct block *)self);
	Py_RETURN_NONE;
}

static void block_ends(PyObject *self)
{
	give_back((struct block *)self);
	Py_TYPE(self)->tp_free(self);
}

static PyObject *get_ptr(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromSsize_t(((struct block *)self)->ptr);
}

static PyObject *get_size(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromSize_t(((struct block *)self)->size);
}

static PyGetSetDef block_fields[] = {
	{"ptr", get_ptr, NULL, NULL, NULL}, {"size", get_size, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef block_methods[] = {{"free", block_free, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

#ifdef UNKNOWN
static PyObject *block_alloc(PyTypeObject *type, Py_ssize_t items)
{
	return PyType_GenericAlloc(type, items);
}
#else
#define block_alloc NULL
#endif

static PyTypeObject block_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cupy.cuda.memory.PooledMemory",
	.tp_basicsize = sizeof(struct block),
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_dealloc = block_ends,
	.tp_getset = block_fields,
	.tp_methods = block_methods,
	.tp_alloc = block_alloc,
};

struct pointer {
	PyObject_HEAD void *functions;
	intptr_t ptr;
	PyObject *mem;
};

static void pointer_ends(PyObject *self)
{
	Py_XDECREF(((struct pointer *)self)->mem);
	Py_TYPE(self)->tp_free(self);
}

static PyObject *pointer_ptr(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromSsize_t(((struct pointer *)self)->ptr);
}

static PyObject *pointer_mem(PyObject *self, void *unused)
{
	(void)unused;
	PyObject *mem = ((struct pointer *)self)->mem;
	Py_INCREF(mem);
	return mem;
}

static PyGetSetDef pointer_fields[] = {
	{"ptr", pointer_ptr, NULL, NULL, NULL}, {"mem", pointer_mem, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyTypeObject pointer_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cupy.cuda.memory.MemoryPointer",
	.tp_basicsize = sizeof(struct pointer),
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_dealloc = pointer_ends,
	.tp_getset = pointer_fields,
};

static PyObject *new_pointer(PyObject *mem, intptr_t ptr)
{
	struct pointer *pointer = (struct pointer *)pointer_type.tp_alloc(&pointer_type, 0);
	if (!pointer)
		return NULL;
	Py_INCREF(mem);
	pointer->mem = mem;
	pointer->ptr = ptr;
	return (PyObject *)pointer;
}

/* A free block of the size, or a new one of the segment. */
static int find_block(size_t bytes)
{
	for (int i = 0; i < n; i++)
		if (blocks[i].is_free && blocks[i].bytes == bytes)
			return i;
	if (n == BLOCKS || used + bytes > SEGMENT || (!segment && cudaMalloc((void **)&segment, SEGMENT)))
		return -1;
	blocks[n].at = segment + used;
	blocks[n].bytes = bytes;
	used += bytes;
	return n++;
}

static PyObject *alloc(PyObject *module, PyObject *number)
{
	(void)module;
	size_t bytes = (PyLong_AsSize_t(number) + 511) & ~(size_t)511;
	const int found = find_block(bytes);
	if (found < 0)
		return PyErr_NoMemory();
	blocks[found].is_free = 0;
	struct block *block = (struct block *)block_type.tp_alloc(&block_type, 0);
	if (!block)
		return NULL;
	block->functions = &block_type;
	block->ptr = (intptr_t)blocks[found].at;
	block->size = bytes;
	PyObject *pointer = new_pointer((PyObject *)block, block->ptr);
	Py_DECREF(block);
	return pointer;
}

static PyObject *part(PyObject *module, PyObject *arguments)
{
	(void)module;
	struct pointer *of;
	Py_ssize_t offset;
	if (!PyArg_ParseTuple(arguments, "On", (PyObject **)&of, &offset))
		return NULL;
	return new_pointer(of->mem, of->ptr + offset);
}

static PyObject *fill(PyObject *module, PyObject *arguments)
{
	(void)module;
	struct pointer *of;
	Py_ssize_t bytes, stream;
	if (!PyArg_ParseTuple(arguments, "Onn", (PyObject **)&of, &bytes, &stream))
		return NULL;
	return PyLong_FromLong(cudaMemsetAsync((void *)of->ptr, 1, (size_t)bytes, (void *)stream));
}

static PyMethodDef functions[] = {{"fill", fill, METH_VARARGS, NULL},
				  {"alloc", alloc, METH_O, NULL},
				  {"part", part, METH_VARARGS, NULL},
				  {NULL, NULL, 0, NULL}};

static int add(PyObject *module, const char *name, PyTypeObject *type)
{
	if (PyType_Ready(type))
		return -1;
	Py_INCREF(type);
	return PyModule_AddObject(module, name, (PyObject *)type);
}

static int begin(PyObject *module)
{
	if (add(module, "PooledMemory", &block_type) || add(module, "MemoryPointer", &pointer_type))
		return -1;
	PyObject *stream = PyImport_ImportModule("cupy.cuda.stream");
	Py_XDECREF(stream);
	return stream ? 0 : -1;
}
#define MODULE(name) name(memory)
#endif

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)begin}, {0, NULL}};
#define NAME_(of) "cupy.cuda." #of
#define NAME(of)  NAME_(of)
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = MODULE(NAME), .m_methods = functions,
				 .m_slots = slots};

#define INIT_(of) PyInit_##of
#define INIT(of)  INIT_(of)
PyMODINIT_FUNC MODULE(INIT)(void)
{
	return PyModuleDef_Init(&definition);
}
