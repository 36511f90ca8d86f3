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
const { details, intend, retrying, send, sendUntil } = require('./idempotency');

const [port, ...includeDirs] = process.argv.slice(2);
const test = readline.createInterface({ input: process.stdin });
const attempts = countAttempts();

const organization = (file) =>
  grpc.loadPackageDefinition(
    protoLoader.loadSync(`organization/v1/${file}.proto`, { includeDirs, keepCase: true }),
  ).organization.v1;
const { ProjectService } = organization('project_service');
const { ClusterService } = organization('cluster_service');

const address = `localhost:${port}`;
const credentials = grpc.credentials.createInsecure();
const options = retrying('organization.v1.ProjectService/CreateProject');
const patient = new ProjectService(address, credentials, options);
const impatient = new ProjectService(address, credentials, { 'grpc.enable_retries': 0 });
const metadata = new grpc.Metadata();
metadata.set('authorization', `Bearer ${randomUUID()}`);

main().then(
  () => process.exit(0),
  (failure) => {
    console.error(failure);
    process.exit(1);
  },
);

async function main() {
  const apollo = intend('CreateProject', { name: 'apollo' });
  const counted = countCalls(patient);
  const first = call(counted, apollo);
  await say('sent', 'reserved');
  assert.deepEqual(counted.hints, [[]]);

  await aDuplicateIsToldToComeBack(apollo);
  const project = await duplicatesComeBack(apollo, first);
  await anIntentThatWasWrittenDownIsReplayed(apollo, project);
  await anotherBodyIsRefusedForGood(apollo);
  await aMalformedKeyIsRefusedForGood(apollo);
  await aRequestIdIsAKey(project);
}

async function aDuplicateIsToldToComeBack(intent) {
  const error = await failureOf(call(impatient, intent));
  assert.equal(error.code, grpc.status.ABORTED);
  const { ErrorInfo, RetryInfo } = details(error);
  assert.equal(ErrorInfo.reason, 'IDEMPOTENCY_IN_PROGRESS');
  assert.equal(ErrorInfo.domain, 'grpc-idempotency');
  assert.ok(RetryInfo.retryDelay);
  assert.ok(Number(pushback(error)) > 0);
}

/** One is sent again by gRPC, the other by the loop of our own. */
async function duplicatesComeBack(intent, first) {
  attempts.reset();
  const second = call(patient, intent);
  await attempts.reach(2);
  const counted = countCalls(impatient);
  const third = sendUntil(Date.now() + 30_000, counted, intent, metadata);
  await counted.reach(2);
  counted.hints.forEach((hint) => assert.deepEqual(hint, ['true']));
  console.log('retried');

  const { response, trailers } = await first;
  assert.equal(trailers['idempotency-replayed'], undefined);
  assert.equal(trailers['idempotency-status'], 'processing');
  for (const duplicate of [await second, await third]) {
    assert.deepEqual(duplicate.response, response);
    assert.equal(duplicate.trailers['idempotency-replayed'], 'true');
  }
  return response.project;
}

async function anIntentThatWasWrittenDownIsReplayed(intent, expected) {
  const { response, trailers } = await call(impatient, JSON.parse(JSON.stringify(intent)));
  assert.deepEqual(response.project, expected);
  assert.equal(trailers['idempotency-replayed'], 'true');
  assert.match(trailers['idempotency-status'], /^(processing|completed)$/);
  assert.match(trailers['idempotency-operation'], /^[0-9a-f-]{36}$/);
  assert.ok(Date.parse(trailers['idempotency-expires']) > Date.now());
}

async function anotherBodyIsRefusedForGood(intent) {
  const gemini = { ...intent, request: { name: 'gemini' } };
  const error = await failureOf(sendUntil(Date.now() + 30_000, patient, gemini, metadata));
  assert.equal(error.code, grpc.status.INVALID_ARGUMENT);
  const { ErrorInfo } = details(error);
  assert.equal(ErrorInfo.reason, 'IDEMPOTENCY_KEY_REUSED');
  assert.deepEqual(ErrorInfo.metadata, { mismatch: 'request' });
  assert.equal(pushback(error), '-1');
}

async function aMalformedKeyIsRefusedForGood(intent) {
  const error = await failureOf(call(patient, { ...intent, key: 'not-a-uuid' }));
  assert.equal(error.code, grpc.status.INVALID_ARGUMENT);
  const { ErrorInfo, BadRequest } = details(error);
  assert.equal(ErrorInfo.reason, 'IDEMPOTENCY_KEY_INVALID');
  assert.match(error.details, /it has 10 characters; expected a UUID/);
  assert.deepEqual(ErrorInfo.metadata, { problem: 'format' });
  assert.equal(BadRequest.fieldViolations[0].field, 'idempotency-key');
  assert.equal(pushback(error), '-1');
}

async function aRequestIdIsAKey(project) {
  const clusters = new ClusterService(address, credentials);
  const place = { project_id: project.id, name: 'saturn', region: 'eu' };
  const { response } = await call(clusters, intend('CreateCluster', place));

  const wanted = { cluster_id: response.cluster.id, name: 'workers', node_count: 3 };
  const pool = intend('CreateNodePool', wanted, 'request_id');
  assert.equal(pool.key, undefined);
  const first = await call(clusters, pool);
  assert.equal(first.trailers['idempotency-replayed'], undefined);
  const again = await call(clusters, pool);
  assert.equal(again.trailers['idempotency-replayed'], 'true');
  assert.deepEqual(again.response, first.response);

  const own = intend('CreateNodePool', pool.request, 'request_id');
  assert.deepEqual(own.request, pool.request);
}

function call(stub, intent) {
  return send(stub, intent, metadata, { deadline: Date.now() + 30_000 });
}

function pushback(error) {
  return error.metadata.get('grpc-retry-pushback-ms')[0];
}

async function failureOf(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: 'the call should have failed' });
}

/** Passes calls on to a stub, and tells of them, and what each says of being a retry. */
function countCalls(stub) {
  const hints = [];
  let heard = () => {};
  return {
    hints,
    CreateProject: (request, headers, ...call) => {
      hints.push(headers.get('idempotency-retry'));
      heard();
      return stub.CreateProject(request, headers, ...call);
    },
    reach: (wanted) =>
      new Promise((resolve) => {
        heard = () => hints.length >= wanted && resolve();
        heard();
      }),
  };
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
