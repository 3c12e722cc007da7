-- Mixed requests as tills, a kitchen and a back office send them. Arguments: a word that no other run has.
local threads = 0
function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

local prefix, count, waiting = "", 0, {}
local JSON = { ["Content-Type"] = "application/json" }

-- The life of an order, a step at each turn.
local STEPS = {
  { "POST", "/combos", '{"combos":[{"product_name":"Jalea","quantity":2,"variant_price":24.5}]}' },
  { "PATCH", "/status", '{"status":"PREPARING"}' },
  { "POST", "/discounts", '{"type":"PERCENTAGE","value":10}' },
  { "POST", "/payments", '{"payment_method_code":"cash","amount":44.1,"tip_amount":2}' },
  { "PATCH", "/status", '{"status":"FINALIZED"}' },
  { "GET", "" },
}
local READS = {
  "/v1/orders?per_page=20", "/v1/orders?filter[status]=PENDING,PREPARING&per_page=50", "/v1/menu", "/v1/company",
  "/v1/events?per_page=20", "/v1/orders/by-payment-methods", "/v1/clients?per_page=20", "/healthz",
}
local MISTAKES = { "/v1/orders?page[size]=3", "/v1/orders/not-an-id", "/v1/nothing", "/v1/orders?per_page=1000" }

function init(args)
  prefix = args[1] .. "-" .. number .. "-"
end

local function write(method, path, body, key)
  return wrk.format(method, path, { ["Content-Type"] = "application/json", ["Idempotency-Key"] = key,
                                    ["Authorization"] = wrk.headers["Authorization"] }, body)
end

function request()
  count = count + 1
  local turn = count % 10
  if turn < 4 then
    return wrk.format("GET", READS[count % #READS + 1])
  elseif turn == 4 and count % 50 == 4 then
    return wrk.format("GET", MISTAKES[count % #MISTAKES + 1])
  elseif turn == 5 and count % 100 == 5 then
    return write("PUT", "/v1/menu/products", string.format(
      '{"products":[{"sku":"soak","name":"Soak","category_name":"Soak","price":%d}]}', count % 90 + 1), prefix .. count)
  end
  local order = table.remove(waiting)
  if order == nil then
    return write("POST", "/v1/orders", '{"service_type":"ONSITE","comment":"sin cebolla"}', prefix .. count)
  end
  local step = STEPS[order.step]
  order.step = order.step + 1
  if order.step <= #STEPS then waiting[#waiting + 1] = order end
  local path = "/v1/orders/" .. order.id .. step[2]
  if step[1] == "GET" then return wrk.format("GET", path) end
  return write(step[1], path, step[3], prefix .. count)
end

function response(status, headers, body)
  if status == 201 then
    waiting[#waiting + 1] = { id = body:match('"id":"([%x-]+)"'), step = 1 }
  elseif status >= 500 then
    io.stderr:write("status ", status, ": ", body, "\n")
  end
end

function done(summary, latency)
  local errors = summary.errors
  -- Not errors.connect: on a busy machine a handshake may take longer than the server waits for it.
  io.write(string.format('{"requests":%d,"lost":%d}\n', summary.requests, errors.read + errors.write + errors.timeout))
end
