/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/intervals.h"

#include <stdbool.h>

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

/* Cuts a tree into what starts before the node and the rest, and links the node to its neighbours. */
static void split(struct sw_interval *tree, struct sw_interval *node)
{
	struct sw_interval **before = &node->left, **after = &node->right;
	while (tree) {
		if (tree->lo < node->lo) {
			*before = node->before = tree;
			before = &tree->right;
			tree = tree->right;
		} else {
			*after = node->after = tree;
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
	node->before = node->after = NULL;
	while (*at && (*at)->priority >= node->priority) {
		bool above = node->lo < (*at)->lo;
		*(above ? &node->after : &node->before) = *at;
		at = above ? &(*at)->left : &(*at)->right;
	}
	split(*at, node);
	*at = node;
	if (node->before)
		node->before->after = node;
	if (node->after)
		node->after->before = node;
	set->n++;
}

void sw_intervals_remove(struct sw_intervals *set, struct sw_interval *node)
{
	struct sw_interval **at = &set->root, *left = node->left, *right = node->right;
	while (*at && *at != node)
		at = node->lo < (*at)->lo ? &(*at)->left : &(*at)->right;
	if (!*at)
		return;
	if (node->before)
		node->before->after = node->after;
	if (node->after)
		node->after->before = node->before;
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
