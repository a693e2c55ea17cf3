/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/intervals.h"

#include "base/hash.h"

struct sw_interval *sw_intervals_from(const struct sw_intervals *set, uint64_t x)
{
	struct sw_interval *best = NULL;
	for (struct sw_interval *at = set->root; at;) {
		if (at->hi > x) {
			best = at;
			at = at->left;
		} else {
			at = at->right;
		}
	}
	return best;
}

/* Cuts a tree into what starts before lo and the rest. */
static void split(struct sw_interval *tree, uint64_t lo, struct sw_interval **before, struct sw_interval **after)
{
	while (tree) {
		if (tree->lo < lo) {
			*before = tree;
			before = &tree->right;
			tree = tree->right;
		} else {
			*after = tree;
			after = &tree->left;
			tree = tree->left;
		}
	}
	*before = *after = NULL;
}

void sw_intervals_insert(struct sw_intervals *set, struct sw_interval *node)
{
	struct sw_interval **at = &set->root;
	node->priority = sw_hash_u64(++set->made);
	while (*at && (*at)->priority >= node->priority)
		at = node->lo < (*at)->lo ? &(*at)->left : &(*at)->right;
	split(*at, node->lo, &node->left, &node->right);
	*at = node;
	set->n++;
}

void sw_intervals_remove(struct sw_intervals *set, struct sw_interval *node)
{
	struct sw_interval **at = &set->root, *left = node->left, *right = node->right;
	while (*at && *at != node)
		at = node->lo < (*at)->lo ? &(*at)->left : &(*at)->right;
	if (!*at)
		return;
	while (left && right) {
		if (left->priority >= right->priority) {
			*at = left;
			at = &left->right;
			left = left->right;
		} else {
			*at = right;
			at = &right->left;
			right = right->left;
		}
	}
	*at = left ? left : right;
	set->n--;
}
