#pragma once

// Who makes a request: the holder of a key, the command line, or nobody in particular (open
// routes).

#include <memory>

#include "auth/gate.h"
#include "auth/key.h"
#include "http/route.h"
#include "http/site.h"
#include "wire/exchange.h"

namespace comanda::http {

class Caller {
 public:
  // Admits the caller of the request (contract section 1, Order of checks): credentials, then rate,
  // then scope. Of the command line: finds the company it means. Throws Refusal: unauthorized and
  // the other refusals of auth::Gate, rate_limit_exceeded, insufficient_scope; not_found for a
  // route of the command line alone. After rate_limit_exceeded and insufficient_scope permit() is
  // set, and the rate is shown with the refusal.
  void Admit(Site& site, wire::Exchange& exchange, const Route& route);
  // Checks the credentials again after a wait. Throws as Admit() where the key was revoked, has
  // expired or has lost the scope; otherwise principal() has the scopes that the key has now.
  void Renew(Site& site, const wire::Request& request, const Route& route);
  // Whether the key has been changed since Admit(); false where there is none.
  bool KeyHasChanged(const Site& site) const;

  const auth::Principal& principal() const { return principal_; }
  // The place of this request among those of its key that are under way. Null where there is no
  // key.
  const std::shared_ptr<auth::Permit>& permit() const { return permit_; }

 private:
  auth::Principal principal_;
  std::shared_ptr<auth::Permit> permit_;
};

}  // namespace comanda::http
