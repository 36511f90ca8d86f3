-- Restarts the retention, unless less than a tenth of it has passed. Returns the time at which it ends.
local id, retention, grace = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local record = read()
if record.id ~= id or not record.kind or record.expires <= now then
  return {}
end
if record.expires < now + retention * 0.9 then
  record.expires = now + retention
  delete_after(record.expires, 0, grace)
  redis.call('HSET', key, 'expires', whole(record.expires))
end
return {record.expires}
