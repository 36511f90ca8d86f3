-- Marks the outcome as unknown, if the owner still owns the key.
local record = read()
if record.owner ~= ARGV[1] or record.kind then
  return {0}
end
-- This needs no memory, and so the next may need some.
redis.call('HDEL', key, 'unknown')
redis.call('HSET', key, 'unknown', 1)
return {1}
