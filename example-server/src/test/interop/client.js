'use strict';

// A client of the example server that is not written in Java. It talks with the test that starts it, a line at a
// time: the test holds the first call back in the database, and lets it go once a second one has been retried.
//
//   node client.js PORT PROTO_DIRECTORY...

const assert = require('node:assert/strict');
const { randomUUID } = require('node:crypto');
const { once } = require('node:events');
const readline = require('node:readline');

process.env.GRPC_TRACE = 'retrying_call'; // read when grpc-js is loaded
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');
const { details } = require('./rich_error');

const [port, ...includeDirs] = process.argv.slice(2);
const test = readline.createInterface({ input: process.stdin });
const attempts = countAttempts();

const { ProjectService } = grpc.loadPackageDefinition(
  protoLoader.loadSync('organization/v1/project_service.proto', { includeDirs, keepCase: true }),
).organization.v1;

const patient = client({
  'grpc.service_config': JSON.stringify({
    methodConfig: [
      {
        name: [{ service: 'organization.v1.ProjectService' }],
        retryPolicy: {
          maxAttempts: 5,
          initialBackoff: '0.1s',
          maxBackoff: '1s',
          backoffMultiplier: 2,
          retryableStatusCodes: ['ABORTED'],
        },
      },
    ],
  }),
});
const impatient = client({ 'grpc.enable_retries': 0 });
const user = randomUUID();

main().then(
  () => process.exit(0),
  (failure) => {
    console.error(failure);
    process.exit(1);
  },
);

async function main() {
  const key = randomUUID();
  const first = create(patient, key, 'apollo');
  await say('sent', 'reserved');

  await aDuplicateIsToldToComeBack(key);
  const retried = await aDuplicateComesBackByItself(key, first);
  await aCallIsReplayed(key, retried);
  await anotherBodyIsRefusedForGood(key);
  await aMalformedKeyIsRefusedForGood();
}

async function aDuplicateIsToldToComeBack(key) {
  const error = await failureOf(create(impatient, key, 'apollo'));
  assert.equal(error.code, grpc.status.ABORTED);
  const { ErrorInfo, RetryInfo } = details(error);
  assert.equal(ErrorInfo.reason, 'IDEMPOTENCY_IN_PROGRESS');
  assert.equal(ErrorInfo.domain, 'grpc-idempotency');
  assert.ok(RetryInfo.retryDelay);
  assert.ok(Number(trailer(error.metadata, 'grpc-retry-pushback-ms')) > 0);
}

async function aDuplicateComesBackByItself(key, first) {
  attempts.reset();
  const second = create(patient, key, 'apollo');
  await attempts.reach(2);
  console.log('retried');

  const { response, metadata } = await first;
  assert.equal(trailer(metadata, 'idempotency-replayed'), undefined);
  assert.equal(trailer(metadata, 'idempotency-status'), 'processing');

  const duplicate = await second;
  assert.deepEqual(duplicate.response, response);
  assert.equal(trailer(duplicate.metadata, 'idempotency-replayed'), 'true');
  return response;
}

async function aCallIsReplayed(key, expected) {
  const { response, metadata } = await create(impatient, key, 'apollo');
  assert.deepEqual(response, expected);
  assert.equal(trailer(metadata, 'idempotency-replayed'), 'true');
  assert.match(trailer(metadata, 'idempotency-status'), /^(processing|completed)$/);
  assert.match(trailer(metadata, 'idempotency-operation'), /^[0-9a-f-]{36}$/);
  assert.ok(Date.parse(trailer(metadata, 'idempotency-expires')) > Date.now());
}

async function anotherBodyIsRefusedForGood(key) {
  const error = await failureOf(create(patient, key, 'gemini'));
  assert.equal(error.code, grpc.status.INVALID_ARGUMENT);
  const { ErrorInfo } = details(error);
  assert.equal(ErrorInfo.reason, 'IDEMPOTENCY_KEY_REUSED');
  assert.deepEqual(ErrorInfo.metadata, { mismatch: 'request' });
  assert.equal(trailer(error.metadata, 'grpc-retry-pushback-ms'), '-1');
}

async function aMalformedKeyIsRefusedForGood() {
  const error = await failureOf(create(patient, 'not-a-uuid', 'apollo'));
  assert.equal(error.code, grpc.status.INVALID_ARGUMENT);
  const { ErrorInfo, BadRequest } = details(error);
  assert.equal(ErrorInfo.reason, 'IDEMPOTENCY_KEY_INVALID');
  assert.equal(BadRequest.fieldViolations[0].field, 'idempotency-key');
  assert.equal(trailer(error.metadata, 'grpc-retry-pushback-ms'), '-1');
}

function create(stub, key, name) {
  const metadata = new grpc.Metadata();
  metadata.set('authorization', `Bearer ${user}`);
  metadata.set('idempotency-key', key);
  const deadline = Date.now() + 30_000;
  return new Promise((resolve, reject) => {
    let answer;
    stub
      .CreateProject({ name }, metadata, { deadline }, (error, response) => {
        if (error) reject(error);
        answer = response;
      })
      .on('status', (status) => resolve({ response: answer, metadata: status.metadata }));
  });
}

async function failureOf(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: 'the call should have failed' });
}

function trailer(metadata, name) {
  return metadata.get(name)[0];
}

function client(options) {
  return new ProjectService(`localhost:${port}`, grpc.credentials.createInsecure(), options);
}

async function say(word, expectedAnswer) {
  const answer = once(test, 'line');
  console.log(word);
  assert.deepEqual(await answer, [expectedAnswer]);
}

/** Hears of attempts from grpc-js's own trace: nothing else tells how often a call was sent. */
function countAttempts() {
  let count = 0;
  let heard = () => {};
  const listen = (line) => {
    if (String(line).includes('Created child call')) {
      count++;
      heard();
    }
  };
  grpc.setLogger({ debug: listen, info: listen, error: listen });
  grpc.setLogVerbosity(grpc.logVerbosity.DEBUG);
  return {
    reset: () => {
      count = 0;
    },
    reach: (wanted) =>
      new Promise((resolve) => {
        heard = () => count >= wanted && resolve();
        heard();
      }),
  };
}
