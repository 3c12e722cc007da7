-- The same page, but each time as an address of its own, so that nobody has asked for it before. Argument: a number
-- below those of all other runs by ten millions.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")

local number, page

function init(arguments)
  number, page = tonumber(arguments[1]), wrk.path
end

function request()
  number = number + 1
  return wrk.format("GET", string.format("%s&filter[snapshot]=%d", page, number))
end
