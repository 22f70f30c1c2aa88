-- Two requests in turn: wrk ... -- METHOD BODY METHOD BODY [NAME VALUE]...
-- With one connection the second always follows the first, so that each one has something to do.
dofile("benchmarks/load/report.lua")

local requests = {}
local turn = 0

function init(args)
  for position = 5, #args, 2 do
    wrk.headers[args[position]] = args[position + 1]
  end
  requests[1] = wrk.format(args[1], nil, nil, args[2])
  requests[2] = wrk.format(args[3], nil, nil, args[4])
end

function request()
  turn = turn + 1
  return requests[(turn - 1) % 2 + 1]
end
