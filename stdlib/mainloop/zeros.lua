-- Zeros in the rows of stages that boxes with fewer rows leave out: before a product begins, and for all of its copies.

local module = {}

--- Returns clear(buffer, from, to, ahead): all `threads` threads of a CTA write zeros to bytes `from` to before `to` of
--- a buffer, `ahead` of its beginning by a register. A fence of the async proxy and a barrier must follow.
function module.emit(k, threads)
  local zeros, place, step = k:regs("b32", 4), k:special "tid.x" << 4, 16 * threads
  for i = 0, 3 do k:mov(zeros[i], 0) end
  return function(buffer, from, to, ahead)
    local at = k:address(buffer, place)
    if ahead then at = at + ahead end
    for offset = from, to - 1, step do
      k:st_shared_v4_b32(
        at, zeros, { offset = offset, guard = offset + step > to and place:lt(to - offset) or nil })
    end
  end
end

return module
