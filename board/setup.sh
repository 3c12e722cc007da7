# shellcheck shell=sh
# What the setups of the boards share. Sourced by board/NAME/setup, which calls the functions below in turn. Each writes what
# it changes, and nothing where all is as wanted; with --undo each takes back what it did before, and nothing else.
#   setup [--undo] [--root DIR] [--ntp SERVER] [more, see board/NAME/README.md]
# DIR: the system that is changed, default /. Elsewhere files alone are changed, and take effect at its next start.
set -eu

undo= root= ntp= battery=
while [ $# -gt 0 ]; do
  case $1 in
    --undo) undo=yes ;;
    --root) root=${2%/} && shift ;;
    --ntp) ntp=$2 && shift ;;
    --rechargeable-battery) battery=yes ;;
    *) sed -n 's/^#   //p' "$(dirname "$0")/../setup.sh" >&2; exit 2 ;;
  esac
  shift
done
state=$root/var/lib/comanda-board
changed=

say() { changed=yes; printf '%s\n' "$1"; }
is_running() { [ -z "$root" ] && [ -d /run/systemd/system ]; }

# own_file PATH TEXT WHY: a file that is ours alone.
own_file() {
  file=$root$1
  if [ -n "$undo" ]; then
    [ -f "$file" ] && grep -q '^# comanda:' "$file" || return 0
    rm "$file"
    rmdir "$(dirname "$file")" 2>/dev/null || true
    say "removed $1"
    return
  fi
  wanted=$(printf '# comanda: %s; board/setup --undo removes this file.\n%s' "$3" "$2")
  [ ! -f "$file" ] || [ "$(cat "$file")" != "$wanted" ] || return 0
  mkdir -p "$(dirname "$file")"
  printf '%s\n' "$wanted" >"$file"
  say "wrote $1: $3"
}

# ends_in_newline FILE: whether its last line does; an empty file counts as one.
ends_in_newline() { [ -z "$(tail -c 1 "$1")" ]; }

# replace FILE: takes the new text from standard input; the owner and mode of the file stay, and a last line without a
# newline stays without one.
replace() {
  if ends_in_newline "$1"; then cat; else printf '%s' "$(cat)"; fi >"$1.comanda-new"
  if cmp -s "$1.comanda-new" "$1"; then
    rm "$1.comanda-new"
    return 1
  fi
  cat "$1.comanda-new" >"$1"
  rm "$1.comanda-new"
}

watchdog() { # SECONDS, of which the hardware must be capable
  own_file /etc/systemd/system.conf.d/50-comanda.conf "[Manager]
RuntimeWatchdogSec=$1
RebootWatchdogSec=2min" "the hardware's watchdog restarts a machine that hangs for $1"
}

journal() {
  own_file /etc/systemd/journald.conf.d/50-comanda.conf "[Journal]
SystemMaxUse=64M
RuntimeMaxUse=16M" "the journal has at most 64 MiB"
}

time_server() {
  [ -n "$ntp$undo" ] || return 0
  own_file /etc/systemd/timesyncd.conf.d/50-comanda.conf "[Time]
NTP=$ntp" "the time comes from ${ntp:-}"
}

module() { # NAME WHY
  own_file "/etc/modules-load.d/comanda-$1.conf" "$1" "$2"
}

# File systems in /etc/fstab get noatime; $state/noatime has the mount points that did not have it.
noatime() {
  fstab=$root/etc/fstab
  [ -f "$fstab" ] || return 0
  if [ -n "$undo" ]; then
    [ -f "$state/noatime" ] || return 0
    # By the environment: awk would read the \040 of a blank in a mount point as an escape in a -v.
    list=$(cat "$state/noatime") awk 'BEGIN { n = split(ENVIRON["list"], one, "\n"); for (i = 1; i <= n; i++) ours[one[i]] = 1 }
      !/^[ \t]*#/ && NF >= 4 && $2 in ours { sub(/,noatime/, "") } { print }' "$fstab" |
      replace "$fstab" && say "/etc/fstab: noatime taken back at $(tr '\n' ' ' <"$state/noatime")"
    rm "$state/noatime"
    return 0
  fi
  points=$(awk '!/^[ \t]*#/ && NF >= 4 && $3 ~ /^(ext4|xfs|btrfs|f2fs)$/ && ("," $4 ",") !~ /,noatime,/ { print $2 }' "$fstab")
  [ -n "$points" ] || return 0
  mkdir -p "$state"
  printf '%s\n' "$points" >>"$state/noatime"
  # Only the fourth field changes; the blanks between the fields stay.
  awk '!/^[ \t]*#/ && NF >= 4 && $3 ~ /^(ext4|xfs|btrfs|f2fs)$/ && ("," $4 ",") !~ /,noatime,/ {
      match($0, /^[ \t]*[^ \t]+[ \t]+[^ \t]+[ \t]+[^ \t]+[ \t]+[^ \t]+/)
      print substr($0, 1, RLENGTH) ",noatime" substr($0, RLENGTH + 1)
      next
    } { print }' "$fstab" | replace "$fstab"
  say "/etc/fstab: noatime at $(printf '%s\n' "$points" | tr '\n' ' ')(reading a file writes nothing)"
  if is_running; then
    for point in $points; do mount -o remount,noatime "$(printf '%b' "$point")" || true; done
  fi
}

# Swap on flash wears it and makes a full memory slow; zram stays.
no_swap_on_flash() {
  fstab=$root/etc/fstab
  if [ -f "$fstab" ]; then
    if [ -n "$undo" ]; then
      sed 's/^#comanda# //' "$fstab" | replace "$fstab" && say "/etc/fstab: swap is back" || true
    else
      awk '!/^[ \t]*#/ && $3 == "swap" && $1 !~ /zram/ { print "#comanda# " $0; next } { print }' "$fstab" |
        replace "$fstab" && say "/etc/fstab: swap is off" || true
    fi
  fi
  unit=$root/etc/systemd/system/dphys-swapfile.service
  if [ -n "$undo" ]; then
    if [ -f "$state/dphys-swapfile" ]; then
      rm -f "$unit" "$state/dphys-swapfile"
      say "dphys-swapfile: unmasked"
    fi
  elif [ -e "$root/usr/lib/systemd/system/dphys-swapfile.service" ] || [ -e "$root/lib/systemd/system/dphys-swapfile.service" ]; then
    if [ ! -e "$unit" ] && [ ! -L "$unit" ]; then
      mkdir -p "$state" "$(dirname "$unit")"
      touch "$state/dphys-swapfile"
      ln -s /dev/null "$unit"
      say "dphys-swapfile: masked (the swap file of Raspberry Pi OS 12 and before)"
    fi
  fi
  if [ -n "$undo" ] || [ -e "$root/etc/rpi/swap.conf" ]; then
    own_file /etc/rpi/swap.conf.d/50-comanda.conf "[Main]
Mechanism=zram" "swap in compressed memory alone (Raspberry Pi OS 13)"
  fi
  if is_running && [ -z "$undo" ]; then
    awk 'NR > 1 && $1 !~ /zram/ { print $1 }' /proc/swaps | while read -r one; do swapoff "$one" || true; done
  fi
}

# boot_line LINE WHY: a line of the firmware's config.txt, in a block of our own at its end. Where the last line before had
# no newline, $state/no-newline has the number of lines that the file had then.
boot_line() {
  for config in "$root/boot/firmware/config.txt" "$root/boot/config.txt"; do
    [ -f "$config" ] && [ ! -L "$config" ] || continue
    if [ -n "$undo" ]; then
      grep -q '^# comanda:' "$config" || return 0
      awk '/^# comanda:/ { skip = 3 } skip > 0 { skip--; next } { print }' "$config" | replace "$config"
      # Not where the owner has written below the block since.
      if [ -f "$state/no-newline" ] && [ "$(wc -l <"$config")" = "$(cat "$state/no-newline")" ]; then
        printf '%s' "$(cat "$config")" | replace "$config"
      fi
      rm -f "$state/no-newline"
      say "${config#"$root"}: $1 taken back"
      return 0
    fi
    ! grep -qxF "$1" "$config" || return 0
    if ! ends_in_newline "$config"; then
      echo >>"$config"
      mkdir -p "$state"
      wc -l <"$config" >"$state/no-newline"
    fi
    printf '# comanda: %s\n[all]\n%s\n' "$2" "$1" >>"$config"
    say "${config#"$root"}: $1 ($2)"
    return 0
  done
}

finish() {
  [ -z "$undo" ] || rmdir "$state" 2>/dev/null || true
  if [ -z "$changed" ]; then
    echo "nothing to change"
    return
  fi
  if is_running; then
    systemctl daemon-reload
    systemctl daemon-reexec
    systemctl restart systemd-journald
    systemctl try-restart systemd-timesyncd 2>/dev/null || true
  fi
  echo "done; what concerns the firmware, modules and mounts is in force after a restart"
}
