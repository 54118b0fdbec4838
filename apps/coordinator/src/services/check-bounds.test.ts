import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSpec } from '@halogrid/jobs/check-spec';
import { completeSubmit } from '@halogrid/jobs/complete-submit';
import { fitting, Refusal } from '@halogrid/jobs/refusal';
import { AttachRequest, Hello, JobSpec, protocolVersion, SubmitRequest } from '@halogrid/proto';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { checkJobIdBounds, checkReportBounds, checkSubmitBounds } from './check-bounds.ts';
import { checkHello } from './check-hello.ts';
import { toGrpcStatus } from './grpc-status.ts';

/**
 * Texts below, at and above the bounds of fields: of one-byte and three-byte characters, control characters, and half
 * characters.
 */
const texts = fc
  .tuple(
    fc.constantFrom('a', '漢', '\u001b', '\ud83d', '1', '[', "'", '%'),
    fc.constantFrom(0, 1, 100, 101, 200, 201, 1_000, 1_001, 8_192, 8_193, 32_768, 32_769, 1_000_000),
  )
  .map(([character, length]) => character.repeat(length));
const small = fc.oneof(fc.string(), texts);
const parameters = fc.dictionary(small, small, { maxKeys: 4 });
const operations = fc.array(
  fc.record({ kernel: fc.oneof(fc.constantFrom('lbp', 'ldp', 'conv', 'glcm'), small), parameters, border: small }),
  {
    maxLength: 10,
  },
);
const matrix = texts.map((value) => [{ kernel: 'conv', parameters: { matrix: value }, border: '' }]);
const numbers = fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1);
const specs = fc.record({
  sources: fc.array(small, { maxLength: 2 }),
  out: small,
  mapFormat: fc.oneof(fc.constant('none'), small),
  pipeline: fc.record({ operations: fc.oneof(operations, matrix) }),
  grid: fc.record({ rows: numbers, columns: numbers }),
  tilePx: numbers,
  batchFrames: numbers,
  priority: fc.integer(),
  verifyPercent: fc.double(),
  video: fc.option(fc.record({ hwaccel: small, every: numbers, fpsNum: numbers, fpsDen: numbers }), { nil: undefined }),
});
const held = fc.array(
  fc.record({ jobId: small, shard: numbers, attempt: numbers, epoch: numbers, verify: fc.boolean() }),
  {
    maxLength: 3,
  },
);
const hellos = fc.record({
  nodeId: small,
  name: small,
  protocol: fc.constantFrom(protocolVersion, 0),
  softwareVersion: small,
  device: fc.record({
    kind: fc.oneof(fc.constant('cpu'), small),
    name: small,
    driver: small,
    gpu: fc.record({ uuid: small, pciBusId: small }),
  }),
  creditBytes: numbers,
  held,
});
const answers = fc.record({
  jobId: small,
  errors: fc.array(fc.record({ source: numbers, stage: small, error: small }), { maxLength: 3 }),
  stageSeconds: fc.dictionary(small, fc.double(), { maxKeys: 40 }),
});

/** Every error is a refusal, and its status is short enough for every client. */
function assertRefusal(error: unknown): void {
  assert.ok(error instanceof Refusal, String(error));
  const { details } = toGrpcStatus(error);
  assert.ok(Buffer.byteLength(details) < 2_048, `${details.length} characters`);
  assert.doesNotThrow(() => encodeURI(details));
  assert.doesNotMatch(details, /\p{Cc}/u);
}

const refusing = (act: () => unknown): void => {
  try {
    act();
  } catch (error) {
    assertRefusal(error);
  }
};

test('whatever a node says of itself, it is taken or refused', () => {
  fc.assert(
    fc.property(hellos, (value) => {
      refusing(() => checkHello({ $case: 'hello', value: Hello.fromPartial(value) }));
    }),
    { numRuns: repeated(60, 300) },
  );
});

test('whatever a node reports, it is taken, with sentences of one line that end, or refused', () => {
  fc.assert(
    fc.property(answers, small, (answer, error) => {
      const completed = AttachRequest.fromPartial({ report: { $case: 'completed', value: answer } });
      refusing(() => {
        const { report } = checkReportBounds(completed);
        const taken = report?.$case === 'completed' ? report.value.errors : [];
        for (const each of taken) assert.ok(each.error.length <= 1_000 && !/\p{Cc}/u.test(each.error));
      });
      const failed = AttachRequest.fromPartial({ report: { $case: 'failed', value: { jobId: 'x', error } } });
      const { report } = checkReportBounds(failed);
      assert.ok(report?.$case === 'failed' && report.value.error.length <= 1_000);
    }),
    { numRuns: repeated(60, 300) },
  );
});

test('whatever is submitted, it is taken or refused', async () => {
  await fc.assert(
    fc.asyncProperty(specs, async (value) => {
      const request = SubmitRequest.fromPartial({ spec: JobSpec.fromPartial(value) });
      await Promise.resolve()
        .then(() => checkSpec(completeSubmit(checkSubmitBounds(request)).spec))
        .then(() => {}, assertRefusal);
    }),
    { numRuns: repeated(60, 300) },
  );
});

test('an id is bounded, and shown by its beginning', () => {
  assert.deepEqual(checkJobIdBounds({ jobId: 'x'.repeat(200) }), { jobId: 'x'.repeat(200) });
  assert.throws(() => checkJobIdBounds({ jobId: 'x'.repeat(1e6) }), {
    name: 'Refusal',
    message: `Expected at most 200 characters, none of them a control character, for job_id but received '${'x'.repeat(199)}…'`,
  });
});

test('a sentence of any length fits a status', () => {
  assert.equal(fitting('One sentence'), 'One sentence');
  for (const character of ['a', 'ä', '漢', '🙂']) {
    const fitted = fitting(character.repeat(1e6));
    assert.ok(Buffer.byteLength(fitted) <= 2_000 && fitted.length > 400);
    assert.ok(encodeURI(fitted).length < 8_192);
  }
  assert.ok(Buffer.byteLength(toGrpcStatus(new Error('x'.repeat(1e6))).details) <= 2_003);
});
