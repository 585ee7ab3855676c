# SPDX-License-Identifier: MIT
# AscendC kernels in a CMake project, built for the host. Under the name and in the place of CANN's file:
#
#   ascendc_library(<target> STATIC|SHARED <source>...)
#   ascendc_fatbin_library(<target> <source>...)
#   ascendc_include_directories(<target> [SYSTEM] [PRIVATE|PUBLIC|INTERFACE] <directory>...)
#   ascendc_compile_definitions(<target> [PRIVATE|PUBLIC|INTERFACE] <definition>...)
#   ascendc_compile_options(<target> [PRIVATE|PUBLIC|INTERFACE] <option>...)
#
# Whoever links the target links the ACL library with it, and finds an aclrtlaunch_<kernel>.h for each of its extern "C"
# kernels: ACLRT_LAUNCH_KERNEL(<kernel>)(blockDim, stream, arguments...). They lie in ${CMAKE_BINARY_DIR}/include/<target>
# and are installed with the library, into include/<target> and lib. Kernels are optimised as the build type says, or with -O2
# where there is none. SOC_VERSION must name a family that CANN knows and changes nothing else; RUN_MODE is accepted.
#
# A fatbin library is for aclrtBinaryLoadFromFile: a shared object of the host, made at build time under CANN's name
# for it, ${CMAKE_INSTALL_PREFIX}/fatbin/<target>/<target>.o. Nothing links it.
#
# Tool, headers and library are found in the install tree around this file. A build tree sets these instead:
#   VINCI_ASCENDC_TOOL  the translator, a path or a target
#   VINCI_INCLUDE_DIRS  directories that hold acl/, vinci/ and ascendc/
#   VINCI_ACL_LIBRARY   the ACL library, a path or a target
cmake_policy(VERSION 3.16)

if(NOT CMAKE_CXX_COMPILER_LOADED)
	enable_language(CXX)
endif()
# Projects install by CMAKE_INSTALL_BINDIR without including this themselves.
include(GNUInstallDirs)

function(_vinci_ascendc_find variable what)
	if(DEFINED ${variable})
		return()
	endif()
	foreach(path IN LISTS ARGN)
		if(EXISTS "${path}")
			set(${variable} "${path}" PARENT_SCOPE)
			return()
		endif()
	endforeach()
	message(FATAL_ERROR "ascendc.cmake: ${what} is not in vinci's install tree; looked for: ${ARGN}")
endfunction()

get_filename_component(_vinci_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
_vinci_ascendc_find(VINCI_ASCENDC_TOOL "the translator" "${_vinci_root}/bin/vinci-ascendc")
_vinci_ascendc_find(VINCI_INCLUDE_DIRS "the include directory" "${_vinci_root}/include")
_vinci_ascendc_find(VINCI_ACL_LIBRARY "the ACL library"
	"${_vinci_root}/lib64/libacl_rt.so" "${_vinci_root}/lib64/libascendcl.so")
unset(_vinci_root)

# What CANN's samples link their host code with.
if(NOT TARGET host_intf_pub)
	add_library(host_intf_pub INTERFACE)
	target_include_directories(host_intf_pub SYSTEM INTERFACE ${VINCI_INCLUDE_DIRS})
	target_link_libraries(host_intf_pub INTERFACE "${VINCI_ACL_LIBRARY}")
endif()

# Sets <generated> to the translation of <source> for <target> and writes the rule that makes it.
function(_vinci_ascendc_translate target source generated)
	get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
	get_filename_component(directory "${path}" DIRECTORY)
	get_filename_component(name "${path}" NAME)
	string(MD5 hash "${directory}")
	string(SUBSTRING "${hash}" 0 8 hash)
	set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_ascendc/${hash}/${name}")
	file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${target}_ascendc/${hash}")
	file(RELATIVE_PATH shown "${CMAKE_SOURCE_DIR}" "${path}")
	file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/include/${target}")

	add_custom_command(OUTPUT "${output}"
		COMMAND ${VINCI_ASCENDC_TOOL} -l "${CMAKE_BINARY_DIR}/include/${target}" -o "${output}" "${path}"
		DEPENDS "${path}" ${VINCI_ASCENDC_TOOL}
		COMMENT "Translating AscendC source ${shown}"
		VERBATIM)
	# The source's own directory is searched for its "..." includes, as if the source itself were compiled.
	set_source_files_properties("${output}" PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-iquote;${directory}")
	set(${generated} "${output}" PARENT_SCOPE)
endfunction()

# Names as aclrtGetSocName gives them, in any case; a project that asks no device may leave it empty.
function(_vinci_ascendc_check_soc)
	string(TOLOWER "${SOC_VERSION}" soc)
	if(soc AND NOT soc MATCHES "^ascend(910b[1-4]|910b2c|910b4-1|910_93[6-9][1-3]|910(pro|premium)?[ab]|310p[1357]|\
310p3vir0[1248]|310b[1-4]|950(pr|dt)_95[0-9a-z]+|350_35(4f|5e)|kirinx90|kirin9030)$|^kirin(x90|9030)$|^mc62[cd]m[a-z0-9]+$")
		message(FATAL_ERROR "ascendc.cmake: SOC_VERSION is \"${SOC_VERSION}\", which is no Ascend product; "
			"it is a name like Ascend910B1, as aclrtGetSocName returns it")
	endif()
endfunction()

# What both kinds of library have in common.
function(_vinci_ascendc_add target kind)
	if(NOT ARGN)
		message(FATAL_ERROR "ascendc library ${target}: no sources")
	endif()
	_vinci_ascendc_check_soc()
	set(sources "")
	foreach(source IN LISTS ARGN)
		if(source MATCHES "\\.(h|hh|hpp|hxx|inc)$")
			continue()
		endif()
		_vinci_ascendc_translate(${target} "${source}" generated)
		list(APPEND sources "${generated}")
	endforeach()

	add_library(${target} ${kind} ${sources})
	set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_STANDARD 17
		CXX_STANDARD_REQUIRED ON CXX_VISIBILITY_PRESET default)
	target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
	foreach(directory IN LISTS VINCI_INCLUDE_DIRS)
		target_include_directories(${target} SYSTEM PRIVATE "${directory}/ascendc" "${directory}")
	endforeach()
	# Kernels see global memory as whatever type suits them, which the device's compiler allows.
	target_compile_options(${target} PRIVATE -fno-strict-aliasing)
	if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
		target_compile_options(${target} PRIVATE -O2)
	endif()
	if(NOT kind STREQUAL "STATIC")
		# Two libraries may have kernels of one name; each launches its own.
		target_link_options(${target} PRIVATE "LINKER:-Bsymbolic")
	endif()
endfunction()

function(ascendc_library target kind)
	if(NOT kind MATCHES "^(STATIC|SHARED)$")
		message(FATAL_ERROR "ascendc_library(${target}): STATIC or SHARED expected, got ${kind}")
	endif()
	_vinci_ascendc_add(${target} ${kind} ${ARGN})
	target_link_libraries(${target} PUBLIC "${VINCI_ACL_LIBRARY}")
	target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include/${target}>"
		"$<INSTALL_INTERFACE:include/${target}>")
	foreach(directory IN LISTS VINCI_INCLUDE_DIRS)
		target_include_directories(${target} SYSTEM INTERFACE "$<BUILD_INTERFACE:${directory}>")
	endforeach()
	# As CANN's, but not from a build tree's own libraries.
	if(NOT TARGET "${VINCI_ASCENDC_TOOL}")
		install(TARGETS ${target} LIBRARY DESTINATION lib ARCHIVE DESTINATION lib)
		install(DIRECTORY "${CMAKE_BINARY_DIR}/include/${target}" DESTINATION include)
	endif()
endfunction()

function(ascendc_fatbin_library target)
	_vinci_ascendc_add(${target} MODULE ${ARGN})
	# The expression keeps generators of several configurations from adding a directory for each.
	set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX ".o" OUTPUT_NAME "${target}"
		LIBRARY_OUTPUT_DIRECTORY "${CMAKE_INSTALL_PREFIX}/fatbin/${target}$<0:>")
	target_compile_definitions(${target} PRIVATE VINCI_ASCENDC_FATBIN)
	if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
		# Each load has variables of its own, and unloading takes them away.
		target_compile_options(${target} PRIVATE -fno-gnu-unique)
	endif()
endfunction()

# Calls target_<what>() with PRIVATE where the caller named no scope.
function(_vinci_ascendc_target what target)
	set(arguments ${ARGN})
	set(system "")
	list(LENGTH arguments count)
	if(count GREATER 0)
		list(GET arguments 0 first)
		if(first STREQUAL "SYSTEM")
			list(REMOVE_AT arguments 0)
			set(system SYSTEM)
		endif()
	endif()
	if(NOT arguments)
		return()
	endif()
	list(GET arguments 0 first)
	if(NOT first MATCHES "^(PRIVATE|PUBLIC|INTERFACE)$")
		list(INSERT arguments 0 PRIVATE)
	endif()
	if(what STREQUAL "include_directories")
		target_include_directories(${target} ${system} ${arguments})
	elseif(what STREQUAL "compile_definitions")
		target_compile_definitions(${target} ${arguments})
	else()
		target_compile_options(${target} ${arguments})
	endif()
endfunction()

function(ascendc_include_directories target)
	_vinci_ascendc_target(include_directories ${target} ${ARGN})
endfunction()

function(ascendc_compile_definitions target)
	_vinci_ascendc_target(compile_definitions ${target} ${ARGN})
endfunction()

function(ascendc_compile_options target)
	_vinci_ascendc_target(compile_options ${target} ${ARGN})
endfunction()
