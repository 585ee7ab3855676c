/* SPDX-License-Identifier: MIT */
/* label.c - chapter 10, and of chapter 6 what steers models: labels, switches, streams that start others. */
#include "acl/api.h"
#include "rts/model.h"

aclError aclrtCreateLabel(aclrtLabel *label)
{
	REQUIRE_NOT_NULL(label);
	return api_result(rts_label_create(label));
}

aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream)
{
	REQUIRE_NOT_NULL(label);
	REQUIRE_NOT_NULL(stream);
	return api_result(rts_label_set(label, stream));
}

aclError aclrtDestroyLabel(aclrtLabel label)
{
	REQUIRE_NOT_NULL(label);
	return api_result(rts_label_destroy(label));
}

aclError aclrtCreateLabelList(aclrtLabel *labels, size_t num, aclrtLabelList *labelList)
{
	REQUIRE_NOT_NULL(labels);
	REQUIRE_NOT_NULL(labelList);
	return api_result(rts_label_list_create(labels, num, labelList));
}

aclError aclrtDestroyLabelList(aclrtLabelList labelList)
{
	REQUIRE_NOT_NULL(labelList);
	return api_result(rts_label_list_destroy(labelList));
}

aclError aclrtSwitchLabelByIndex(void *ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream)
{
	REQUIRE_NOT_NULL(ptr);
	REQUIRE_NOT_NULL(labelList);
	REQUIRE_NOT_NULL(stream);
	return api_result(rts_label_switch(ptr, maxValue, labelList, stream));
}

aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(activeStream);
	REQUIRE_NOT_NULL(stream);
	return api_result(rts_stream_activate(activeStream, stream));
}

aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond, void *rightValue, aclrtCompareDataType dataType,
			   aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream)
{
	const struct rts_compare compare = {
		.left = leftValue,
		.right = rightValue,
		.condition = cond,
		.type = dataType,
	};

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(leftValue);
	REQUIRE_NOT_NULL(rightValue);
	REQUIRE_NOT_NULL(trueStream);
	REQUIRE_NOT_NULL(stream);
	REQUIRE(!falseStream, "falseStream is %p; it must be NULL", falseStream);
	return api_result(rts_stream_switch(&compare, trueStream, stream));
}

aclError aclrtPersistentTaskClean(aclrtStream stream)
{
	REQUIRE_PRODUCT();
	if (!stream)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "stream is NULL"));
	return api_result(rts_stream_clean(stream));
}
