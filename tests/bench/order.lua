-- Whole orders: a create, then one POST of three items to it, in turns. Arguments: a word that no other run has; the
-- file with the body of the POST of items. One thread only: the order that any connection made, any may fill.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")

local ORDER = '{"service_type":"ONSITE","order_title":"Mesa 4","comment":"sin cebolla"}'
local prefix, items, made, empty = "", "", 0, {}

function init(args)
  prefix = args[1] .. "-"
  items = io.open(args[2]):read("*a")
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  made = made + 1
  wrk.headers["Idempotency-Key"] = prefix .. made
  local order = table.remove(empty)
  if order then return wrk.format(nil, order .. "/combos", nil, items) end
  return wrk.format(nil, "/v1/orders", nil, ORDER)
end

function response(status, headers)
  for name, value in pairs(headers) do
    if name:lower() == "location" then empty[#empty + 1] = value end
  end
end
