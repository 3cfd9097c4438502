#!/usr/bin/env bash
# What a newcomer sees: a bare Debian in a folder, this commit cloned into it, then `make demo` and `make test`, with their times.
#   scripts/fresh.sh bookworm|trixie [MAKE_TARGET...]      default: demo test
# Needs root and debootstrap. The new system takes over this machine's mirror, proxies, pip settings and certificates.
# Settings: FRESH_FOLDER  where systems are made (default: /var/tmp/kernevo-fresh; 8 GB each); FRESH_KEEP=1 leaves them;
#           FRESH_CCACHE   this machine's compiler cache is lent to them (its folder): set-up and tests are then a newcomer's, the build is not.
set -euo pipefail
cd "$(dirname "$0")/.."

stop() { printf 'fresh: %s\n' "$*" >&2; exit 3; }

suite=${1:-}
case "$suite" in
  bookworm | trixie) shift ;;
  *) stop "which system? scripts/fresh.sh bookworm|trixie [MAKE_TARGET...]" ;;
esac
[ $# -gt 0 ] || set -- demo test
[ "$(id -u)" -eq 0 ] || stop "needs root, for chroot and mounts"
command -v debootstrap >/dev/null || stop "debootstrap is missing; apt-get install debootstrap"

# In a mount namespace of its own, so that whatever ends this leaves no mount behind.
[ -n "${FRESH_INSIDE:-}" ] ||
  exec unshare --mount --propagation private env FRESH_INSIDE=1 "$0" "$suite" "$@"

folder=${FRESH_FOLDER:-/var/tmp/kernevo-fresh}
root=$folder/$suite
taken_over='^(https?_proxy|ftp_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|PIP_[A-Z_]+|SSL_CERT_[A-Z]+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|JOBS)='

mirror() {
  # Either file may be missing, and so may a mirror of Debian in them.
  {
    sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources || true
    sed -n 's/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list || true
  } 2>/dev/null | sed -n '/\/debian\/\?$/{p;q}'
}

# The host's files at the same place in the new system.
take_over() {
  local path
  for path in "$@"; do
    [ -e "$path" ] || continue
    mkdir -p "$root$(dirname "$path")"
    cp -rL "$path" "$root$(dirname "$path")/"
  done
}

make_system() {
  local from
  from=$(mirror)
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root" "${from:-http://deb.debian.org/debian}" >"$folder/$suite.log" ||
    stop "debootstrap failed; see $folder/$suite.log"
  local setting
  for setting in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
    if grep -q -i -E 'proxy|verify|timeout|retries' "$setting" 2>/dev/null; then take_over "$setting"; fi
  done
  take_over /etc/resolv.conf /etc/hosts /etc/pip.conf /usr/local/share/ca-certificates
  # Certificates and folders that the settings name.
  env | grep -E "$taken_over" | cut -d= -f2- | { grep '^/' || true; } | while read -r setting; do take_over "$setting"; done
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount -t tmpfs tmpfs "$root/tmp"
  if [ -n "${FRESH_CCACHE:-}" ]; then
    mkdir -p "$root/root/.cache/ccache"
    mount --bind "$FRESH_CCACHE" "$root/root/.cache/ccache"
  fi
}

in_system() {
  local settings=()
  mapfile -t settings < <(env | grep -E "$taken_over")
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "${settings[@]}" "$@"
}

TIMEFORMAT='%0lR, processor %0lU + %0lS'
mkdir -p "$folder"
printf 'fresh: a bare %s into %s (about 1 min)\n' "$suite" "$root"
time make_system
git clone --quiet --no-hardlinks . "$root/root/kernevo"
in_system sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends make git >/dev/null' ||
  stop "the new system cannot install packages; its mirror or proxy settings are wrong"
for target in "$@"; do
  printf 'fresh: make %s on %s\n' "$target" "$suite"
  time in_system make -C /root/kernevo "$target" || stop "make $target failed on $suite; the system is in $root"
done
if [ -z "${FRESH_KEEP:-}" ]; then
  if [ -n "${FRESH_CCACHE:-}" ]; then umount "$root/root/.cache/ccache"; fi
  umount "$root/tmp" "$root/dev/shm" "$root/dev" "$root/proc"
  rm -rf --one-file-system "${root:?}"
fi
printf 'fresh: %s: %s passed\n' "$suite" "$*"
