-- Renews the lease, if its owner still owns the key. If the server is out of memory, a script may continue
-- after a write that needs no memory, so the expiry is set first.
local lease = tonumber(ARGV[2])
local record = read()
if record.owner ~= ARGV[1] or record.kind then
  return {0}
end
delete_after(record.expires, now + lease, lease)
redis.call('HSET', key, 'lease', whole(now + lease))
return {1}
