'use strict';

// Creates a project, and sends the call again: node idempotency.js localhost:50051

const { randomUUID } = require('node:crypto');
const { setTimeout: sleep } = require('node:timers/promises');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');
const protobuf = require('protobufjs');

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

const rpc = protobuf.parse(`
  syntax = "proto3";
  package google.rpc;
  message Any { string type_url = 1; bytes value = 2; }
  message Status { repeated Any details = 3; }
  message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
  message RetryInfo { Duration retry_delay = 1; }
  message Duration { int64 seconds = 1; int32 nanos = 2; }
  message BadRequest { repeated FieldViolation field_violations = 1; }
  message FieldViolation { string field = 1; string description = 2; }
`).root;

/** Returns the details of an error by their short names, such as {ErrorInfo: {...}}; empty if it has none. */
function details(error) {
  const found = {};
  for (const status of error.metadata?.get('grpc-status-details-bin') ?? []) {
    for (const { typeUrl, value } of rpc.lookupType('google.rpc.Status').decode(status).details) {
      const name = typeUrl.slice(typeUrl.lastIndexOf('.') + 1);
      const type = rpc.lookup(`google.rpc.${name}`);
      if (type) found[name] = type.decode(value);
    }
  }
  return found;
}

async function main(address) {
  // Stands for your .proto files: protoLoader.loadSync(file, { keepCase: true }).
  const { root } = protobuf.parse(
    `
    syntax = "proto3";
    package organization.v1;
    service ProjectService { rpc CreateProject(CreateProjectRequest) returns (CreateProjectResponse); }
    message CreateProjectRequest { string name = 1; }
    message CreateProjectResponse { Project project = 1; }
    message Project { string id = 1; string name = 2; }
    `,
    { keepCase: true },
  );
  const definition = protoLoader.fromJSON(root.toJSON(), { keepCase: true });
  const { ProjectService } = grpc.loadPackageDefinition(definition).organization.v1;
  const options = retrying('organization.v1.ProjectService/CreateProject');
  const projects = new ProjectService(address, grpc.credentials.createInsecure(), options);
  const user = new grpc.Metadata();
  user.set('authorization', `Bearer ${randomUUID()}`);
  const intent = intend('CreateProject', { name: 'apollo' });

  const created = await send(projects, intent, user, { deadline: Date.now() + 30_000 });
  console.log('created', created.response.project.id, created.trailers['idempotency-status']);

  const again = await sendUntil(Date.now() + 600_000, projects, intent, user);
  console.log('replayed', again.response.project.id, again.trailers['idempotency-replayed']);

  try {
    await send(projects, { ...intent, request: { name: 'gemini' } }, user);
  } catch (error) {
    console.log('refused', grpc.status[error.code], details(error).ErrorInfo?.reason);
  }
  projects.close();
}

module.exports = { retrying, intend, send, sendUntil, details };
if (require.main === module) main(process.argv[2]);
