# api: what we know of each driver entry point
noinst_LIBRARIES += libswapi.a
libswapi_a_SOURCES = src/api/api.c src/api/api.h src/api/names.c src/api/names.h src/api/ids.h src/api/signature.h src/api/cuda.def
