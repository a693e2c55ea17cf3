/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/every_kind.h"

#include "reader/pack_builder.h"

void tb_every_kind(const char *path, bool ended)
{
	struct tb *tb = tb_new(path, NULL);
	tb_module(tb, 0x400000, 0x500000, "/usr/bin/a \"quoted\" name");
	tb_cudart(tb, 0x400000, SW_CUDART_STATIC, "/usr/bin/app");
	uint32_t image = tb_image(tb, SW_IMAGE_PTX, NULL, ".version 8.0", 12);
	tb_pack_left_out(tb, tb_image(tb, SW_IMAGE_PTX, NULL, NULL, 12), 0, 12);
	uint32_t f = tb_function(tb, "_Z4stepPf", 2, 8, 4);
	tb_name(tb, SW_NAME_STREAM, 0xa, 0, "copy\n");
	tb_notice(tb, "libunwind was not found.");
	tb_environment(tb, "boot", "node7", 2, "RANK=1", "WORLD_SIZE=2");
	tb_clock(tb, 5000100000);
	tb_stack(tb, 2, 0x401000ull, 0x402000ull);
	tb_python_code(tb, 1, "/src/train \"x\".py", "Trainer.step");
	tb_python_stack(tb, &(struct sw_python_frame){1, SW_PYTHON_ENTRY | 7}, 1);
	tb_code(tb, SW_REC_CODE_LOAD, 0x7001, image);
	tb_code(tb, SW_REC_CODE_TOUCH, 0x7002, 0);
	tb_stream_create(tb, 0xa, 1);
	tb_event_create(tb, 0xe);
	tb_alloc(tb, SW_MEM_DEVICE, 0x7f0000000000, 4096);
	tb_launch(tb, f, 0xa, 2, 0x7f0000000000ull, 5ull);
	tb_launch(tb, f, 0xa, 2, 0x7f0000000000ull, 5ull)->grid[1] = 7;
	tb_event_record(tb, 0xe, 0xa);
	tb_stream_wait(tb, 0, 0xe);
	tb_copy(tb, 0x1000, SW_SIDE_HOST, 0x7f0000000000, SW_SIDE_DEVICE, 64, 0);
	tb_copy_2d(tb, 0x7f0000000000, SW_SIDE_DEVICE, 128, 0x2000, SW_SIDE_HOST, 64, 64, 4, 0);
	tb_set(tb, 0x7f0000000000, 100, 0);
	tb_query(tb, SW_SYNC_EVENT, 0xe, 600);
	tb_polls(tb, SW_SYNC_EVENT, 0xe, 3);
	tb_sync(tb, SW_SYNC_STREAM, 0xa);
	uint64_t host = sw_rec_seq(&tb_host_func(tb, 0xa, 0x401234)->h);
	tb_thread(tb, 2);
	tb_host_func_run(tb, 0xa, 0x401234, host);
	tb_thread(tb, 1);
	tb_context_op(tb, SW_CONTEXT_CURRENT, 0x5001);
	tb_capture(tb, SW_CAPTURE_BEGIN, 0xa, 0);
	tb_graph(tb, SW_GRAPH_INSTANTIATE, 0x61, 0x62);
	tb_node_head(tb, 0x62, 1);
	tb_node(tb, 0x62, 0x63, NULL, 0, SW_REC_SET,
		&(struct sw_rec_set){.dst = 0x7f0000000000, .width = 8, .height = 1}, sizeof(struct sw_rec_set));
	tb_graph_launch(tb, 0x62, 0xa);
	tb_mem_op(tb, SW_MEMOP_PREFETCH, 0x7f0000000000, 4096, 0xa);
	tb_host_access(tb, 0x7e0000000010, 1, SW_HOST_WRITES);
	tb_host_sync(tb, SW_THREAD_ACQUIRE, SW_THROUGH_MUTEX, 0x7e0000000100);
	tb_range(tb, SW_RANGE_PUSH, 0xd0, 0, "step", "train");
	tb_annotation(tb, SW_NOTE_READS, 0x7f0000000000, 64, 0xa);
	tb_library(tb, SW_LIBRARY_BEGIN, "cufftExecC2C", 1, 2, (uint64_t)1, (uint64_t)0xd0000);
	tb_library(tb, SW_LIBRARY_RETURN, "", 0, 0);
	tb_end(tb, SW_REC_COLLECTIVE, sw_rec_seq(&tb_collective(tb, SW_COLLECTIVE_ALL_REDUCE, 1, 64, 0xa)->h));
	tb_config(tb, 1, 65536);
	tb_other(tb, SW_REC_OTHER, "cuMemPoolCreate");
	tb_other(tb, SW_REC_UNCLASSIFIED, "cuFutureCall")->args[5] = 0x66;
	tb_object(tb, SW_OBJECT_TEXTURE, 0x7, 0x7f0000000000, 4096)->before = 6;
	tb_gpu_clock(tb, 77, 0);
	tb_activity(tb, SW_ACTIVITY_KERNEL, 3, 78, 79);
	tb_loss(tb, 3, 4, 0);
	tb_dropped(tb, 1, 1, 2);
	tb->status = 719;
	tb_event_destroy(tb, 0xe);
	tb->status = 0;
	tb_stream_destroy(tb, 0xa);
	tb_free(tb, SW_MEM_DEVICE, 0x7f0000000000);
	tb_code(tb, SW_REC_CODE_UNLOAD, 0x7001, image);
	tb_module_gone(tb, 0x400000);
	tb_sync_begin(tb, SW_SYNC_CONTEXT, 0);
	tb_pack(tb, "1.0");
	tb_pack_code(tb, image, ".version 8.1", 12, SW_PACKED_WHOLE, "");
	tb_pack_data(tb, image, 0, ".version 8.1", 12);
	tb_pack_module(tb, 1, SW_PACKED_WHOLE, "/usr/bin/app");
	tb_pack_frame(tb, 1, 0x1000, "main", "app.c", 7);
	tb_pack_table(tb, "Test GPU", "/home/user/table.tsv", "syncwatch-behaviour\t1\n");
	tb_thread(tb, 1);
	tb_close(tb, ended);
}
