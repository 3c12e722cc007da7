-- A write to an order of a list, and the page that follows it: a PATCH and a GET in turns. Arguments: the file with
-- an order's id on each line, a word that no other run has, and "alone" for the writes without the page. One
-- thread and one connection only.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")

local ids, made, reads, word, alone = {}, 0, false

function init(args)
  for id in io.lines(args[1]) do ids[#ids + 1] = id end
  word, alone = args[2], args[3] == "alone"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  reads = not reads and made > 0 and not alone
  if reads then return wrk.format("GET") end
  made = made + 1
  local body = string.format('{"order_title":"%s %d"}', word, made)
  return wrk.format("PATCH", "/v1/orders/" .. ids[made % #ids + 1], nil, body)
end
