-- Begins the lease anew, if its owner still owns the key.
local lease = tonumber(ARGV[2])
local record = read()
if record.owner ~= ARGV[1] or record.kind then
  return {0}
end
redis.call('HSET', key, 'lease', whole(now + lease))
delete_after(record.expires, now + lease, lease)
return {1}
