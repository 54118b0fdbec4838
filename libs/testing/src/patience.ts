import { availableParallelism, loadavg } from 'node:os';

/** How much longer than usual tests wait: HALOGRID_PATIENCE, a number from 1 on; 1 unless it is set. */
const patience = Math.max(1, Number(process.env.HALOGRID_PATIENCE ?? 1));

/**
 * The longest time that a test waits for one thing: far more than it takes on a busy machine. Only a fault takes so
 * long.
 */
export const waitLimitMs = 180_000 * patience;

/**
 * The longest that a program of a test may live, such as a command, or a cluster that a file of tests shares: longer
 * than any wait, which says what it waited for.
 */
export const programLimitMs = 600_000 * patience;

/**
 * The longest that one test may take, or one file where each has a process; longer than any wait, which says what it
 * waited for.
 */
export const testLimitMs = 1_200_000 * patience;

/** The longest that the process of a test file may go on after its tests, while their own hooks clean up. */
export const goneLimitMs = 120_000 * patience;

/** A timer that comes later than this shows that the machine did not let this process run. */
export const lateMs = 50;

/**
 * What a wait counts of the time between two ticks `periodMs` apart: no more than the period if the second tick was
 * late.
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
