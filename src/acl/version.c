/* SPDX-License-Identifier: MIT */
/*
 * version.c - versions of packages. A package's version stands in the line "Version=..." of its version.info: below
 * $ASCEND_HOME_PATH/share/info for CANN's packages, below the path that /etc/ascend_install.info names for driver and
 * firmware.
 */
#include "acl/api.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INSTALL_INFO "/etc/ascend_install.info"

/* What is behind @key in the first line of the file that holds it, trimmed. */
static aclError find_key(const char *path, const char *key, char *out, size_t size)
{
	char line[PATH_MAX + 64], *text = NULL;
	FILE *f = fopen(path, "re");

	if (!f)
		return u_report(ACL_ERROR_INVALID_FILE, "\"%s\" cannot be opened: %s", path, strerror(errno));
	while (!text && fgets(line, sizeof(line), f))
		text = strstr(line, key);
	fclose(f);
	if (!text)
		return u_report(ACL_ERROR_INVALID_FILE, "\"%s\" has no line with %s", path, key);
	text += strlen(key);
	text += strspn(text, " \t");
	text[strcspn(text, "\r\n")] = '\0';
	for (size_t n = strlen(text); n && isspace((unsigned char)text[n - 1]); n--)
		text[n - 1] = '\0';
	if (!*text || strlen(text) >= size)
		return u_report(ACL_ERROR_INVALID_FILE, "%s in \"%s\" is empty or longer than %zu bytes", key, path,
				size - 1);
	memcpy(out, text, strlen(text) + 1);
	return ACL_SUCCESS;
}

static aclError package_directory(const char *package, char out[PATH_MAX])
{
	const char *home = secure_getenv("ASCEND_HOME_PATH");
	bool driver = !strcmp(package, "driver");

	if (driver || !strcmp(package, "firmware"))
		return find_key(INSTALL_INFO,
				driver ? "Driver_Install_Path_Param=" : "Firmware_Install_Path_Param=", out, PATH_MAX);
	if (!home)
		return u_report(ACL_ERROR_INVALID_FILE,
				"ASCEND_HOME_PATH is not set, so that the version of \"%s\" cannot be looked up; "
				"source set_env.sh",
				package);
	if (snprintf(out, PATH_MAX, "%s/share/info", home) >= PATH_MAX)
		return u_report(ACL_ERROR_INVALID_FILE, "ASCEND_HOME_PATH is longer than %d bytes", PATH_MAX);
	return ACL_SUCCESS;
}

/* A name is one component of a path. */
static bool is_name(const char *package)
{
	return *package && strcmp(package, ".") && strcmp(package, "..") && !strchr(package, '/') &&
	       strlen(package) < 128;
}

static bool info_path(const char *directory, const char *package, char out[PATH_MAX])
{
	int n = snprintf(out, PATH_MAX, "%s/%s/version.info", directory, package);
	FILE *f = n < PATH_MAX ? fopen(out, "re") : NULL;

	if (f)
		fclose(f);
	return f != NULL;
}

/* CANN spells some packages with '-' in one release and with '_' in another. */
static void other_spelling(const char *package, char out[128])
{
	char from = strchr(package, '-') ? '-' : '_', to = from == '-' ? '_' : '-';

	snprintf(out, 128, "%s", package);
	for (char *p = out; *p; p++)
		if (*p == from)
			*p = to;
}

static aclError package_version(const char *package, char out[ACL_PKG_VERSION_MAX_SIZE])
{
	char directory[PATH_MAX], path[PATH_MAX], other[128];
	aclError r;

	if (!is_name(package))
		return u_report(ACL_ERROR_INVALID_FILE, "\"%s\" is not the name of a package", package);
	r = package_directory(package, directory);
	if (r)
		return r;
	other_spelling(package, other);
	if (!info_path(directory, package, path) && !info_path(directory, other, path))
		return u_report(ACL_ERROR_INVALID_FILE, "package \"%s\" is not installed: there is no %s", package,
				path);
	return find_key(path, "Version=", out, ACL_PKG_VERSION_MAX_SIZE);
}

/* ---- the number ------------------------------------------------------------------------------ */

/* A part of a version; at most @max. */
static bool part(const char **text, long max, long *out)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*out = strtol(*text, &end, 10);
	*text = end;
	return !errno && *out <= max;
}

static bool skip(const char **text, char c)
{
	if (**text != c)
		return false;
	++*text;
	return true;
}

/* "-alpha.1", ".rc2", "beta": what is taken off, less the number behind it; nothing for a release. */
static bool prerelease(const char *text, long *out)
{
	static const struct {
		const char *name;
		long weight;
	} stages[] = { { "alpha", 300 }, { "beta", 200 }, { "rc", 100 } };
	long number = 0;

	*out = 0;
	if (!*text)
		return true;
	(void)(skip(&text, '-') || skip(&text, '.'));
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		size_t n = strlen(stages[i].name);

		if (strncasecmp(text, stages[i].name, n))
			continue;
		text += n;
		if (!*text) {
			*out = -stages[i].weight;
			return true;
		}
		(void)(skip(&text, '.') || skip(&text, '-'));
		if (!part(&text, INT_MAX / 2, &number) || *text)
			return false;
		*out = number - stages[i].weight;
		return true;
	}
	return false;
}

/* major.minor.patch[prerelease]; a pre-release is below its release and above the one before it. */
static bool version_number(const char *text, int32_t *out)
{
	long major, minor, patch, adjust, sum;

	if (!part(&text, 200, &major) || !skip(&text, '.') || !part(&text, 1000, &minor) || !skip(&text, '.') ||
	    !part(&text, 10000, &patch) || !prerelease(text, &adjust))
		return false;
	sum = major * 10000000 + minor * 100000 + patch * 1000 + adjust;
	if (sum > INT32_MAX)
		return false;
	*out = (int32_t)sum;
	return true;
}

aclError aclsysGetVersionStr(char *pkgName, char *versionStr)
{
	char version[ACL_PKG_VERSION_MAX_SIZE];
	aclError r;

	REQUIRE_NOT_NULL(versionStr);
	REQUIRE_NOT_NULL(pkgName);
	r = package_version(pkgName, version);
	if (!r)
		memcpy(versionStr, version, strlen(version) + 1);
	return r;
}

aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum)
{
	char version[ACL_PKG_VERSION_MAX_SIZE];
	aclError r;

	REQUIRE_NOT_NULL(versionNum);
	REQUIRE_NOT_NULL(pkgName);
	r = package_version(pkgName, version);
	if (!r && !version_number(version, versionNum))
		r = u_report(ACL_ERROR_INTERNAL_ERROR,
			     "the version \"%s\" of \"%s\" is not of the form major.minor.patch with alpha, beta or rc "
			     "behind it",
			     version, pkgName);
	return r;
}

/* ---- the older form -------------------------------------------------------------------------- */

/* "8.0.0-alpha.1" -> "8.0.0.alpha1" */
static void flatten(const char *in, char out[ACL_PKG_VERSION_MAX_SIZE])
{
	const char *dash = strchr(in, '-');
	size_t n = 0;

	for (const char *p = in; *p; p++)
		if (p == dash)
			out[n++] = '.';
		else if (!dash || p < dash || *p != '.')
			out[n++] = *p;
	out[n] = '\0';
}

/* The parts between points; "0" where there are no more. False: an empty one, or fewer than two. */
static bool split(const char *text, aclCANNPackageVersion *out)
{
	char *const parts[] = { out->majorVersion, out->minorVersion, out->releaseVersion, out->patchVersion };
	unsigned found = 0;

	for (unsigned i = 0; i < 4; i++) {
		size_t n = strcspn(text, ".");

		if (!n && !*text && found >= 2) {
			strcpy(parts[i], "0");
			continue;
		}
		if (!n || n >= ACL_PKG_VERSION_PARTS_MAX_SIZE)
			return false;
		memcpy(parts[i], text, n);
		found++;
		text += n + (text[n] == '.');
	}
	return true;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
	static const char *const packages[] = {
		[ACL_PKG_NAME_CANN] = "runtime",
		[ACL_PKG_NAME_RUNTIME] = "runtime",
		[ACL_PKG_NAME_COMPILER] = "bisheng-compiler",
		[ACL_PKG_NAME_HCCL] = "hccl",
		[ACL_PKG_NAME_TOOLKIT] = "oam-tools",
		[ACL_PKG_NAME_OPP] = "ops-legacy",
		[ACL_PKG_NAME_OPP_KERNEL] = "ops-legacy",
		[ACL_PKG_NAME_DRIVER] = "driver",
	};
	char text[ACL_PKG_VERSION_MAX_SIZE];
	aclCANNPackageVersion out = { 0 };
	aclError r;

	REQUIRE_NOT_NULL(version);
	REQUIRE((unsigned)name < sizeof(packages) / sizeof(packages[0]),
		"Value %d for name is invalid. Expected value: one of aclCANNPackageName", (int)name);
	r = package_version(packages[name], text);
	if (r)
		return r;
	flatten(text, out.version);
	if (!split(out.version, &out))
		return u_report(ACL_ERROR_INVALID_FILE, "the version \"%s\" of \"%s\" has no two parts", text,
				packages[name]);
	*version = out;
	return ACL_SUCCESS;
}

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
	REQUIRE_NOT_NULL(majorVersion);
	REQUIRE_NOT_NULL(minorVersion);
	REQUIRE_NOT_NULL(patchVersion);
	*majorVersion = ACL_MAJOR_VERSION;
	*minorVersion = ACL_MINOR_VERSION;
	*patchVersion = ACL_PATCH_VERSION;
	return ACL_SUCCESS;
}
