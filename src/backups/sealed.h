#pragma once

// A sealed backup: the directory of a plain one as a single file, encrypted with a passphrase. It
// can lie on a disk that may be lost or read by others.
//
//   bytes
//   16   "comanda-sealed-1"
//    4   passes of Argon2id       4   its memory in KiB     (little-endian, as all numbers here)
//   16   salt
//   24   header of the stream (crypto/secret_stream.h)
//   17   a message without content, authenticated together with all bytes before it: if it is
//        refused, the passphrase is wrong or those bytes were changed
//        messages of 65,536 bytes of content each, the last one shorter and marked as the last
//
// The content of the messages, joined, is a list of entries, directories before what is in them:
//
//   'D'  length of the path (2), path
//   'F'  length of the path (2), path, length of the content (8), content
//   'E'  number of the entries before it (4): the end
//
// All functions block for as long as reading and writing take, and need memory for a message and
// for deriving the key, however large the backup is.

#include <cstdint>
#include <map>
#include <string>

#include "base/handle.h"
#include "crypto/secret_stream.h"

namespace comanda::backups {

// Makes the file `file`, of mode 0600 and on disk, from a directory of files and directories.
// Returns it open and locked (flock): while it is, nobody removes it as what an interrupted backup
// left (unfinished_backup.h). Fault if that fails; an incomplete file may then remain.
Fd Seal(const std::string& directory, const std::string& file, const std::string& passphrase,
        const crypto::KeyCost& cost = {});

// Writes the content of a sealed backup into an empty directory of the caller's, who deletes it
// where this throws: files are 0600, directories 0700, and files are on disk. Refusal if the
// passphrase is wrong, a byte of the file was changed, or the file was cut or is no sealed backup.
// Fault if the disk fails or is full.
void UnsealInto(const std::string& file, const std::string& directory,
                const std::string& passphrase);

// Reads the whole file as UnsealInto() does, and writes nothing. Returns the BLAKE2b of each file
// in it (crypto::Blake2b), by its path. Throws like UnsealInto().
std::map<std::string, std::string> ReadSealed(const std::string& file,
                                              const std::string& passphrase);

// True if the file begins as a sealed backup does. False also if it cannot be read.
bool IsSealed(const std::string& file);

// The passphrase in a file: its first line. Refusal if there is no such file, if others than its
// owner may read it, or if the line is shorter than eight characters.
std::string ReadPassphrase(const std::string& file);

}  // namespace comanda::backups
