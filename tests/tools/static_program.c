/* SPDX-License-Identifier: Apache-2.0 */
/* A program without a loader: nothing can be preloaded into it. */
int main(void)
{
	return 0;
}
