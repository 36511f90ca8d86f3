-- Returns whether an owner runs the key's operation, and writes nothing.
local record = read()
return {record.id and not record.kind and record.lease > now and 1 or 0}
