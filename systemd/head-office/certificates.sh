#!/bin/sh
# Makes an authority for the machines of a head office, and a certificate for each of them:
#   sh certificates.sh NAME=ADDRESS…
# In the directory NAME: ca.crt, node.crt and node.key, for /etc/head-office of that machine. ca.key beside the directories can
# make others: keep it elsewhere.
set -eu
umask 077
[ $# -gt 0 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }

if [ ! -e ca.key ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 7300 -subj '/CN=Head office' \
    -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' -addext 'keyUsage=critical,keyCertSign,cRLSign' -keyout ca.key -out ca.crt
fi
for machine in "$@"; do
  name=${machine%%=*} address=${machine#*=}
  mkdir -p "$name"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" -keyout "$name/node.key" -out "$name/node.csr"
  # Each is server and client of the others.
  printf 'subjectAltName=DNS:%s,IP:%s\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=critical,CA:FALSE\n' "$name" "$address" >"$name/extensions"
  openssl x509 -req -in "$name/node.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile "$name/extensions" -out "$name/node.crt"
  cp ca.crt "$name/"
  rm "$name/node.csr" "$name/extensions"
done
