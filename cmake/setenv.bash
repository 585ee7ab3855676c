# SPDX-License-Identifier: MIT
# CANN's second name for set_env.sh; for bash.
case ${BASH_SOURCE[0]} in
*/*) _vinci_bin=${BASH_SOURCE[0]%/*}/ ;;
*) _vinci_bin=. ;;
esac
# shellcheck source=/dev/null
source "$_vinci_bin/../set_env.sh"
unset _vinci_bin
