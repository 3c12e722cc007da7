-- The same page, but each time under an address that nobody has asked for: other characters of its query are
-- percent-encoded. Argument: a number below those of all other runs by hundreds of thousands.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")

local number, path, query

function init(arguments)
  number = tonumber(arguments[1])
  path, query = wrk.path:match("^([^?]*%?)(.*)$")
end

function request()
  number = number + 1
  local rest = number
  local written = query:gsub("%w", function(sign)
    local odd = rest % 2
    rest = (rest - odd) / 2
    return odd == 1 and string.format("%%%02X", sign:byte()) or nil
  end)
  return wrk.format("GET", path .. written)
end
