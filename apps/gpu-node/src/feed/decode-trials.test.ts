import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DecodePlan, DecodeTrials, turnsBeforeTrial } from './decode-trials.ts';

const rates = (device: number, cores: number) => ({ device, cores });

/** The plans of a number of turns. `brings` gives the rate of a turn from its plan. */
function plansOf(trials: DecodeTrials, turns: number, brings: Partial<Record<DecodePlan, number>>, of = rates(9, 1)) {
  return Array.from({ length: turns }, () => {
    const { plan } = trials;
    trials.measured(brings[plan]!, of);
    return plan;
  });
}

test('both decoders begin, and trials without a gain become rarer', () => {
  const plans = plansOf(new DecodeTrials(), 600, { device: 102, both: 100 });
  const tried = plans.flatMap((plan, turn) => (plan === 'device' ? [turn] : []));
  assert.deepEqual(
    tried.map((turn, i) => turn - (tried[i - 1] ?? -1) - 1),
    [turnsBeforeTrial, 4, 8, 16, 32, 64, 128, 128, 128],
  );
});

test('a faster plan is kept until the other one is faster', () => {
  const trials = new DecodeTrials();
  plansOf(trials, turnsBeforeTrial, { both: 100 });
  assert.deepEqual(plansOf(trials, 3, { device: 104 }), ['device', 'device', 'device']);
  assert.deepEqual(plansOf(trials, 3, { both: 108 }), ['both', 'both', 'both']);
});

test('a turn that something else held up does not decide', () => {
  const trials = new DecodeTrials();
  const brought = [100, 99, 101, 100, 10, 100];
  for (const [turn, rate] of brought.entries()) {
    if (turn === turnsBeforeTrial) plansOf(trials, 1, { device: 50 });
    assert.equal(trials.plan, 'both');
    plansOf(trials, 1, { both: rate });
  }
  assert.deepEqual(plansOf(trials, 2, { device: 90, both: 100 }), ['device', 'both']);
});

test('the alternative to both is the decoder that is faster at present', () => {
  const trials = new DecodeTrials();
  plansOf(trials, turnsBeforeTrial, { both: 100 }, rates(1, 2));
  assert.equal(trials.plan, 'cores');
});
