/* SPDX-License-Identifier: Apache-2.0 */
/* A function that is in two objects: the same code, but for the size of its frame (ROOM). */

void reloaded(void (*function)(void));

#if defined __x86_64__ && !defined __clang__
__attribute__((optimize("omit-frame-pointer"))) /* so that the tables give the size of the frame */
#endif
void reloaded(void (*function)(void))
{
	volatile char room[ROOM];
	room[0] = 0;
	function();
	room[1] = 0; /* no tail call */
}
