/* SPDX-License-Identifier: Apache-2.0 */
int early_library(void);

int main(void)
{
	return early_library();
}
