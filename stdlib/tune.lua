-- wg.tune: finds the options that make a kernel fastest by measuring them.

return function(wg, internal)
  local fail, options, written = internal.fail, internal.options, internal.written

  local function merged(a, b)
    local out = {}
    for key, value in pairs(a) do out[key] = value end
    for key, value in pairs(b) do out[key] = value end
    return out
  end

  -- Every combination of the values of a space { option = { value, ... }, ... }; the last option by name varies first.
  local function combinations(space)
    if type(space) ~= "table" then fail "wg.tune: `space` must be a table of lists: { stages = { 2, 3, 4 } }" end
    local names = {}
    for name, values in pairs(space) do
      if type(name) ~= "string" or type(values) ~= "table" or #values == 0 then
        fail(("wg.tune, space: `%s` must be a list of values"):format(tostring(name)))
      end
      names[#names + 1] = name
    end
    table.sort(names)
    local list = { {} }
    for _, name in ipairs(names) do
      local longer = {}
      for _, candidate in ipairs(list) do
        for _, value in ipairs(space[name]) do longer[#longer + 1] = merged(candidate, { [name] = value }) end
      end
      list = longer
    end
    return list
  end

  -- Options of wg.gemm that are worth measuring for a problem; those that turn out not to fit are skipped.
  local function gemm_candidates(gemm)
    local M, N = gemm.problem[1], gemm.problem[2]
    local list = { {} } -- the choice of wg.gemm itself
    local function add(candidate) list[#list + 1] = candidate end
    if internal.gemm_plan(gemm).swapped then -- few rows, written transposed: tiles of 64 columns of D and all its rows
      local n = M <= 16 and 16 or M <= 32 and 32 or M <= 64 and 64 or 128
      for _, k in ipairs { 64, 128, 256 } do
        for _, splits in ipairs { 1, 2, 4, 8 } do add { tile = { 64, n, k }, splits = splits } end
      end
      return list
    end
    if gemm.sparse then
      for _, halves in ipairs { true, false } do add { tile = { 256, 176 }, schedule = "cooperative", halves = halves } end
    end
    for _, c in ipairs(internal.gemm_candidates(internal.gemm_kind(gemm))) do
      local rows, columns = internal.ceil_div(M, c.tile[1]), internal.ceil_div(N, c.tile[2])
      local function with(key, value) add { tile = c.tile, schedule = c.schedule, [key] = value } end
      with("cluster", 1)
      if rows > 1 then with("cluster", 2) end
      if rows > 1 and columns > 1 then with("raster", "hilbert") end
      if rows > 8 then with("group", c.schedule == "pingpong" and 16 or 8) end
      if gemm.sparse and c.tile[1] == 256 then with("halves", true) end
      if c.schedule == "cooperative" then
        local tiles = rows * columns
        if tiles > wg.target.multiprocessors and tiles % wg.target.multiprocessors ~= 0 then with("stream_k", true) end
        for _, splits in ipairs { 2, 3, 4, 6, 8 } do
          if tiles * splits <= 2 * wg.target.multiprocessors then with("splits", splits) end
        end
      end
    end
    return list
  end

  -- The `build` function for options of wg.gemm, with normally distributed random operands.
  local function gemm_builder(gemm)
    local M, N, K = table.unpack(gemm.problem)
    local plan = internal.gemm_plan(gemm)
    local function random(rows, columns, dtype)
      if dtype == "s8" or dtype == "u8" or dtype == "s32" then
        return wg.randint { shape = { rows, columns }, dtype = dtype, lo = dtype == "u8" and 0 or -64, hi = 63, seed = rows + columns }
      end
      return wg.randn { shape = { rows, columns }, dtype = dtype, seed = rows + columns }
    end
    local a_mn, b_mn = gemm.a_major == "MN", gemm.b_major == "MN"
    local A, B = random(a_mn and K or M, a_mn and M or K, plan.dtype), random(b_mn and K or N, b_mn and N or K, plan.dtype)
    local metadata
    if plan.sparse then A, metadata = wg.sparse.compress(wg.sparse.prune(A), "gemm") end
    local D, e = wg.zeros(plan.d, { M, N }), gemm.epilogue or {}
    local given = {
      metadata = metadata, alpha = e.alpha and 1.0, beta = e.beta and 1.0, C = e.beta and random(M, N, plan.d) or nil,
      bias = e.bias and wg.randn { shape = { e.bias == "row" and M or N }, dtype = "f32", seed = 1 } or nil,
    }
    for name, shape in pairs(internal.scale_shapes(plan, M, N, K)) do given[name] = wg.randn { shape = shape, dtype = "f32", seed = 2 } end
    return function(candidate)
      local made = wg.gemm(merged(gemm, candidate))
      return made.kernel, made:launch(A, B, D, given)
    end
  end

  -- Shows a line on standard error that the next one overwrites, where that is a terminal.
  local function progress()
    if not internal.on_terminal() then return function() end end
    return function(text) io.stderr:write("\r\27[K", (text or ""):sub(1, 78)) end
  end

  -- Microseconds of a candidate, or nil and why it cannot be built or run. An interrupt goes on to the caller.
  local function measure(build, candidate, settings)
    local good, result, why = pcall(function()
      local kernel, launch = build(candidate)
      if kernel == nil then return nil, tostring(launch) end
      return kernel:time(merged(launch, settings)).median_us
    end)
    if good then return result, why end
    if type(result) == "table" and result.code == "EINTR" then error(result, 0) end
    return nil, type(result) == "table" and result.message or tostring(result)
  end

  -- Measures the fastest few again, in turns, so that the chip's temperature favours none of them.
  local function run_off(results, build, settings)
    for _ = 1, 2 do
      for i = 1, math.min(3, #results) do
        local us = measure(build, results[i].candidate, settings)
        if us then results[i].median_us = math.min(results[i].median_us, us) end
      end
    end
  end

  local function by_time(a, b)
    if a.median_us ~= b.median_us then return a.median_us < b.median_us end
    return a.index < b.index
  end

  -- The back end and device for which measurements are valid.
  local function place_of(backend)
    if backend == "sim" then return "sim" end
    local device = wg.device()
    return device and ("%s, driver %s, %s"):format(device.name, device.driver_version, backend) or backend
  end

  --- Finds the fastest options by measuring them. Each result is written to a file at once, so that an interrupted
  --- search can be resumed; results are kept by version, device, name and options. Results for options that hold
  --- functions are not kept.
  --- @param options table
  --- @option gemm table?  options of wg.gemm with a `problem`: tunes wg.gemm
  --- @option name string?  with `build`: the name under which the results are kept
  --- @option build function?  build(options) makes any kernel: returns the kernel and the options for kernel:time, or nil and a reason to skip the candidate
  --- @option candidates table?  a list of tables of options; for `gemm` by default tiles, schedules, clusters, orders and splits
  --- @option space table?  instead of `candidates`: for each option the list of its values; every combination is a candidate
  --- @option rounds integer = 20  the launches of a measurement
  --- @option backend string?  as in kernel:run
  --- @option cache string|boolean?  path of the file with the results, or false for none; by default tune/results.txt in wgrun's cache folder
  --- @return table  the fastest options; those of wg.gemm can be given to it
  --- @return table  the report
  --- @field results table  a list of { options, median_us, cached }, the fastest first
  --- @field skipped table  a list of { options, reason }
  --- @field cache string?  the path of the file
  --- @field cache_problem string?  why results are not kept
  --- @raise when no candidate works.
  --- @example
  ---   local best = wg.tune { gemm = { dtype = "bf16", problem = { 512, 512, 16384 } } }
  ---   local gemm = wg.gemm(best)
  function wg.tune(opts)
    options("wg.tune", opts)
    local gemm, build, candidates = opts.gemm, opts.build, opts.candidates
    if (gemm == nil) == (build == nil) then fail "wg.tune: either `gemm` (options of wg.gemm) or `build` (a function) must be given" end
    if gemm then
      if type(gemm) ~= "table" or type(gemm.problem) ~= "table" then fail "wg.tune: `gemm` needs a `problem` = { M, N, K }" end
      build, candidates = gemm_builder(gemm), candidates or gemm_candidates(gemm)
    else
      internal.body("wg.tune, build", build)
      if type(opts.name) ~= "string" then fail "wg.tune: `build` needs a `name`, under which its results are kept" end
    end
    if opts.space then
      if opts.candidates then fail "wg.tune: `candidates` and `space` exclude each other" end
      candidates = combinations(opts.space)
    end
    if type(candidates) ~= "table" or #candidates == 0 then fail "wg.tune: `candidates` must be a list of tables of options" end

    local backend = opts.backend or wg.backend
    local settings = { rounds = opts.rounds or 20, backend = backend }
    local cache, why_not = internal.tune_cache(opts.cache)
    local fixed = written(gemm or {})
    local prefix = fixed and table.concat({ wg.version, place_of(backend), gemm and "wg.gemm" or written(opts.name), fixed }, "\t")
    local function key_of(candidate)
      local text = prefix and written(candidate)
      return text and prefix .. "\t" .. text
    end
    local show = progress()
    local report = { results = {}, skipped = {}, cache = cache.path, cache_problem = why_not }
    -- 0 microseconds: kernels are only traced, and nothing is measured.
    local function keep(key, us)
      if not key or us == 0 then return end
      local kept, problem = cache:put(key, us)
      if not kept then report.cache_problem = problem end
    end
    local best, new
    for i, candidate in ipairs(candidates) do
      show(("tune %d/%d%s  %s"):format(i, #candidates, best and (", best %.1f us"):format(best) or "", written(candidate) or ""))
      local key = key_of(candidate)
      local known, reason = key and cache:get(key), nil
      local us = known
      if not us then
        us, reason = measure(build, candidate, settings)
        if us then keep(key, us) end
        new = new or us
      end
      if us then
        best = math.min(best or us, us)
        report.results[#report.results + 1] = {
          options = merged(gemm or {}, candidate), median_us = us, cached = known ~= nil, index = i, candidate = candidate,
        }
      else
        report.skipped[#report.skipped + 1] = { options = candidate, reason = reason }
      end
    end
    if #report.results == 0 then
      show()
      fail(("wg.tune: none of %d candidates works; the first: %s"):format(#candidates, report.skipped[1].reason))
    end
    table.sort(report.results, by_time)
    if new and backend ~= "sim" and new > 0 then
      run_off(report.results, build, settings)
      for i = 1, math.min(3, #report.results) do keep(key_of(report.results[i].candidate), report.results[i].median_us) end
      table.sort(report.results, by_time)
    end
    show()
    return report.results[1].options, report
  end
end
