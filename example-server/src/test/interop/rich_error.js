'use strict';

// Reads the rich error model (google.rpc.Status in grpc-status-details-bin) out of a failed call.

const path = require('node:path');
const protobuf = require('protobufjs');

const rpc = protobuf.loadSync(path.join(__dirname, 'rich_error.proto')).lookup('google.rpc');

/** Returns the details of an error by their short names, such as {ErrorInfo: {...}}. */
function details(error) {
  const [status] = error.metadata.get('grpc-status-details-bin');
  const found = {};
  for (const { type_url: url, value } of rpc.lookupType('Status').decode(status).details) {
    const name = url.slice(url.lastIndexOf('.') + 1);
    found[name] = rpc.lookupType(name).decode(value);
  }
  return found;
}

module.exports = { details };
