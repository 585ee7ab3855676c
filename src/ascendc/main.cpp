/* SPDX-License-Identifier: MIT */
/* vinci-ascendc: translates one AscendC source for the host compiler. */
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <unistd.h>

#include "translate.h"

namespace {

/* Far above any source; what is larger is a mistake in a build file. */
constexpr size_t source_max = 64u << 20;

const char usage[] = "usage: vinci-ascendc [-n <name in messages>] [-l <directory for aclrtlaunch_*.h>] "
		     "-o <output.cpp> <source.cpp>\n";

struct options {
	std::string input;
	std::string output;
	std::string name;
	std::string headers; /* directory; empty: none are wanted */
};

/* Returns 0, or the exit status with which to stop. */
int parse(int argc, char **argv, options *opt)
{
	int c;

	while ((c = getopt(argc, argv, "n:l:o:h")) != -1) {
		switch (c) {
		case 'n':
			opt->name = optarg;
			break;
		case 'l':
			opt->headers = optarg;
			break;
		case 'o':
			opt->output = optarg;
			break;
		default:
			std::fputs(usage, stderr);
			return 2;
		}
	}
	if (optind + 1 != argc || opt->output.empty()) {
		std::fputs(usage, stderr);
		return 2;
	}
	opt->input = argv[optind];
	if (opt->name.empty())
		opt->name = opt->input;
	if (opt->name.find('\n') != std::string::npos) {
		std::fputs("vinci-ascendc: error: the name of a source cannot have a line break\n", stderr);
		return 1;
	}
	return 0;
}

bool complain(const std::string &file, const char *what)
{
	std::fprintf(stderr, "%s: error: %s\n", file.c_str(), what);
	return false;
}

bool read_file(const std::string &path, std::string *text)
{
	std::FILE *f = std::fopen(path.c_str(), "rb");
	char buffer[65536];
	size_t n;
	bool ok;

	if (!f)
		return complain(path, std::strerror(errno));
	while (text->size() <= source_max && (n = std::fread(buffer, 1, sizeof(buffer), f)) > 0)
		text->append(buffer, n);
	ok = !std::ferror(f);
	if (!ok)
		complain(path, std::strerror(errno));
	(void)std::fclose(f);
	if (ok && text->size() > source_max)
		return complain(path, "larger than 64 MiB");
	return ok;
}

/* Under another name first: an interrupted build must not find half a file that is newer than its source. */
bool write_file(const std::string &path, const std::string &text)
{
	std::string part = path + ".part";
	std::FILE *f = std::fopen(part.c_str(), "wb");
	bool ok;

	if (!f)
		return complain(part, std::strerror(errno));
	ok = std::fwrite(text.data(), 1, text.size(), f) == text.size();
	ok = std::fclose(f) == 0 && ok;
	if (ok && std::rename(part.c_str(), path.c_str()) == 0)
		return true;
	complain(path, std::strerror(errno));
	(void)std::remove(part.c_str());
	return false;
}

/* What has not changed keeps its date: whoever includes it need not be built again. */
bool write_headers(const std::string &directory, const std::vector<ascendc::launch_header> &headers)
{
	for (const ascendc::launch_header &h : headers) {
		std::string path = directory + "/aclrtlaunch_" + h.kernel + ".h";
		std::string old;

		if (access(path.c_str(), F_OK) == 0 && read_file(path, &old) && old == h.text)
			continue;
		if (!write_file(path, h.text))
			return false;
	}
	return true;
}

} // namespace

int main(int argc, char **argv)
{
	ascendc::translation result;
	std::string text;
	options opt;
	int status;

	status = parse(argc, argv, &opt);
	if (status)
		return status;
	if (!read_file(opt.input, &text))
		return 1;
	result = ascendc::translate(std::move(text), opt.name);
	for (const ascendc::diagnostic &d : result.errors)
		std::fprintf(stderr, "%s:%zu: error: %s\n", opt.name.c_str(), d.line, d.text.c_str());
	if (!result.errors.empty())
		return 1;
	if (!opt.headers.empty() && !write_headers(opt.headers, result.headers))
		return 1;
	return write_file(opt.output, result.text) ? 0 : 1;
}
