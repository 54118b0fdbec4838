import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bindingNow, type UnderWay } from './binding.ts';
import { type Busy, BusyClock, BusyClocks, busyWith } from './busy-clock.ts';

test('overlapping work counts once, and work under way counts up to now', () => {
  let ms = 0;
  const clock = new BusyClock(() => ms, 'gpu');
  clock.begin('decode');
  ms = 1000;
  clock.begin('decode');
  clock.begin('shard');
  ms = 3000;
  clock.end('decode');
  assert.deepEqual(clock.take().busy, { read: 0, decode: 3, device: 0, encode: 0, shard: 2 });
  ms = 4000;
  clock.end('decode');
  clock.addDevice(0.25);
  // A shard that waits for its part does not keep the node busy.
  clock.begin('part');
  clock.addEncoded(0.5);
  ms = 9000;
  clock.end('part');
  clock.end('shard');
  assert.deepEqual(clock.take().busy, { read: 0, decode: 1, device: 0.25, encode: 0.5, shard: 6 });
  assert.ok(clock.isIdle);
});

test('at every moment the sum is the length of the union, and the shares of bottlenecks add up to the elapsed time', () => {
  const span = fc.record({
    activity: fc.constantFrom('read', 'network', 'decode', 'device', 'encode', 'shard'),
    from: fc.nat(50),
    length: fc.integer({ min: 1, max: 20 }),
  });
  fc.assert(
    fc.property(fc.array(span), fc.uniqueArray(fc.nat(70)), (spans, asked) => {
      let ms = 0;
      const clock = new BusyClock(() => ms * 1000, 'cpu');
      const none = () => Object.fromEntries(busyWith.map((name) => [name, 0])) as Record<Busy, number>;
      const [sums, union] = [none(), none()];
      let bound = 0;
      for (ms = 0; ms <= 70; ms++) {
        for (const { activity, from, length } of spans) {
          if (from === ms) clock.begin(activity);
          if (from + length === ms) clock.end(activity);
        }
        if (asked.includes(ms) || ms === 70) {
          const { busy, binding } = clock.take();
          for (const name of busyWith) sums[name] += busy[name];
          bound += Object.values(binding).reduce((sum, seconds) => sum + seconds, 0);
        }
        if (ms === 70) break;
        for (const name of busyWith) {
          const isOf = (activity: string) => activity === name || (activity === 'network' && name === 'read');
          const isUnderWay = spans.some(
            ({ activity, from, length }) => isOf(activity) && from <= ms && ms < from + length,
          );
          if (isUnderWay) union[name]++;
        }
      }
      assert.deepEqual(sums, union);
      assert.ok(Math.abs(bound - 70) < 1e-9, `${bound}`);
    }),
  );
});

const underWay = { network: 0, read: 0, decode: 0, device: 0, encode: 0, part: 0, shard: 1 };
const cases: [
  what: string,
  now: Partial<UnderWay>,
  isDeviceOfCores: boolean,
  expected: ReturnType<typeof bindingNow>,
][] = [
  [
    'a device that has work, even if more is read and decoded ahead',
    { read: 3, decode: 2, device: 1 },
    false,
    [['device', 1]],
  ],
  ['decoding, if the device has no work', { read: 3, decode: 2 }, false, [['decode', 1]]],
  ['reading, if there is nothing to decode', { read: 1, encode: 1 }, false, [['read', 1]]],
  ['a server', { network: 1 }, false, [['network', 1]]],
  ['maps, if nothing else is under way', { encode: 2 }, false, [['encode', 1]]],
  ['parts, if nothing else is under way', { part: 2 }, false, [['encode', 1]]],
  ['the device, for which parts wait', { part: 2, device: 1 }, false, [['device', 1]]],
  ['nothing of a shard', {}, false, [['node', 1]]],
  ['no shard', { shard: 0 }, false, [['idle', 1]]],
  [
    'cores that decode and compute',
    { decode: 3, device: 1 },
    true,
    [
      ['device', 1 / 4],
      ['decode', 3 / 4],
    ],
  ],
];
for (const [what, now, isDeviceOfCores, expected] of cases) {
  test(`what binds: ${what}`, () => assert.deepEqual(bindingNow({ ...underWay, ...now }, isDeviceOfCores), expected));
}

test("reads during the device's work are not the bottleneck", () => {
  let ms = 0;
  const clock = new BusyClock(() => ms, 'gpu');
  clock.begin('shard');
  // A file is always being read, and the device has a batch three quarters of the time.
  for (let second = 0; second < 4; second++) {
    clock.begin('read');
    if (second < 3) clock.begin('device');
    ms += 1000;
    if (second < 3) clock.end('device');
    clock.end('read');
  }
  const { busy, binding } = clock.take();
  assert.deepEqual([busy.read, binding.read, binding.device], [4, 1, 3]);
});

test('each job has its own clock, and a job whose last shard failed leaves nothing', async () => {
  let ms = 0;
  const clocks = new BusyClocks(() => ms, 'gpu');
  const both = await clocks.during('a', async (a) => {
    ms += 1000;
    return clocks.during('b', async (b) => {
      ms += 2000;
      return [a.take().busy.shard, b.take().busy.shard];
    });
  });
  assert.deepEqual(both, [3, 2]);
  const failed = clocks.during('a', async () => {
    ms += 5000;
    throw new Error('The device was lost');
  });
  await assert.rejects(failed, /lost/);
  assert.equal(await clocks.during('a', async (clock) => clock.take().busy.shard), 0);
  ms += 7000;
  const { busy, binding } = clocks.whole.take();
  assert.deepEqual([busy.shard, binding.node, binding.idle], [8, 8, 7]);
});
