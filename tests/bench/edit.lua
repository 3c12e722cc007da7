-- One POST to each order of a list, in turns. Arguments: the file with an order's id on each line, what
-- stands behind the id in the path, the body. One thread only.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")

local ids, suffix, body, position = {}, "", "", 0

function init(args)
  for id in io.lines(args[1]) do ids[#ids + 1] = id end
  suffix, body = args[2], args[3]
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  position = position % #ids + 1
  return wrk.format(nil, "/v1/orders/" .. ids[position] .. suffix, nil, body)
end
