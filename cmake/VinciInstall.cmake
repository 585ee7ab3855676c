# SPDX-License-Identifier: MIT
# The install tree looks like CANN's, so that build scripts written for it find what they look for.
