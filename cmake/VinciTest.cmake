# SPDX-License-Identifier: MIT
# vinci_test(<name> SOURCES <files...> [LIBS <libs...>] [TIMEOUT <seconds>] [ENV <VAR=value...>])
# One cmocka program, one ctest, one device instance of its own. Exit status 77 is a skip.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# Two build trees that are tested at once do not meet.
string(MD5 VINCI_TEST_TREE ${PROJECT_BINARY_DIR})
string(SUBSTRING ${VINCI_TEST_TREE} 0 8 VINCI_TEST_TREE)

function(vinci_test name)
	cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;LIBS;ENV" ${ARGN})
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT 120)
	endif()
	add_executable(${name} ${T_SOURCES})
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
	target_link_libraries(${name} PRIVATE ${T_LIBS} PkgConfig::CMOCKA Threads::Threads)
	add_test(NAME ${name} COMMAND ${name})
	set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} SKIP_RETURN_CODE 77
		ENVIRONMENT "VINCI_INSTANCE=test-${VINCI_TEST_TREE}-${name};${T_ENV}")
endfunction()
