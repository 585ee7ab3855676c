/* SPDX-License-Identifier: MIT */
/*
 * lock_order.h - the one order in which this library's mutexes are taken: rising. No lock is held over a wait for a
 * task, a user callback, dlopen, or a request that the device may take long to answer.
 */
#ifndef VINCI_RTS_LOCK_ORDER_H
#define VINCI_RTS_LOCK_ORDER_H

enum lock_rank {
	RANK_ACL_INIT = 10, /* acl/init.c: reference count and callbacks of aclInit */
	RANK_PROCESS = 20,  /* rts/process.c: opening and dropping the device connection */
	RANK_DEVICE = 30,   /* rts/device.c: reference counts, primary contexts */
	RANK_CONTEXT = 40,  /* a context's list of streams */
	RANK_IPC = 50,	    /* rts/ipc.c: keys and imports */
	RANK_VMM = 60,	    /* rts/vmm*.c: reservations, mappings, physical handles */
	RANK_PEER = 70,	    /* rts/peer.c */
	RANK_BUF = 78,	    /* rts/mbuf.c */
	RANK_POOL = 79,	    /* rts/pool*.c */
	RANK_MEMORY = 80,   /* rts/memory.c, host.c, small.c */
	RANK_MODULE = 86,    /* rts/module.c: a binary; rts/args.c: a list */
	RANK_EXCEPTION = 87, /* rts/exception.c */
	RANK_MODELS = 88, /* what is recorded, and into what */
	RANK_MODEL_RUN = 89, /* a model's runs */
	RANK_NOTIFY = 90,   /* pages of shared notifies, export and import */
	RANK_NOTIFY_IDS = 91,
	RANK_NOTIFY_LIST = 92, /* the streams that wait for a notify */
	RANK_NOTIFY_POLL = 94,
	RANK_EVENT_PAGE = 95, /* rts/event_page.c: pages that processes share */
	RANK_EVENT = 96, /* rts/event.c: ids */
	RANK_REPORT = 97, /* rts/report_thread.c */
	RANK_CNT_NOTIFY = 99, /* rts/cnt_notify.c: ids */
	RANK_VALUE = 98,  /* rts/value.c: streams that wait */
	RANK_STREAM = 100, /* a stream's queue */
	RANK_EXEC = 110,   /* workers, deferred calls */
	RANK_VA = 120,	   /* rts/va.c */
	RANK_HANDLE = 130, /* rts/handle.c: free slots */
			   /* U_RANK_LAST: leaf locks of src/util */
};

#endif
