local function work()
  local total, wraps = 0.0, 0
  for i = 1, 10000000 do
    total = total + i * 0.5
    if total > 1000 then
      total = total % 1000
      wraps = wraps + 1
    end
  end
  return total + wraps
end

local best, check = 1e30, 0
for rep = 1, 2 do
  local tic = os.clock()
  check = work()
  best = math.min(best, os.clock() - tic)
end
print(string.format("RESULT seconds=%.9g check=%.15g", best, check))
