# SPDX-License-Identifier: MIT
# The install tree looks like CANN's, so that build scripts written for it find what they look for; everything in it is found
# relative to itself, so it can be moved. Parts that only one tool needs are installed where the tool is built.
include(CMakePackageConfigHelpers)

target_include_directories(ascendcl INTERFACE
	$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
install(TARGETS ascendcl EXPORT vinciTargets LIBRARY DESTINATION lib64)
foreach(name acl_rt acl_rt_impl runtime)
	install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lib${name}.so DESTINATION lib64)
endforeach()
foreach(program vincid vinci-smi)
	if(TARGET ${program})
		install(TARGETS ${program} RUNTIME DESTINATION bin)
	endif()
endforeach()
foreach(headers acl uapi vinci)
	install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/${headers} DESTINATION include FILES_MATCHING PATTERN *.h)
endforeach()

# Build scripts also name a tree for one machine, the tree of a part, and libraries to link against where no device is.
set(machine ${CMAKE_SYSTEM_PROCESSOR}-linux)
set(links ${PROJECT_BINARY_DIR}/install/links)
file(MAKE_DIRECTORY ${links}/${machine} ${links}/lib64/stub)
foreach(link ${machine}/include:../include ${machine}/lib64:../lib64 ${machine}/devlib:lib64
	runtime:${machine} acllib:${machine} compiler:${machine} tools:${machine}
	lib64/stub/libascendcl.so:../libascendcl.so lib64/stub/libacl_rt.so:../libacl_rt.so
	lib64/stub/libruntime.so:../libruntime.so)
	string(REPLACE ":" ";" link ${link})
	list(GET link 0 name)
	list(GET link 1 target)
	file(CREATE_LINK ${target} ${links}/${name} SYMBOLIC)
endforeach()
install(DIRECTORY ${links}/ DESTINATION .)

# Sourced by build and run scripts.
configure_file(${PROJECT_SOURCE_DIR}/cmake/set_env.sh.in ${PROJECT_BINARY_DIR}/install/set_env.sh @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/install/set_env.sh DESTINATION .)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/setenv.bash DESTINATION bin)

# find_package(vinci) gives vinci::ascendcl; lib/ because CMake and pkg-config look there on every distribution.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/vinciConfigVersion.cmake
	COMPATIBILITY SameMinorVersion)
install(EXPORT vinciTargets FILE vinciConfig.cmake NAMESPACE vinci:: DESTINATION lib/cmake/vinci)
install(FILES ${PROJECT_BINARY_DIR}/install/vinciConfigVersion.cmake DESTINATION lib/cmake/vinci)
configure_file(${PROJECT_SOURCE_DIR}/cmake/vinci.pc.in ${PROJECT_BINARY_DIR}/install/vinci.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/install/vinci.pc DESTINATION lib/pkgconfig)
# What aclsysGetVersionStr answers for the package "runtime": the CANN release that the headers describe.
file(WRITE ${PROJECT_BINARY_DIR}/install/version.info "Version=9.1.0\n")
install(FILES ${PROJECT_BINARY_DIR}/install/version.info DESTINATION share/info/runtime)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/vinci)
