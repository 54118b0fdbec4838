import { availableParallelism, loadavg } from 'node:os';

/** How much longer than usual tests wait: HALOGRID_PATIENCE, a number from 1 on; 1 unless it is set. */
const patience = Math.max(1, Number(process.env.HALOGRID_PATIENCE ?? 1));

/**
 * The longest time that a test waits for one thing: far more than it takes on a busy machine. Only a fault takes
 * longer.
 */
export const waitLimitMs = 180_000 * patience;

/**
 * The longest life of a program that a test starts, such as a command or a shared cluster. Longer than any wait,
 * because the end of a wait says what it waited for.
 */
export const programLimitMs = 600_000 * patience;

/**
 * The longest time for one test, or for one test file if each has its own process. Longer than any wait, because the
 * end of a wait says what it waited for.
 */
export const testLimitMs = 1_200_000 * patience;

/** The longest time that the process of a test file may go on after its tests, while hooks clean up. */
export const goneLimitMs = 120_000 * patience;

/** A timer that fires later than this shows that the machine did not let this process run. */
export const lateMs = 50;

/**
 * How much of the time between two ticks `periodMs` apart a wait counts: only the period if the second tick was late.
 */
export const countedMs = (elapsedMs: number, periodMs: number): number =>
  elapsedMs > periodMs + lateMs ? periodMs : elapsedMs;

/**
 * The timeout, in whole milliseconds, that a test gives to a program it starts (`--device-timeout`, `--node-timeout`,
 * `--decoder-timeout`): `ms` on a machine at rest, and in proportion longer while more processes want to run than there
 * are cores. A test whose outcome needs the timeout to pass waits for that event, however long it takes.
 */
export const timeoutMs = (ms: number): number =>
  Math.ceil(ms * patience * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()));
