-- Requests that name something. Arguments: the kind (KINDS), then the word that every name begins with; "different" names
-- another one each time, "equal" always the same.
local kind, word, is_different, count = nil, "", true, 0
local JSON = "application/json"

local function get(path, headers) return "GET", path, headers end
local function order(fields, body) fields["Content-Type"] = JSON return "POST", "/v1/orders", fields, body end

KINDS = {
  ["time zone"] = function(n) return get("/v1/orders/by-tips?timezone=America/" .. n) end,
  ["path"] = function(n) return get("/v1/" .. n) end,
  ["order"] = function(n) return get("/v1/orders/PE-" .. n) end,
  ["problem page"] = function(n) return get("/problems/" .. n) end,
  ["query parameter"] = function(n) return get("/v1/orders?" .. n .. "=1") end,
  ["filter"] = function(n) return get("/v1/orders?filter[" .. n .. "]=1") end,
  ["filter value"] = function(n) return get("/v1/orders?filter[reference]=" .. n) end,
  ["status"] = function(n) return get("/v1/orders?filter[status]=" .. n) end,
  ["sort"] = function(n) return get("/v1/orders?sort=" .. n) end,
  ["search"] = function(n) return get("/v1/clients?filter[search]=" .. n) end,
  ["cursor"] = function(n) return get("/v1/events?after=" .. n) end,
  ["header"] = function(n) return get("/healthz", { ["X-" .. n] = "1" }) end,
  ["User-Agent"] = function(n) return get("/v1/company", { ["User-Agent"] = n }) end,
  ["Accept"] = function(n) return get("/v1/company", { ["Accept"] = "application/json, text/" .. n }) end,
  ["Accept-Encoding"] = function(n) return get("/v1/orders", { ["Accept-Encoding"] = "gzip, " .. n }) end,
  ["Prefer"] = function(n) return get("/v1/orders", { ["Prefer"] = n .. "=5" }) end,
  ["If-None-Match"] = function(n) return get("/v1/orders", { ["If-None-Match"] = '"' .. n .. '"' }) end,
  ["X-Request-Id"] = function(n) return get("/v1/company", { ["X-Request-Id"] = n }) end,
  ["Origin"] = function(n) return get("/v1/company", { ["Origin"] = "https://" .. n .. ".example" }) end,
  ["preflight"] = function(n)
    return "OPTIONS", "/v1/orders", { ["Origin"] = "https://" .. n .. ".example", ["Access-Control-Request-Headers"] = n }
  end,
  ["Host"] = function(n) return get("/v1/company", { ["Host"] = n .. ".example" }) end,
  ["unknown key"] = function(n) return get("/v1/orders", { ["Authorization"] = "Bearer cmd_live_" .. n }) end,
  ["Content-Type"] = function(n) return "POST", "/v1/orders", { ["Content-Type"] = "text/" .. n }, "{}" end,
  ["If-Match"] = function(n)
    return "PATCH", "/v1/orders/PE-1000000000", { ["If-Match"] = '"' .. n .. '"', ["Content-Type"] = JSON }, '{"comment":"x"}'
  end,
  ["Idempotency-Key"] = function(n) return order({ ["Idempotency-Key"] = n }, '{"service_type":"NONE"}') end,
  ["unknown field"] = function(n)
    return order({ ["Idempotency-Key"] = "fields" }, '{"' .. n .. '":1,"service_type":"NONE"}')
  end,
  ["unknown id"] = function(n)
    return order({ ["Idempotency-Key"] = "ids" }, '{"service_type":"ONSITE","client_id":"' .. n .. '"}')
  end,
}

function init(args)
  kind, word = KINDS[args[1]], args[2]
  is_different = args[3] == "different"
end

function request()
  count = count + 1
  local method, path, headers, body = kind(string.format("%s%012d", word, is_different and count or 0))
  headers = headers or {}
  headers["Authorization"] = headers["Authorization"] or wrk.headers["Authorization"]
  return wrk.format(method, path, headers, body)
end

function response(status)
  if status >= 500 and status ~= 501 then io.stderr:write("status ", status, "\n") end
end

function done(summary)
  io.write(summary.requests, "\n")
end
