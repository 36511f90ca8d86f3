-- Begins the lease anew, if its owner still owns the key. A server that is short of memory lets a
-- script go on that has written what needs none: so expiry comes first.
local lease = tonumber(ARGV[2])
local record = read()
if record.owner ~= ARGV[1] or record.kind then
  return {0}
end
delete_after(record.expires, now + lease, lease)
redis.call('HSET', key, 'lease', whole(now + lease))
return {1}
