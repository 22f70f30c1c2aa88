-- Sends one fixed request again and again: wrk ... -- METHOD BODY [NAME VALUE]...
dofile("benchmarks/load/report.lua")

function init(args)
  wrk.method = args[1]
  if args[2] ~= "" then
    wrk.body = args[2]
  end
  for position = 3, #args, 2 do
    wrk.headers[args[position]] = args[position + 1]
  end
end
