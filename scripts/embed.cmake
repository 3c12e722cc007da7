# Writes the source that holds src/app/demo.json and src/app/migrations/*.sql, declared in
# src/app/embedded.h:  cmake -DSOURCE=src/app -DOUTPUT=FILE.cc -P scripts/embed.cmake

# bytes(<name> <file>): appends an array of that name with what the file holds, in JSON without the
# line ends and indentation: inside of its strings neither can be.
function(bytes name file)
  if(file MATCHES "[.]json$")
    file(READ "${file}" text)
    string(REGEX REPLACE "\n *" "" text "${text}")
    file(WRITE "${OUTPUT}.json" "${text}")
    set(file "${OUTPUT}.json")
  endif()
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND source "constexpr unsigned char ${name}[] = {\n${hex}};\n\n")
  set(source "${source}" PARENT_SCOPE)
endfunction()

set(source "// Made by scripts/embed.cmake.\n#include \"app/embedded.h\"\n\n")
string(APPEND source "namespace comanda::app {\nnamespace {\n\n")
bytes(kDemo "${SOURCE}/demo.json")

file(GLOB migrations "${SOURCE}/migrations/*.sql")
list(SORT migrations)
set(rows "")
foreach(migration IN LISTS migrations)
  get_filename_component(name "${migration}" NAME_WE)
  if(NOT name MATCHES "^([0-9][0-9][0-9][0-9])_[a-z0-9_]+$")
    message(FATAL_ERROR "${migration} must be called NNNN_name.sql")
  endif()
  string(REGEX REPLACE "^0+" "" number "${CMAKE_MATCH_1}")
  bytes(kMigration${number} "${migration}")
  string(APPEND rows
    "      {.number = ${number}, .name = \"${name}\", .sql = Text(kMigration${number})},\n")
endforeach()

string(APPEND source "template <size_t kSize>
std::string_view Text(const unsigned char (&bytes)[kSize]) {
  return {reinterpret_cast<const char*>(bytes), kSize};
}

}  // namespace

std::string_view DemoJson() { return Text(kDemo); }

const std::vector<db::Migration>& Migrations() {
  static const std::vector<db::Migration> kMigrations = {
${rows}  };
  return kMigrations;
}

}  // namespace comanda::app
")
file(WRITE "${OUTPUT}" "${source}")
