/* SPDX-License-Identifier: Apache-2.0 */
/* A function that is in two objects: the same code, but for the size of its frame (ROOM). */
#include <string.h>

void reloaded(void (*function)(void));

void reloaded(void (*function)(void))
{
	volatile char room[ROOM];
	room[0] = 0;
	function();
	room[1] = 0; /* no tail call */
}
