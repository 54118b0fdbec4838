import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JobSpec, JobStatus } from '../index.ts';
import { messageOf, readMessage, writeMessage } from './index.ts';

const spec = messageOf('JobSpec');
const name = fc.stringMatching(/^[a-z]{1,5}$/);
const operation = fc.record({ kernel: name, parameters: fc.dictionary(name, fc.string()), border: name });
const uint32 = fc.nat(2 ** 31 - 1);

/** Random specifications, as ts-proto represents them. */
const specs = fc
  .record(
    {
      sources: fc.array(fc.string()),
      pipeline: fc.record({ operations: fc.array(operation) }),
      grid: fc.record({ rows: uint32, columns: uint32 }),
      priority: fc.integer({ min: -100, max: 100 }),
      verifyPercent: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
      video: fc.record({ every: uint32, fromMs: fc.maxSafeNat() }, { requiredKeys: [] }),
      maxQuarantined: fc.oneof(
        fc.record({ limit: fc.record({ $case: fc.constant('inputs' as const), value: fc.maxSafeNat() }) }),
        fc.record({ limit: fc.record({ $case: fc.constant('percent' as const), value: fc.nat(100) }) }),
      ),
      checksum: fc.boolean(),
      pipelines: fc.record({
        named: fc.array(
          fc.record({ name, op: fc.array(name), pipeline: fc.record({ operations: fc.array(operation) }) }),
        ),
      }),
      op: fc.array(fc.string()),
    },
    { requiredKeys: [] },
  )
  .map((partial) => JobSpec.fromPartial(partial));

/** The message after it was encoded and decoded. */
const overWire = (message: JobSpec): JobSpec => JobSpec.decode(JobSpec.encode(message).finish());

test('what is written as JSON is read as what the wire gives', () => {
  fc.assert(
    fc.property(specs, (message) => {
      const json = JSON.parse(JSON.stringify(writeMessage(spec, message)));
      assert.deepEqual(JobSpec.fromPartial(readMessage<JobSpec>(spec, json)), overWire(message));
    }),
  );
});

test('whatever is given is read, or refused with the field that is wrong', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      for (const given of [
        json,
        { grid: json },
        { sources: json },
        { pipelines: { named: [json] } },
        { video: json },
      ]) {
        try {
          const read = readMessage<JobSpec>(spec, given);
          assert.ok(JobSpec.encode(JobSpec.fromPartial(read)).finish());
        } catch (error) {
          assert.equal((error as Error).name, 'FieldError', String(error));
          assert.match((error as Error).message, /^Expected .* for .* but received '/s);
        }
      }
    }),
  );
});

const refused: [given: unknown, field: string, sentence: string][] = [
  ['{}', '', "Expected an object for the body but received 'a string'"],
  [{ Sources: [] }, 'Sources', 'a field of the body'],
  [{ map_format: 'none' }, 'map_format', 'a field of the body'],
  [{ constructor: 1 }, 'constructor', 'a field of the body'],
  [{ sources: ['a', ['b']] }, 'sources[1]', "Expected a text for sources[1] but received 'a list'"],
  [{ tilePx: 2 ** 32 }, 'tilePx', "a whole number from 0 to 4294967295 for tilePx but received '4294967296'"],
  [{ tilePx: '8' }, 'tilePx', "for tilePx but received '8'"],
  [{ checksum: 'yes' }, 'checksum', "Expected true or false for checksum but received 'yes'"],
  [{ video: { fromMs: 2 ** 53 } }, 'video.fromMs', 'from 0 to 9007199254740991 for video.fromMs'],
  [{ video: { fromMs: -1 } }, 'video.fromMs', "received '-1'"],
  [{ verifyPercent: null, priority: 1e300 }, 'priority', 'for priority'],
  [
    { pipeline: { operations: [{}, { parameters: { a: {} } }] } },
    'pipeline.operations[1].parameters.a',
    "Expected a text for pipeline.operations[1].parameters.a but received 'an object'",
  ],
  [{ maxQuarantined: { inputs: 1, percent: 1 } }, 'maxQuarantined', 'Expected one of inputs, percent'],
];

for (const [given, field, sentence] of refused) {
  test(`${JSON.stringify(given)} is refused`, () => {
    assert.throws(
      () => readMessage(spec, given),
      (error: Error & { field: string }) => {
        assert.equal(error.field, field);
        assert.ok(error.message.includes(sentence), error.message);
        return true;
      },
    );
  });
}

test('JSON has every field that has a default, and nothing that the .proto files do not name', () => {
  const status = { ...JobStatus.fromPartial({ jobId: 'a' }), secret: 'x' };
  const written = writeMessage(messageOf('JobStatus'), status) as Record<string, unknown>;
  assert.deepEqual(
    [written.jobId, written.state, written.reasons, written.error],
    ['a', 'JOB_STATE_UNSPECIFIED', [], ''],
  );
  assert.deepEqual([written.spec, written.nodesUsed, written.secret].filter(Boolean), []);
});
