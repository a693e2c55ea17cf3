/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled without unwind information, as hand-written code is: a walk through it has to guess, and asks what can be
 * read. */
void without_cfi(void (*function)(void));

void without_cfi(void (*function)(void))
{
	volatile char room[200];
	room[0] = 0;
	function();
	room[1] = room[0];
}
