-- The same GET again and again; its headers come from wrk's command line.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")
