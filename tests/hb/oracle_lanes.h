/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, edges and lanes of the oracle: what its rules (oracle.c) are written with.  Private to the two. */
#ifndef TESTS_HB_ORACLE_LANES_H
#define TESTS_HB_ORACLE_LANES_H

#include "oracle.h"

enum { DOCUMENTED, MEASURED, OBSERVED, CLOCKS }; /* sets of struct node's `before` */

void oracle_nodes_add(struct nodes *set, int node); /* node < 0: nothing */
void oracle_nodes_join(struct nodes *set, const struct nodes *other);

/* `from` ends before `to`, the newest node, begins; from < 0: nothing. */
void oracle_edge(struct oracle *o, int from, int to, enum sw_order basis);
void oracle_edges(struct oracle *o, const struct nodes *from, int to, enum sw_order basis);

/* ctx: -1 of a host thread. */
int oracle_new_lane(struct oracle *o, enum sw_lane_kind kind, int ctx);
/* The next step of a lane: after the one before. */
int oracle_new_node(struct oracle *o, int lane, bool work);

bool oracle_is_blocking(const struct oracle *o, int lane);
bool oracle_is_host(const struct oracle *o, int lane);

/* The lane of a host thread, and of the stream of a call; made when first used. */
int oracle_host_lane(struct oracle *o, int thread, enum sw_lane_kind kind);
int oracle_stream_lane(struct oracle *o, const struct op *op);

/* A node for something that the host does: observed after all that any host did before. */
int oracle_act(struct oracle *o, int thread, enum sw_lane_kind kind);

#endif
