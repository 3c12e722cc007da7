#!/bin/sh
# Installs Comanda on a system without dpkg, or a later version over an earlier one: ./install.sh, as root.
#   ./install.sh --remove   stops and removes it; the data stay
# Where dpkg is there, the package does the same: apt install ./comanda_@VERSION@_@ARCHITECTURE@.deb
set -eu
cd "$(dirname "$0")"

say() { echo "comanda: $*" >&2; }
die() {
  say "$*"
  exit 1
}

#CHECKS#
running() { [ -d /run/systemd/system ]; }

remove() {
  if running; then systemctl --quiet disable --now @ENABLED@ @OPTIONAL@ || true; fi
  find usr -type f | while read -r file; do rm -f "/$file"; done
  rm -f /etc/avahi/services/comanda.service
  # Those that are ours alone; -depth: what is inside comes first.
  find usr/share/comanda usr/share/doc/comanda -depth -type d | while read -r one; do rmdir "/$one" 2>/dev/null || true; done
  if running; then systemctl daemon-reload; fi
  say "removed. $data stays: orders, keys and certificates. To delete it and its user: rm -rf $data; userdel comanda"
}

# Says everything that is missing at once.
look() {
  missing=
  systemd=$(systemctl --version 2>/dev/null | awk 'NR == 1 { print $2 + 0 }') || true
  [ "${systemd:-0}" -ge 252 ] || missing="$missing
  systemd 252 or later (here: ${systemd:-none})"
  [ -e /usr/share/zoneinfo/America/Lima ] || missing="$missing
  the system's time zones (package tzdata)"
  [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/pki/tls/certs/ca-bundle.crt ] || missing="$missing
  the system's certificate authorities (package ca-certificates)"
  for tool in systemd-sysusers setpriv od getent; do
    command -v "$tool" >/dev/null || missing="$missing
  the command $tool"
  done
  ./usr/bin/comanda version >/dev/null 2>&1 || missing="$missing
  another computer: this program is for @ARCHITECTURE@, and here is $(uname -m)"
  [ -z "$missing" ] || die "nothing was installed; what is missing:$missing"
}

# put FILE: to its place, at once and whole.
put() {
  mkdir -p "/$(dirname "$1")"
  cp "$1" "/$1.new"
  chown 0:0 "/$1.new"
  mv -f "/$1.new" "/$1"
}

[ "$(id -u)" -eq 0 ] || die "install.sh needs root"
if dpkg-query -W -f '${db:Status-Abbrev}' comanda 2>/dev/null | grep -q '^.i'; then
  die "the package comanda is installed: upgrade and remove it with apt"
fi
case ${1:-} in
  '') ;;
  --remove) remove; exit ;;
  *) die "usage: install.sh [--remove]" ;;
esac

look
refuse_later_databases @SCHEMA@
# The units that this version adds; all of them at the first installation.
added=
for unit in @ENABLED@; do
  [ -e "/usr/lib/systemd/system/$unit" ] || added="$added $unit"
done
first=
case $added in *comanda.service*) first=yes ;; esac

put usr/lib/sysusers.d/comanda.conf
systemd-sysusers comanda.conf
make_backups_directory
# Beside the old program: this directory may be one that the service's user cannot enter.
cp usr/bin/comanda /usr/bin/comanda.checked
check_program /usr/bin/comanda.checked || {
  rm -f /usr/bin/comanda.checked
  die "not installed, for the reason above; what was there goes on"
}
rm -f /usr/bin/comanda.checked

find usr -type f | while read -r file; do put "$file"; done
# It belongs to whoever has changed it.
[ -e /etc/avahi/services/comanda.service ] || put etc/avahi/services/comanda.service

# shellcheck disable=SC2086 # a list of units
[ -z "$added" ] || systemctl --quiet enable $added
if ! running; then
  say "installed; systemd does not run here, so nothing was started"
elif systemctl daemon-reload && [ -n "$first" ]; then
  systemctl start @ENABLED@
  say "installed, enabled and started"
else
  # The server alone: sockets that were restarted would refuse connections meanwhile.
  systemctl try-restart comanda.service
  for unit in $added; do
    # Sockets come with the service.
    case $unit in *.socket) ;; *) systemctl start "$unit" ;; esac
  done
  say "installed; enabled or not, running or not, as before"
fi
