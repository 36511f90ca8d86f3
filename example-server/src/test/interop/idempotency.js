'use strict';

// What docs/how-to/clients/node.md shows.

const { randomUUID } = require('node:crypto');
const { setTimeout: sleep } = require('node:timers/promises');
const grpc = require('@grpc/grpc-js');

/** Options of a channel that sends calls of these methods again, up to five times, when the server says so. */
function retrying(...methods) {
  const retryPolicy = {
    maxAttempts: 5,
    initialBackoff: '0.1s',
    maxBackoff: '5s',
    backoffMultiplier: 2,
    retryableStatusCodes: ['ABORTED', 'UNAVAILABLE'],
  };
  const name = methods.map((path) => path.split('/')).map(([service, method]) => ({ service, method }));
  return { 'grpc.service_config': JSON.stringify({ methodConfig: [{ name, retryPolicy }] }) };
}

/** What somebody wants done, once. Its key is in the metadata, or in a field of the request that names it. */
function intend(method, request, field) {
  const key = randomUUID();
  return field
    ? { method, request: { ...request, [field]: request[field] || key } }
    : { method, request, key };
}

/** Sends an intent, and resolves to the response and its trailers. */
function send(client, intent, metadata, options = {}) {
  const { method, request, key, sent } = intent;
  const headers = metadata.clone();
  if (key) headers.set('idempotency-key', key);
  if (sent) headers.set('idempotency-retry', 'true');
  intent.sent = true;
  return new Promise((resolve, reject) => {
    let response;
    client[method](request, headers, options, (error, answer) => {
      if (error) reject(error);
      response = answer;
    }).on('status', ({ metadata: trailers }) => resolve({ response, trailers: trailers.getMap() }));
  });
}

const WORTH_A_RETRY = [grpc.status.ABORTED, grpc.status.UNAVAILABLE, grpc.status.DEADLINE_EXCEEDED];

/** Sends an intent until there is an answer, or time is up. */
async function sendUntil(end, client, intent, metadata) {
  for (let backoff = 1_000; ; backoff = Math.min(2 * backoff, 60_000)) {
    try {
      return await send(client, intent, metadata, { deadline: Date.now() + 30_000 });
    } catch (error) {
      const pushback = Number(error.metadata.get('grpc-retry-pushback-ms')[0] ?? backoff * Math.random());
      const retry = WORTH_A_RETRY.includes(error.code) && pushback >= 0;
      if (!retry || Date.now() + pushback > end) throw error;
      await sleep(pushback);
    }
  }
}

module.exports = { retrying, intend, send, sendUntil };
