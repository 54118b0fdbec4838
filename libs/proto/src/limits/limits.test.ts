import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AttachRequest,
  FoundInPart,
  Hello,
  JobSpec,
  Lease,
  leaseBounds,
  ShardCompleted,
  SubmitRequest,
} from '../index.ts';
import { decodeBounded, reportParts, submitParts } from './count-parts.ts';
import { excessOf, reportBounds, specBounds } from './message-bounds.ts';

const helloWith = (more: Partial<Hello>): AttachRequest => {
  const value = Hello.fromPartial({ nodeId: 'a', name: 'b', device: { kind: 'cpu', name: '', driver: '' }, ...more });
  return { report: { $case: 'hello', value } };
};

test('a message within its bounds has no excess', () => {
  assert.equal(excessOf(helloWith({ name: 'x'.repeat(200) }), reportBounds), undefined);
  assert.equal(excessOf({ report: undefined }, reportBounds), undefined);
});

test('an excess is named as the .proto files name its field', () => {
  const lease = { jobId: 'x', shard: 0, attempt: 1, epoch: 1, verify: false, inPart: false };
  const device = { kind: 'cpu', name: '', driver: 'd'.repeat(1001) };
  const table: [more: Partial<Hello>, what: string, allowed: string][] = [
    [{ nodeId: '' }, 'hello.node_id', '1 to 200 characters, none of them a control character,'],
    [{ name: 'a\nb' }, 'hello.name', '1 to 200 characters, none of them a control character,'],
    [{ device }, 'hello.device.driver', 'at most 1000 characters, none of them a control character,'],
    [{ held: Array.from({ length: 4097 }, () => lease) }, 'the number of hello.held', 'at most 4096'],
    [
      { held: [{ ...lease, jobId: 'x'.repeat(201) }] },
      'hello.held[0].job_id',
      'at most 200 characters, none of them a control character,',
    ],
  ];
  for (const [more, what, allowed] of table) {
    const excess = excessOf(helloWith(more), reportBounds);
    assert.deepEqual([excess?.what, excess?.allowed], [what, allowed]);
  }
});

test('results of frames have bounds, with or without a part', () => {
  const place = { firstGroup: 0, groups: 1, start: 4, length: 9, checksum: 2 ** 32 - 1 };
  const usual = FoundInPart.create({
    part: '0b8ad4a1-6b1b-4f0e-9f9c-8d8f2a4f6c11',
    places: [{ sources: place, features: place }],
    found: 1,
    pixels: 4,
    digest: new Uint8Array(32),
    parts: [{ counted: '4', sums: new Uint8Array(256) }],
  });
  const excess = (more: Partial<FoundInPart>) => {
    const value = ShardCompleted.fromPartial({ found: { ...usual, ...more } });
    return excessOf({ report: { $case: 'completed', value } }, reportBounds)?.what;
  };
  const [sum] = usual.parts;
  assert.equal(excess({}), undefined);
  assert.equal(excess({ part: 'x'.repeat(37) }), 'completed.found.part');
  assert.equal(excess({ digest: new Uint8Array(33) }), 'completed.found.digest');
  assert.equal(excess({ places: Array(9).fill(usual.places[0]) }), 'the number of completed.found.places');
  assert.equal(excess({ parts: Array(9).fill(sum) }), 'the number of completed.found.parts');
  assert.equal(excess({ parts: [{ ...sum!, counted: '1'.repeat(20) }] }), 'completed.found.parts[0].counted');
  assert.equal(excess({ parts: [{ ...sum!, sums: new Uint8Array(2 ** 21 + 1) }] }), 'completed.found.parts[0].sums');
  assert.equal(excessOf(helloWith({ timeZoneData: 'x'.repeat(101) }), reportBounds)?.what, 'hello.time_zone_data');
  const zoned = Lease.fromPartial({ captured: { zone: 'x'.repeat(101) } });
  assert.equal(excessOf(zoned, leaseBounds)?.what, 'captured.zone');
});

test('names and values of a map have bounds of their own', () => {
  const withParameters = (parameters: Record<string, string>) =>
    JobSpec.fromPartial({ pipeline: { operations: [{ kernel: 'lbp', parameters }] } });
  const excess = (parameters: Record<string, string>) => excessOf(withParameters(parameters), specBounds)?.what;
  assert.equal(excess({ matrix: 'x'.repeat(32_768) }), undefined);
  assert.equal(excess({ matrix: 'x'.repeat(32_769) }), 'pipeline.operations[0].parameters.matrix');
  assert.equal(excess({ ['k'.repeat(101)]: '' }), 'a name in pipeline.operations[0].parameters');
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, '']));
  assert.equal(excess(many), 'the number of pipeline.operations[0].parameters');
});

test('a message of many empty parts is refused before it is decoded', () => {
  // Empty errors (field 6) of two bytes each, in the answer (field 3) of a report.
  const errors = Buffer.from(Array.from({ length: 1000 }, () => [0x32, 0x00]).flat());
  const report = Buffer.concat([Buffer.from([0x1a, 0xd0, 0x0f]), errors]);
  const decoded = decodeBounded(AttachRequest, report, reportParts, 1001);
  assert.equal(decoded.report?.$case === 'completed' && decoded.report.value.errors.length, 1000);
  const never = { decode: () => assert.fail('it was decoded') };
  assert.throws(() => decodeBounded(never, report, reportParts, 1000), {
    message: 'Expected at most 1000 parts of a message but received more',
  });
});

test('parts count at any depth, and other fields do not count', () => {
  const operations = Array.from({ length: 3 }, () => ({ kernel: 'lbp', parameters: { a: '1', b: '2' }, border: '' }));
  const request = SubmitRequest.fromPartial({
    spec: { sources: ['file:///a.png', 'file:///dddd'], out: 'o', pipeline: { operations } },
  });
  const bytes = SubmitRequest.encode(request).finish();
  // The specification, 2 sources, the pipeline, 3 operations of 2 parameters.
  assert.deepEqual(decodeBounded(SubmitRequest, bytes, submitParts, 13), request);
  assert.throws(() => decodeBounded(SubmitRequest, bytes, submitParts, 12));
});

test('bytes that do not decode give the error of the decoder', () => {
  for (const bytes of [[0x0a, 0xff, 0xff], [0x1a, 0x05, 0x32], [0xff]]) {
    assert.throws(() => decodeBounded(AttachRequest, Uint8Array.from(bytes), reportParts));
  }
});
