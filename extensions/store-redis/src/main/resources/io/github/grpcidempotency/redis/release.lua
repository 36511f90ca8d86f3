-- Deletes the reservation, if its owner still owns the key.
local record = read()
if record.owner ~= ARGV[1] or record.kind then
  return {0}
end
redis.call('DEL', key)
return {1}
