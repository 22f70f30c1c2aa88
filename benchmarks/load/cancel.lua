-- Cancels another invoice with each request: wrk ... -- KEY FILE_OF_IDS TAG
dofile("benchmarks/load/report.lua")

local ids = {}
local tag
local count = 0

function init(args)
  wrk.method = "POST"
  wrk.headers["Authorization"] = "Bearer " .. args[1]
  for id in io.lines(args[2]) do
    ids[#ids + 1] = id
  end
  tag = args[3]
end

-- Past the last id the path names no invoice, and the run fails: prepare more of them.
function request()
  count = count + 1
  wrk.headers["Idempotency-Key"] = tag .. "-" .. count
  return wrk.format(nil, "/v1/invoices/" .. (ids[count] or "none-left") .. "/cancel")
end
