-- Deletes the reservation, if its owner still owns the key.
local record = read()
if record.owner ~= ARGV[1] or record.kind then
  return {0}
end
redis.call('DEL', key)
if ARGV[2] == '1' then
  redis.pcall('PUBLISH', key, '')
end
return {1}
