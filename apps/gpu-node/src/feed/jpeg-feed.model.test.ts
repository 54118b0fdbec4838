import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ModelledMachine, secondsOf } from './testing/modelled-node.ts';

/** The number of frames that the faster decoder of a machine decodes in that many seconds. */
const framesFor = ({ device, cores }: ModelledMachine, seconds: number): number => Math.max(device, cores) * seconds;

// Its trials took 5 % of half a minute at most, over 120 random machines; sharing without them took up to 67 % longer.
test('auto is as fast as the better of its parts but for its trials, however cores and the device hold each other up', async () => {
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

test('equal decoders that do not hold each other up share the work', async () => {
  const machine = { device: 4000, cores: 4000, drag: 0, compileSeconds: 0.2 };
  const seconds = await secondsOf(machine, 'auto', framesFor(machine, 20));
  assert.ok(seconds < 12, `${seconds} s where one alone takes 20`);
});
