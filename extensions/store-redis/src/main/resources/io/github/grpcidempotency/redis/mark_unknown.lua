-- Marks the outcome as unknown, if the owner still owns the key.
local record = read()
if record.owner ~= ARGV[1] or record.kind then
  return {0}
end
-- This write needs no memory. After it, the next write is allowed even if the server is out of memory.
redis.call('HDEL', key, 'unknown')
redis.call('HSET', key, 'unknown', 1)
return {1}
