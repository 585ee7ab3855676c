/* SPDX-License-Identifier: MIT */
/* base_test.c - what needs no device: halves, data buffers, sizes of types, versions. */
#include "acl/acl_rt.h"

#include <math.h>
#include <stdbool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* ---- halves ---------------------------------------------------------------------------------- */

static float expected_float(uint16_t half)
{
	int exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff;
	float magnitude = exponent ? ldexpf((float)(1024 + mantissa), exponent - 25) : ldexpf((float)mantissa, -24);

	return half & 0x8000 ? -magnitude : magnitude;
}

static void check_same_bits(float a, float b)
{
	assert_memory_equal(&a, &b, sizeof(a));
}

/* covers: aclFloat16ToFloat, aclFloatToFloat16 effect */
static void every_half(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 65536; i++) {
		float f = aclFloat16ToFloat((aclFloat16)i);

		check_same_bits(f, expected_float((uint16_t)i));
		if ((i >> 10 & 0x1f) != 0x1f)
			assert_int_equal(aclFloatToFloat16(f), i);
	}
}

/* Halfway between two neighbours: to the even one; a little more or less: to the nearer. */
static void rounds_to_even(void **state)
{
	(void)state;
	for (uint16_t h = 0; h < 0x7bff; h++) {
		float low = aclFloat16ToFloat(h), high = aclFloat16ToFloat((aclFloat16)(h + 1));
		float middle = (low + high) / 2;

		assert_int_equal(aclFloatToFloat16(middle), h & 1 ? h + 1 : h);
		assert_int_equal(aclFloatToFloat16(-middle), 0x8000 | (h & 1 ? h + 1 : h));
		assert_int_equal(aclFloatToFloat16(nextafterf(middle, high)), h + 1);
		assert_int_equal(aclFloatToFloat16(nextafterf(middle, low)), h);
	}
}

/* There is neither infinity nor NaN. */
/* covers: aclFloat16ToFloat, aclFloatToFloat16 failure */
static void saturates(void **state)
{
	(void)state;
	assert_int_equal(aclFloatToFloat16(65504.0f), 0x7bff);
	assert_int_equal(aclFloatToFloat16(65519.99f), 0x7bff);
	assert_int_equal(aclFloatToFloat16(65520.0f), 0x7bff);
	assert_int_equal(aclFloatToFloat16(1e30f), 0x7bff);
	assert_int_equal(aclFloatToFloat16(INFINITY), 0x7bff);
	assert_int_equal(aclFloatToFloat16(-INFINITY), 0xfbff);
	assert_int_equal(aclFloatToFloat16(NAN) & 0x7fff, 0x7bff);
	assert_int_equal(aclFloatToFloat16(1e-30f), 0);
	assert_int_equal(aclFloatToFloat16(-1e-30f), 0x8000);
	check_same_bits(aclFloat16ToFloat(0x7c00), 65536.0f);
	check_same_bits(aclFloat16ToFloat(0xfc00), -65536.0f);
	check_same_bits(aclFloat16ToFloat(0x7e00), 98304.0f);
}

/* ---- data buffers and types ------------------------------------------------------------------ */

/* covers: aclCreateDataBuffer, aclUpdateDataBuffer, aclDestroyDataBuffer effect */
/* covers: aclGetDataBufferAddr, aclGetDataBufferSize, aclGetDataBufferSizeV2 effect */
static void data_buffers(void **state)
{
	size_t large = (size_t)5 << 32 | 7;
	aclDataBuffer *buffer;
	char memory[8];

	(void)state;
	buffer = aclCreateDataBuffer(memory, sizeof(memory));
	assert_non_null(buffer);
	assert_ptr_equal(aclGetDataBufferAddr(buffer), memory);
	assert_int_equal(aclGetDataBufferSizeV2(buffer), sizeof(memory));
	assert_int_equal(aclUpdateDataBuffer(buffer, memory + 1, large), ACL_SUCCESS);
	assert_ptr_equal(aclGetDataBufferAddr(buffer), memory + 1);
	assert_int_equal(aclGetDataBufferSizeV2(buffer), large);
	assert_int_equal(aclGetDataBufferSize(buffer), 7);
	assert_int_equal(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
	buffer = aclCreateDataBuffer(NULL, 0);
	assert_non_null(buffer);
	assert_null(aclGetDataBufferAddr(buffer));
	assert_int_equal(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
}

static bool out_of_memory;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	return out_of_memory ? NULL : __real_malloc(size);
}

/* covers: aclCreateDataBuffer, aclUpdateDataBuffer, aclDestroyDataBuffer failure */
/* covers: aclGetDataBufferAddr, aclGetDataBufferSize, aclGetDataBufferSizeV2 failure */
static void no_data_buffer(void **state)
{
	(void)state;
	out_of_memory = true;
	assert_null(aclCreateDataBuffer(NULL, 1));
	out_of_memory = false;
	assert_int_equal(aclDestroyDataBuffer(NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclUpdateDataBuffer(NULL, NULL, 0), ACL_ERROR_INVALID_PARAM);
	assert_null(aclGetDataBufferAddr(NULL));
	assert_int_equal(aclGetDataBufferSize(NULL), 0);
	assert_int_equal(aclGetDataBufferSizeV2(NULL), 0);
}

/* covers: aclDataTypeSize effect */
/* covers: aclDataTypeSize failure */
static void sizes_of_types(void **state)
{
	static const size_t sizes[] = {
		[ACL_FLOAT] = 4,	 [ACL_FLOAT16] = 2,	[ACL_INT8] = 1,	    [ACL_INT32] = 4,
		[ACL_UINT8] = 1,	 [ACL_INT16] = 2,	[ACL_UINT16] = 2,   [ACL_UINT32] = 4,
		[ACL_INT64] = 8,	 [ACL_UINT64] = 8,	[ACL_DOUBLE] = 8,   [ACL_BOOL] = 1,
		[ACL_COMPLEX64] = 8,	 [ACL_COMPLEX128] = 16, [ACL_BF16] = 2,	    [ACL_INT4] = 1,
		[ACL_UINT1] = 1,	 [ACL_COMPLEX32] = 4,	[ACL_HIFLOAT8] = 1, [ACL_FLOAT8_E5M2] = 1,
		[ACL_FLOAT8_E4M3FN] = 1, [ACL_FLOAT8_E8M0] = 1,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i])
			assert_int_equal(aclDataTypeSize((aclDataType)i), sizes[i]);
	assert_int_equal(aclDataTypeSize(ACL_STRING), 0);
	assert_int_equal(aclDataTypeSize(ACL_DT_UNDEFINED), 0);
}

/* ---- versions -------------------------------------------------------------------------------- */

static char home[] = "/tmp/vinci-home-XXXXXX";

static void write_version(const char *package, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/share/info/%s", home, package);
	(void)mkdir(path, 0700);
	strcat(path, "/version.info");
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int make_home(void **state)
{
	char path[256];

	(void)state;
	if (!mkdtemp(home) || setenv("ASCEND_HOME_PATH", home, 1))
		return -1;
	snprintf(path, sizeof(path), "%s/share", home);
	if (mkdir(path, 0700))
		return -1;
	strcat(path, "/info");
	return mkdir(path, 0700);
}

static int remove_home(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", home);
	return system(command);
}

static int32_t number_of(const char *version)
{
	char text[200];
	int32_t n = -1;

	snprintf(text, sizeof(text), "# head\nVersion=%s\ntail\n", version);
	write_version("runtime", text);
	return aclsysGetVersionNum((char *)"runtime", &n) ? -1 : n;
}

/* covers: aclsysGetVersionStr, aclsysGetVersionNum effect */
static void versions_of_packages(void **state)
{
	char text[ACL_PKG_VERSION_MAX_SIZE];

	(void)state;
	write_version("runtime", "Version= 9.1.0-rc.1 \r\nother=1\n");
	assert_int_equal(aclsysGetVersionStr((char *)"runtime", text), ACL_SUCCESS);
	assert_string_equal(text, "9.1.0-rc.1");
	write_version("oam_tools", "Version=1.2.3\n");
	assert_int_equal(aclsysGetVersionStr((char *)"oam-tools", text), ACL_SUCCESS);
	assert_string_equal(text, "1.2.3");
	assert_int_equal(number_of("9.1.2"), 90102000);
	assert_int_equal(number_of("9.1.2-alpha.1"), 90102000 - 300 + 1);
	assert_int_equal(number_of("9.1.2.BETA3"), 90102000 - 200 + 3);
	assert_int_equal(number_of("9.1.2rc-7"), 90102000 - 100 + 7);
	assert_int_equal(number_of("9.1.2-rc"), 90102000 - 100);
}

/* covers: aclsysGetVersionStr, aclsysGetVersionNum failure */
static void no_version(void **state)
{
	char text[ACL_PKG_VERSION_MAX_SIZE] = "kept";
	int32_t n = 5;

	(void)state;
	assert_int_equal(aclsysGetVersionStr(NULL, text), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclsysGetVersionStr((char *)"runtime", NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclsysGetVersionNum(NULL, &n), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclsysGetVersionStr((char *)"nothing", text), ACL_ERROR_INVALID_FILE);
	assert_non_null(strstr(aclGetRecentErrMsg(), "\"nothing\" is not installed"));
	assert_int_equal(aclsysGetVersionStr((char *)"../info/runtime", text), ACL_ERROR_INVALID_FILE);
	write_version("hccl", "version=1\n");
	assert_int_equal(aclsysGetVersionStr((char *)"hccl", text), ACL_ERROR_INVALID_FILE);
	assert_string_equal(text, "kept");
	assert_int_equal(number_of("9.1"), -1);
	assert_int_equal(number_of("9.1.x"), -1);
	assert_int_equal(number_of("9.1.0-pre.1"), -1);
	assert_int_equal(number_of("9.1.0-rc.1x"), -1);
	assert_int_equal(number_of("999.1.0"), -1);
	assert_int_equal(aclsysGetVersionNum((char *)"runtime", &n), ACL_ERROR_INTERNAL_ERROR);
	assert_int_equal(n, 5);
}

/* covers: aclsysGetCANNVersion effect */
static void version_in_parts(void **state)
{
	aclCANNPackageVersion version;

	(void)state;
	write_version("runtime", "Version=8.0.0-alpha.2\n");
	assert_int_equal(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), ACL_SUCCESS);
	assert_string_equal(version.version, "8.0.0.alpha2");
	assert_string_equal(version.majorVersion, "8");
	assert_string_equal(version.minorVersion, "0");
	assert_string_equal(version.releaseVersion, "0");
	assert_string_equal(version.patchVersion, "alpha2");
	write_version("runtime", "Version=7.3\n");
	assert_int_equal(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version), ACL_SUCCESS);
	assert_string_equal(version.minorVersion, "3");
	assert_string_equal(version.releaseVersion, "0");
	assert_string_equal(version.patchVersion, "0");
}

/* covers: aclsysGetCANNVersion failure */
static void no_version_in_parts(void **state)
{
	aclCANNPackageVersion version;

	(void)state;
	assert_int_equal(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclsysGetCANNVersion((aclCANNPackageName)8, &version), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclsysGetCANNVersion((aclCANNPackageName)-1, &version), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclsysGetCANNVersion(ACL_PKG_NAME_OPP, &version), ACL_ERROR_INVALID_FILE);
	write_version("runtime", "Version=7\n");
	assert_int_equal(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), ACL_ERROR_INVALID_FILE);
	write_version("runtime", "Version=7..1\n");
	assert_int_equal(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), ACL_ERROR_INVALID_FILE);
	unsetenv("ASCEND_HOME_PATH");
	assert_int_equal(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), ACL_ERROR_INVALID_FILE);
	setenv("ASCEND_HOME_PATH", home, 1);
}

/* covers: aclrtGetVersion effect */
/* covers: aclrtGetVersion failure */
static void version_of_the_interface(void **state)
{
	int32_t major = 0, minor = 0, patch = -1;

	(void)state;
	assert_int_equal(aclrtGetVersion(&major, &minor, &patch), ACL_SUCCESS);
	assert_int_equal(major, ACL_MAJOR_VERSION);
	assert_int_equal(minor, ACL_MINOR_VERSION);
	assert_int_equal(patch, ACL_PATCH_VERSION);
	major = 77;
	assert_int_equal(aclrtGetVersion(&major, &minor, NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtGetVersion(&major, NULL, &patch), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtGetVersion(NULL, &minor, &patch), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(major, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_half),
		cmocka_unit_test(rounds_to_even),
		cmocka_unit_test(saturates),
		cmocka_unit_test(data_buffers),
		cmocka_unit_test(no_data_buffer),
		cmocka_unit_test(sizes_of_types),
		cmocka_unit_test(versions_of_packages),
		cmocka_unit_test(no_version),
		cmocka_unit_test(version_in_parts),
		cmocka_unit_test(no_version_in_parts),
		cmocka_unit_test(version_of_the_interface),
	};

	return cmocka_run_group_tests(tests, make_home, remove_home);
}
