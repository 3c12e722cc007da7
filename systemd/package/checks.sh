data=/var/lib/comanda
backups=/var/backups/comanda

# header FILE OFFSET COUNT: bytes of a file in hexadecimal.
header() { od -A n -v -t x1 -j "$2" -N "$3" "$1" 2>/dev/null | tr -d ' \n'; }

# refuse_later_databases SCHEMA: fails if a database has a later schema than the program to be installed. Reads the
# application id (CMDA in use, CMDB a backup) and the schema's number in the header of SQLite's file, which an upgrade
# has written there before the server serves.
refuse_later_databases() {
  for database in live test; do
    file=$data/$database.db
    [ -f "$file" ] || continue
    case $(header "$file" 68 4) in 434d4441 | 434d4442) ;; *) continue ;; esac
    found=$((0x$(header "$file" 60 4)))
    [ "$found" -gt "$1" ] || continue
    echo "comanda: $file has schema $found, and the program to be installed knows $1 and earlier ones." >&2
    echo "comanda: Nothing was changed. /usr/share/doc/comanda/systemd/README.md says how (Go back to the former version)." >&2
    return 1
  done
}

# make_backups_directory: the one that the setting backup_to names by default, for the service's user alone.
make_backups_directory() {
  [ -e "$backups" ] || install -d -m 700 -o comanda -g comanda "$backups"
}

# check_program PROGRAM: whether the program can use the settings and databases that are there. Runs it as the service's
# user, so that no file becomes root's. The reason is on stderr.
check_program() {
  if getent passwd comanda >/dev/null; then
    setpriv --reuid=comanda --regid=comanda --init-groups "$1" config check --data "$data" >/dev/null
  else
    "$1" config check --data "$data" >/dev/null
  fi
}
