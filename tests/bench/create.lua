-- New orders, each under an Idempotency-Key of its own. Argument: a word that no other run has.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")

local threads = 0
function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

local BODY = '{"service_type":"ONSITE","order_title":"Mesa 4","comment":"sin cebolla"}'
local prefix, made = "", 0

function init(args)
  prefix = args[1] .. "-" .. number .. "-"
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  made = made + 1
  wrk.headers["Idempotency-Key"] = prefix .. made
  return wrk.format(nil, nil, nil, BODY)
end
