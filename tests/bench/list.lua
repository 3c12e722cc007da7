-- GETs of a list of paths in turns. Argument: the file with a path on each line. One thread only.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")

local paths, position = {}, 0

function init(args)
  for path in io.lines(args[1]) do paths[#paths + 1] = path end
end

function request()
  position = position % #paths + 1
  return wrk.format(nil, paths[position])
end
