#pragma once

// The names of IANA time zones. tzdata keeps in its file `backward` the names of zones that have
// another name today: America/Buenos_Aires is America/Argentina/Buenos_Aires. Debian 13 moved the
// data of many such names to the package tzdata-legacy, while browsers and older systems go on
// using them. Pure functions.

#include <string_view>
#include <vector>

namespace comanda {

struct ZoneLink {
  std::string_view name;    // the old name
  std::string_view target;  // today's name
};

// Today's name of the zone. A name that is not in `backward`, or is no zone, stays as it is.
std::string_view CanonicalZoneName(std::string_view name);

// The other names of the zone, today's first.
std::vector<std::string_view> OtherZoneNames(std::string_view name);

// Whether it is a name, today's or an old one, of a zone that was there when this program was made.
bool IsKnownZoneName(std::string_view name);

// Today's name of the zone whose city is that text, or whose name is most like it; empty where none
// is.
std::string_view NearestZoneName(std::string_view text);

}  // namespace comanda
