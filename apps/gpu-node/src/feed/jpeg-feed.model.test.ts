import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ModelledMachine, secondsOf } from './testing/modelled-node.ts';

/** The number of frames that a machine's faster decoder decodes in `seconds`. */
const framesFor = ({ device, cores }: ModelledMachine, seconds: number): number => Math.max(device, cores) * seconds;

// Over 120 random machines, trials took at most 5 % of half a minute. Sharing without trials took up to 67 % longer.
test('apart from its trials, auto is as fast as the faster decoder, however much cores and the device slow each other down', async () => {
  const rate = fc.integer({ min: 0, max: 40 }).map((step) => 1000 * 2 ** (step / 10));
  const machines = fc.record({
    device: rate,
    cores: rate,
    drag: fc.double({ min: 0, max: 0.6, noNaN: true }),
    compileSeconds: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(machines, async (machine) => {
      const frames = framesFor(machine, 30);
      const [auto, gpu, cpu] = [
        await secondsOf(machine, 'auto', frames),
        await secondsOf(machine, 'gpu', frames),
        await secondsOf(machine, 'cpu', frames),
      ];
      assert.ok(auto <= 1.1 * Math.min(gpu, cpu), `auto ${auto} s, gpu ${gpu} s, cpu ${cpu} s`);
    }),
    { numRuns: 20 },
  );
});

test('equal decoders that do not slow each other down share the work', async () => {
  const machine = { device: 4000, cores: 4000, drag: 0, compileSeconds: 0.2 };
  const seconds = await secondsOf(machine, 'auto', framesFor(machine, 20));
  assert.ok(seconds < 12, `${seconds} s where one alone takes 20`);
});
