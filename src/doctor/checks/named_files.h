#pragma once

// The files that settings name, as the service finds them: it runs as the owner of the data
// directory, and its unit hides some directories from it.

#include <functional>
#include <optional>
#include <string>

#include "doctor/box.h"
#include "doctor/finding.h"

namespace comanda::doctor {

// A finding for each file that the service cannot use, because it is missing, unreadable for it or
// not what the setting needs; `check` is the name of the setting. kBroken where the server does not
// start without it. Looks as the owner of the data directory, in a process of its own; call it
// while there is one thread. Another user than root and the owner finds nothing. Blocks for some
// seconds at most.
Findings NamedFiles(const Box& box);

// Runs `work` as the owner of the data directory; in a process of its own. Nothing where this is
// neither root nor the owner, or the work does not end within some seconds or throws.
std::optional<std::string> AsOwner(const Box& box, const std::function<std::string()>& work);

// The first directory above the path that this process may not enter; empty if there is none.
std::string ClosedAbove(const std::string& path);

// The commands that make backups sealed, with a passphrase that is made if there is none yet.
std::string HowToSeal(const Box& box);

// "comanda"; the user that an advice is for.
std::string NameOfOwner(const Box& box);

}  // namespace comanda::doctor
