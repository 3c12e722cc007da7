# Writes the source that holds files of a room, declared in src/<room>/embedded.h:
#   cmake -DROOM=web "-DFILES=DocsHtml=docs.html DocsJs=docs.js" "-DMIGRATIONS=0001_x.sql" -DOUTPUT=FILE.cc -P scripts/embed.cmake
# "Function=a.css+b.css" joins files. A file "made:NAME" is beside OUTPUT: an earlier step of the build has made it, and it is embedded as it is. Each file becomes a function that returns its text, and a function <Function>Gzip that returns it compressed, as
# it is stored. The files of MIGRATIONS, in migrations/ of the room or a folder of it, become Migrations(), in the order of their
# names.
get_filename_component(folder "${CMAKE_CURRENT_LIST_DIR}/../src/${ROOM}" ABSOLUTE)

# bytes(<name> <file>): appends an array <name> with the gzipped content of the file. From JSON, line ends and indentation
# are removed, which cannot occur inside of strings. From scripts and style sheets, indentation and lines that are comments;
# not from a script with texts of several lines (String.raw), which have both.
function(bytes name file)
  if(file MATCHES "^made:(.*)$")
    get_filename_component(made "${OUTPUT}" DIRECTORY)
    set(file "${made}/${CMAKE_MATCH_1}")
  elseif(file MATCHES "[.]json$")
    file(READ "${file}" text)
    string(REGEX REPLACE "\n *" "" text "${text}")
    file(WRITE "${OUTPUT}.json" "${text}")
    set(file "${OUTPUT}.json")
  elseif(file MATCHES "[.](js|css)$")
    set(text "")
    string(REPLACE "+" ";" parts "${file}")
    foreach(part IN LISTS parts)
      file(READ "${part}" part_text)
      string(APPEND text "${part_text}")
    endforeach()
    if(NOT text MATCHES "String[.]raw")
      string(REGEX REPLACE "\n *(//[^\n]*|/[*][^\n]*[*]/)?" "\n" text "${text}")
      string(REGEX REPLACE "\n\n+" "\n" text "${text}")
    endif()
    file(WRITE "${OUTPUT}.text" "${text}")
    set(file "${OUTPUT}.text")
  endif()
  execute_process(COMMAND gzip -9nc "${file}" OUTPUT_FILE "${OUTPUT}.gz" COMMAND_ERROR_IS_FATAL ANY)
  file(READ "${OUTPUT}.gz" hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND source "constexpr unsigned char ${name}[] = {\n${hex}};\n\n")
  set(source "${source}" PARENT_SCOPE)
endfunction()

set(source "// Made by scripts/embed.cmake.\n#include \"${ROOM}/embedded.h\"\n\n#include <string>\n\n#include \"base/gzip.h\"\n\n")
string(APPEND source "namespace comanda::${ROOM} {\nnamespace {\n\n")

set(functions "")
separate_arguments(FILES)
foreach(entry IN LISTS FILES)
  if(NOT entry MATCHES "^([A-Za-z]+)=(made:)?([A-Za-z0-9_./+]+)$")
    message(FATAL_ERROR "${entry} must be Function=file")
  endif()
  set(function "${CMAKE_MATCH_1}")
  if(CMAKE_MATCH_2)
    set(file "made:${CMAKE_MATCH_3}")
  else()
    string(REPLACE "+" "+${folder}/" file "${folder}/${CMAKE_MATCH_3}")
  endif()
  bytes(k${function} "${file}")
  string(APPEND functions "std::string_view ${function}() { return Text<k${function}>(); }\n"
    "std::string_view ${function}Gzip() { return Bytes<k${function}>(); }\n\n")
endforeach()

separate_arguments(migrations UNIX_COMMAND "${MIGRATIONS}")
list(TRANSFORM migrations PREPEND "${folder}/migrations/")
list(SORT migrations COMPARE FILE_BASENAME)
set(rows "")
set(offset 0)
foreach(migration IN LISTS migrations)
  get_filename_component(name "${migration}" NAME_WE)
  if(NOT name MATCHES "^([0-9][0-9][0-9][0-9])_[a-z0-9_]+$")
    message(FATAL_ERROR "${migration} must be called NNNN_name.sql")
  endif()
  string(REGEX REPLACE "^0+" "" number "${CMAKE_MATCH_1}")
  file(SIZE "${migration}" size)
  string(APPEND rows
    "      {.number = ${number}, .name = \"${name}\", .sql = all.substr(${offset}, ${size})},\n")
  math(EXPR offset "${offset} + ${size}")
endforeach()
if(rows)
  # All are read at once: compressed together they are a quarter smaller.
  execute_process(COMMAND cat ${migrations} OUTPUT_FILE "${OUTPUT}.sql" COMMAND_ERROR_IS_FATAL ANY)
  bytes(kMigrations "${OUTPUT}.sql")
  string(APPEND functions "const std::vector<db::Migration>& Migrations() {
  const std::string_view all = Text<kMigrations>();
  static const std::vector<db::Migration> migrations = {
${rows}  };
  return migrations;
}

")
endif()

string(APPEND source "// Kept compressed, read at the first use.
template <const auto& kFile>
std::string_view Text() {
  static const std::string kText = Gunzip(kFile);
  return kText;
}

template <const auto& kFile>
std::string_view Bytes() {
  return {reinterpret_cast<const char*>(kFile), sizeof(kFile)};
}

}  // namespace

${functions}}  // namespace comanda::${ROOM}
")
file(WRITE "${OUTPUT}" "${source}")
