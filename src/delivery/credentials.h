#pragma once

// DIR/credentials/<company>/<app>.json: what an app gave the restaurant to call it with, 0600. It
// is never in the database, a log, an answer or a backup. The file names the hosts for which it was
// added: a provider that names others gets no credentials until they are added again, so that a
// file put into providers.d does not carry them elsewhere.
//
// A file <app>.json in $CREDENTIALS_DIRECTORY (systemd, LoadCredential) comes before it: the object
// that `comanda provider add --from` takes, for whatever hosts the provider names.
//
// Functions throw Fault on an I/O error. Any thread.

#include <optional>
#include <string>
#include <string_view>

#include "delivery/provider.h"
#include "delivery/status/rules.h"

namespace comanda::delivery {

// Where the credentials of a company are.
struct CredentialsPlace {
  std::string data_directory;
  std::string company_uuid;
};

// The values of a provider's credentials. Nothing where there are none, one is missing, or the
// provider calls a host for which they were not added; `why`, if given, then says which.
std::optional<Variables> FindCredentials(const CredentialsPlace& place, const Provider& provider,
                                         std::string* why = nullptr);
// Replaces the file atomically; it is on disk when this returns.
void PutCredentials(const CredentialsPlace& place, const Provider& provider,
                    const Variables& credentials);
// False where there was no file.
bool RemoveCredentials(const CredentialsPlace& place, std::string_view app);

// The other app of the company whose file holds the same credentials; empty: none.
std::string AppWithSame(const CredentialsPlace& place, const Provider& provider,
                        const Variables& credentials);

// The text without what must not be seen: each secret of four characters or more is "***", as it
// is and as it stands in a URL.
std::string Masked(std::string_view text, const Provider& provider, const Variables& variables);

}  // namespace comanda::delivery
