/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the containers.  NVIDIA documents none of them: established by experiment with CUDA 11.8 to 13.0. */
#ifndef SW_IMAGE_FORMATS_H
#define SW_IMAGE_FORMATS_H

#define SW_WRAPPER_MAGIC       0x466243b1u /* .nvFatBinSegment: magic, version, pointer to the fatbin, pointer or NULL */
#define SW_WRAPPER_BYTES       24
#define SW_FATBIN_MAGIC	       0xba55ed50u
#define SW_FATBIN_HEADER_BYTES 16
#define SW_FATBIN_ENTRY_BYTES  64 /* at least; each entry has its own */

/* Where an entry's header has its kind, the bytes of the header itself, of the payload as it lies there and of its
   compressed form (0: it is not), the architecture, the offset of a name and its bytes, flags, and the bytes of what
   was compressed. */
enum {
	SW_ENTRY_KIND = 0,
	SW_ENTRY_HEADER = 4,
	SW_ENTRY_PAYLOAD = 8,
	SW_ENTRY_COMPRESSED = 16,
	SW_ENTRY_ARCH = 28,
	SW_ENTRY_NAME = 32,
	SW_ENTRY_NAME_BYTES = 36,
	SW_ENTRY_FLAGS = 40,
	SW_ENTRY_PLAIN = 56
};

/* Kinds of entries. */
#define SW_FATBIN_PTX	 1
#define SW_FATBIN_ELF	 2
#define SW_FATBIN_LTOIR	 8
#define SW_FATBIN_TILEIR 128 /* bytecode of nvcc -enable-tile, seen with 13.5 */

/* Flags of entries. */
#define SW_FATBIN_LZ4  0x2000u
#define SW_FATBIN_ZSTD 0x8000u

#define SW_ELF_MACHINE_CUDA 190
/* .nv.host: code that the driver runs at loads and launches; seen in what tileiras 13.1 to 13.5 makes, and nowhere else
 */
#define SW_ELF_EMBEDDED_HOST 0x70000087u
#define SW_CUDA_ENTRY	     0x10 /* st_other of a kernel's symbol */
/* From this ABI version on (CUDA 13) the architecture is in bits 8-15 of e_flags, before that in bits 0-7. */
#define SW_CUDA_ABI_ARCH_SHIFTED 8

/* Attributes of .nv.info.<kernel>: {u8 form, u8 attribute}, then 2 bytes, or with the sized form u16 size and data. */
#define SW_NVINFO_SIZED	      4
#define SW_NVINFO_PARAM	      0x17 /* u32 index, u16 ordinal, u16 offset, u32 with the size in bits 18-31 */
#define SW_NVINFO_PARAM_LARGE 0x45 /* u32 index, u16 ordinal, u16 offset, u16 size, u16 of flags */
#define SW_NVINFO_PARAM_BYTES 0x19 /* u16: the whole block */
#define SW_NVINFO_LANGUAGE    0x66 /* u32; SW_LANGUAGE_TILEIR: a tile kernel (nvdisasm 13.5: "Language: TILEIR") */
#define SW_LANGUAGE_TILEIR    7

#define SW_LTOIR_MAGIC	0x7f4e43edu  /* what nvcc -dlto -ltoir writes */
#define SW_TILEIR_MAGIC "\x7fTileIR" /* CUDA Tile IR, "Binary Format": with its NUL; what nvcc -tilebc writes */

#endif
