import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setVariables } from '@halogrid/sources/testing-files';
import { startTestS3, type TestS3 } from '@halogrid/sources/testing-servers';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { BucketLogs } from './bucket-logs.ts';
import { realDisk } from './log-file.ts';

// Logs in a bucket, as another machine finds them. The store refuses requests where a test says.

const root = await mkdtemp(join(tmpdir(), 'halogrid-bucket-logs-'));
let store: TestS3;
let isRefusing = false;
let jobs = 0;
let uri = '';

before(async () => {
  store = await startTestS3({
    accessKeyId: 'AK',
    secretAccessKey: 'SK',
    region: 'us-east-1',
    bucket: 'results',
    fault: () => (isRefusing ? 'refuse' : undefined),
  });
  setVariables(store.environment);
});

after(async () => {
  await store.close();
  await rm(root, { recursive: true });
});

beforeEach(() => newJob());

function newJob(): void {
  isRefusing = false;
  uri = `s3://results/out/.halogrid/jobs/${++jobs}`;
}

/** The logs of the present job on a machine. */
async function logsOn(machine: string, disk = realDisk): Promise<BucketLogs> {
  const folder = join(root, `${jobs}-${machine}`);
  await mkdir(folder, { recursive: true });
  return new BucketLogs(folder, 'job', uri, disk);
}

const bytesOf = (facts: readonly string[]): Buffer[] => facts.map((fact) => Buffer.from(fact));

/** Facts that the machine finds up to `end`. */
async function factsOn(machine: string, end: number, epoch = 1): Promise<string[][]> {
  const logs = await logsOn(machine);
  const last = (await logs.last(epoch, end))!;
  assert.equal(last.end, end);
  const groups = await Array.fromAsync(logs.groups(epoch, 0, end));
  return groups.map(({ facts }) => facts.map((fact) => Buffer.from(fact).toString()));
}

const groupsOf = fc.array(fc.array(fc.string({ minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 6,
});

test('another machine finds what counts, whichever appends failed before, and whether bucket or disk failed', () =>
  fc.assert(
    fc.asyncProperty(
      groupsOf,
      fc.array(fc.constantFrom('bucket', 'disk', 'none'), { maxLength: 8 }),
      async (groups, faults) => {
        newJob();
        let isDiskFull = false;
        const disk = {
          ...realDisk,
          open: async (path: string, flags: string) => {
            const file = await realDisk.open(path, flags);
            const datasync = async () => {
              if (isDiskFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
              await file.datasync();
            };
            return { writev: file.writev.bind(file), datasync, close: () => file.close() };
          },
        };
        const log = await (await logsOn('a', disk)).begin(1);
        const left = [...faults];
        const acknowledged: { facts: string[]; end: number }[] = [];
        let waiting: string[] = [];
        for (const group of groups) {
          // As a journal does it, a failed group is appended again with what came meanwhile.
          waiting = [...waiting, ...group];
          const fault = left.shift() ?? 'none';
          isRefusing = fault === 'bucket';
          isDiskFull = fault === 'disk';
          const appended = await log.append(bytesOf(waiting)).catch(() => undefined);
          assert.equal(appended === undefined, fault !== 'none');
          if (!appended) continue;
          acknowledged.push({ facts: waiting, end: appended.end });
          waiting = [];
        }
        isRefusing = false;
        await log.close();
        for (const [i, { end }] of acknowledged.entries()) {
          const expected = acknowledged.slice(0, i + 1).map(({ facts }) => facts);
          // The same machine again, with a log that does not reach as far; and another one each time.
          for (const machine of ['b', `c${i}`]) assert.deepEqual(await factsOn(machine, end), expected);
        }
      },
    ),
    { numRuns: runs(20) },
  ));

test('the log of a leader that was deposed is not mixed with that of the next', async () => {
  const first = await (await logsOn('a')).begin(1);
  const { end } = await first.append(bytesOf(['one']));
  const second = await (await logsOn('b')).begin(2);
  const { end: endOfSecond } = await second.append(bytesOf(['two']));
  await first.append(bytesOf(['late']));
  for (const log of [first, second]) await log.close();
  assert.deepEqual(await factsOn('c', end), [['one']]);
  assert.deepEqual(await factsOn('c', endOfSecond, 2), [['two']]);
});

test('a group that is missing, cut short or changed in the bucket is an error that names the log', async () => {
  const log = await (await logsOn('a')).begin(1);
  await log.append(bytesOf(['one']));
  const { end } = await log.append(bytesOf(['two']));
  await log.close();
  const [, last] = [...store.objects.keys()].filter((key) => key.includes(`/${jobs}/`)).sort();
  const whole = store.objects.get(last!)!;
  const damages: [Buffer | undefined, RegExp][] = [
    [undefined, /The log 's3:.*\/log-1' lacks bytes at/],
    [whole.subarray(1), /The log 's3:.*\/log-1' lacks bytes at/],
    [Buffer.from(whole).fill(0, whole.length - 1), /The log '.*log-1' has changed before byte/],
  ];
  for (const [i, [bytes, sentence]] of damages.entries()) {
    if (bytes) store.objects.set(last!, bytes);
    else store.objects.delete(last!);
    await assert.rejects(factsOn(`b${i}`, end), { name: 'DamagedLogError', message: sentence });
  }
});
