/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of processes to `run`: read in the order in which they were sent, whatever the connections do. */
#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "run/channel.h"
#include "../run_suite.h"

static char order[64];

static void received(void *arg, const struct sw_received *message)
{
	(void)arg;
	strcat(order, message->text);
}

static int connect_to(const struct sw_channel *channel)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", channel->folder, SW_ANNOUNCE_SOCKET);
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

static void say(const struct sw_channel *channel, int fd, const char *text)
{
	struct sw_announce_message message = {.kind = SW_ANNOUNCE_HELLO, .text_bytes = (uint32_t)strlen(text)};
	const size_t bytes = offsetof(struct sw_announce_message, text) + strlen(text);
	memcpy(message.magic, SW_ANNOUNCE_MAGIC, sizeof message.magic);
	memcpy(message.nonce, channel->nonce, sizeof message.nonce);
	memcpy(message.text, text, strlen(text));
	ck_assert_int_eq(send(fd, &message, bytes, 0), (ssize_t)bytes);
	close(fd);
}

/* "About to exec" of an image whose connection stood open for a while, then "hello" of the next image. */
START_TEST(test_order)
{
	struct sw_channel channel = {.received = received};
	struct sw_error error;
	ck_assert_int_eq(sw_channel_open(&channel, &error), 0);
	for (int i = 0; i < 5; i++) {
		order[0] = 0;
		const int exec = connect_to(&channel);
		sw_channel_serve(&channel);
		say(&channel, exec, "e");
		for (int k = 0; k < i; k++)
			say(&channel, connect_to(&channel), "h");
		sw_channel_serve(&channel);
		ck_assert_int_eq(order[0], 'e');
		ck_assert_uint_eq(strlen(order), (size_t)i + 1);
	}
	sw_channel_close(&channel);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("channel");
	TCase *c = tcase_create("channel");
	tcase_add_test(c, test_order);
	suite_add_tcase(s, c);
	return run_suite(s);
}
