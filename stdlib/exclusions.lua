-- Which choices of a plan exclude which others, and why: tables of them, and the errors that follow.

local native = require "wgrun.native"

local module = {}

--- A table of exclusions, for plans that have `what`, the function that was called. choices: by name what messages call
--- each, and a function of the plan and of the options `given` that returns whether it has been made. What requires a
--- choice excludes its lack; `lacks` names what is lacking. rows: { choice, { those that it excludes }, why }.
function module.new(choices, rows)
  local function is_made(name, p, given)
    local choice = choices[name]
    return choice[#choice](p, given)
  end

  -- The choice of a plan that `name` excludes, as messages call it, and the reason; nil where there is none.
  local function conflict(p, name, given)
    for _, row in ipairs(rows) do
      for _, other in ipairs(row[1] == name and row[2] or {}) do
        local choice = choices[other]
        if is_made(other, p, given) then
          return choice.lacks and "requires " .. choice.lacks or "excludes " .. choice[1], row[3]
        end
      end
    end
  end

  local exclusions = {}

  --- Whether a plan may choose `name`.
  function exclusions.may_choose(p, name) return conflict(p, name) == nil end

  --- Raises where a plan has made choices that `name` excludes.
  function exclusions.refuse_conflicts(p, name, given)
    local without, why = conflict(p, name, given)
    local text = choices[name][1]
    if without then
      if text:find "^%l*%s?scales" then without = without:gsub("^excludes", "exclude") end
      native.fail(("%s: %s %s: %s"):format(p.what, text, without, why))
    end
  end

  --- Raises where a choice of a plan contradicts another one; `given`: the options, where some count as such.
  function exclusions.check_choices(p, given)
    for _, row in ipairs(rows) do
      if is_made(row[1], p, given) then exclusions.refuse_conflicts(p, row[1], given) end
    end
  end
  return exclusions
end

return module
