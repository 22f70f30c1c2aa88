-- Creates a new invoice with each request: wrk ... -- KEY METHOD_ID TAG
dofile("benchmarks/load/report.lua")

local template = '{"external_order_id":"%s","attempt_no":1,"amount":"12.50","payment_method_id":"%s"}'
local method_id, tag
local count = 0

function init(args)
  wrk.method = "POST"
  wrk.headers["Authorization"] = "Bearer " .. args[1]
  wrk.headers["Content-Type"] = "application/json"
  method_id, tag = args[2], args[3]
end

function request()
  count = count + 1
  local name = tag .. "-" .. count
  wrk.headers["Idempotency-Key"] = name
  return wrk.format(nil, nil, nil, template:format(name, method_id))
end
