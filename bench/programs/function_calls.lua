local link2, link3, link4, link5

local function link1(x)
  local y = link2(x + 1)
  if y > 8 then y = y - 8 end
  return y
end

function link2(x)
  local y = link3(x * 0.5)
  if y < 1 then y = y + 1 end
  return y
end

function link3(x)
  local y = link4(x + 2)
  if y > 6 then y = y - 5 end
  return y
end

function link4(x)
  local y = link5(x * 1.5)
  if y < 0 then y = -y end
  return y
end

function link5(x)
  local y = x - 0.125
  if y > 4 then y = y * 0.5 end
  return y
end

local best, total = 1e30, 0
for rep = 1, 3 do
  local tic = os.clock()
  local x = 0.0
  total = 0.0
  for i = 1, 200000 do
    x = link1(x)
    total = total + x
  end
  best = math.min(best, os.clock() - tic)
end
print(string.format("RESULT seconds=%.9g check=%.15g", best, total))
