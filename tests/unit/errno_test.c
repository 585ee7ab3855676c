/* SPDX-License-Identifier: MIT */
/* errno_test.c - the device's answer and the code an application sees: every cell that CANN's own tables fix. */
#include "rts/rts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static const struct {
	uint32_t kind;
	enum rts_op op;
	int err, code;
} rows[] = {
	/* in general */
	{ 0, RTS_OP_QUERY, 0, 0 },
	{ 0, RTS_OP_QUERY, EPERM, 207006 },
	{ 0, RTS_OP_QUERY, EINVAL, 507899 },
	{ 0, RTS_OP_QUERY, EACCES, 507899 },
	{ 0, RTS_OP_QUERY, EFAULT, 107017 },
	{ 0, RTS_OP_QUERY, ENODEV, 207004 },
	{ 0, RTS_OP_QUERY, EBUSY, 507899 },
	{ 0, RTS_OP_QUERY, ETIMEDOUT, 507012 },
	{ 0, RTS_OP_QUERY, EOPNOTSUPP, 207000 },
	{ 0, RTS_OP_QUERY, E2BIG, 207012 },
	{ 0, RTS_OP_QUERY, EOWNERDEAD, 507899 },
	{ 0, RTS_OP_BO_CREATE, ENOMEM, 207001 },
	{ 0, RTS_OP_BO_CREATE, ENOSPC, 207005 },
	{ 0, RTS_OP_BO_CREATE, EFBIG, 207001 },
	{ 0, RTS_OP_BO_CREATE, EMFILE, 207001 },
	{ 0, RTS_OP_BO_SPLIT, EBUSY, 507899 },
	{ 0, RTS_OP_MAP, ENOMEM, 207001 },
	{ 0, RTS_OP_NOTIFY_CREATE, ENOSPC, 207009 },
	{ 0, RTS_OP_PEER, ENOMEM, 207001 },
	{ 0, RTS_OP_PEER, ESRCH, 507899 },
	/* IPC memory */
	{ VINCI_SHARE_IPC_MEM, RTS_OP_EXPORT, EINVAL, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_EXPORT, ENOSPC, 107017 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_ALLOW, ESTALE, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_ALLOW, EACCES, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_ALLOW, EPERM, 207006 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_ALLOW, E2BIG, 107000 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_ALLOW, ENOSPC, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_ALLOW, EINVAL, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_ALLOW, EIDRM, 107017 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_IMPORT, ESTALE, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_IMPORT, EACCES, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_IMPORT, EKEYEXPIRED, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_IMPORT, EBUSY, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_SHARE_CLOSE, ESTALE, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_SHARE_CLOSE, EACCES, 507899 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_SHARE_CLOSE, EIDRM, 107017 },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_ATTR, EPERM, 207006 },
	/* notify */
	{ VINCI_SHARE_NOTIFY, RTS_OP_EXPORT, EEXIST, 507000 },
	{ VINCI_SHARE_NOTIFY, RTS_OP_EXPORT, EACCES, 507000 },
	{ VINCI_SHARE_NOTIFY, RTS_OP_ALLOW, E2BIG, 107000 },
	{ VINCI_SHARE_NOTIFY, RTS_OP_ALLOW, ENOSPC, 507899 },
	{ VINCI_SHARE_NOTIFY, RTS_OP_ALLOW, EPERM, 207006 },
	{ VINCI_SHARE_NOTIFY, RTS_OP_ALLOW, EACCES, 507899 },
	{ VINCI_SHARE_NOTIFY, RTS_OP_IMPORT, ESTALE, 507899 },
	{ VINCI_SHARE_NOTIFY, RTS_OP_IMPORT, EPERM, 507899 },
	{ VINCI_SHARE_NOTIFY, RTS_OP_IMPORT, EFAULT, 507899 },
	{ VINCI_SHARE_NOTIFY, RTS_OP_IMPORT, ENOMEM, 507899 },
	/* physical memory */
	{ VINCI_SHARE_VMM, RTS_OP_EXPORT, EEXIST, 507899 },
	{ VINCI_SHARE_VMM, RTS_OP_EXPORT, EACCES, 507899 },
	{ VINCI_SHARE_VMM, RTS_OP_ALLOW, ESTALE, 107017 },
	{ VINCI_SHARE_VMM, RTS_OP_ALLOW, EPERM, 207006 },
	{ VINCI_SHARE_VMM, RTS_OP_ALLOW, EACCES, 507899 },
	{ VINCI_SHARE_VMM, RTS_OP_ALLOW, E2BIG, 107000 },
	{ VINCI_SHARE_VMM, RTS_OP_IMPORT, ESTALE, 107017 },
	{ VINCI_SHARE_VMM, RTS_OP_IMPORT, EACCES, 507899 },
	{ VINCI_SHARE_VMM, RTS_OP_IMPORT, EEXIST, 507899 },
	{ VINCI_SHARE_VMM, RTS_OP_IMPORT, EDQUOT, 507899 },
	{ VINCI_SHARE_FABRIC, RTS_OP_IMPORT, ESTALE, 107017 },
	{ VINCI_SHARE_FABRIC, RTS_OP_ALLOW, ESTALE, 107017 },
};

static void every_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int code = rts_errno_code(rows[i].kind, rows[i].op, -rows[i].err);

		if (code != rows[i].code || code != rts_errno_code(rows[i].kind, rows[i].op, rows[i].err))
			fail_msg("kind %u, operation %d, errno %d: %d instead of %d", rows[i].kind, (int)rows[i].op,
				 rows[i].err, code, rows[i].code);
	}
}

/* Whatever was asked: the device has gone. */
static void a_lost_device(void **state)
{
	(void)state;
	for (uint32_t kind = 0; kind <= VINCI_SHARE_EVENT; kind++)
		for (enum rts_op op = RTS_OP_BO_CREATE; op <= RTS_OP_QUERY; op++)
			assert_int_equal(rts_errno_code(kind, op, -ENOTCONN), ACL_ERROR_RT_LOST_HEARTBEAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(a_lost_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
