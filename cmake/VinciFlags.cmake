# SPDX-License-Identifier: MIT
# Warnings and sanitizers, for every target.

add_compile_options(-Wall -Wextra -Wno-missing-field-initializers -Wpointer-arith -Wundef -Wvla)
add_compile_options($<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
add_compile_definitions(_GNU_SOURCE)
if(VINCI_WERROR)
	add_compile_options(-Werror)
endif()
if(VINCI_SANITIZE)
	add_compile_options(-fsanitize=${VINCI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
	add_link_options(-fsanitize=${VINCI_SANITIZE})
endif()
