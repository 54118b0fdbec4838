// What every package's tests share: how long they wait, and how often they repeat.
export { beside } from './beside.ts';
export { eventually } from './eventually.ts';
export { isThorough, repeated, runs } from './how-often.ts';
export { programLimitMs, timeoutMs, waitLimitMs } from './patience.ts';
export { pause, turns } from './pause.ts';
export { lastLines, type StartedProgram, showOnFailure } from './show-on-failure.ts';
export { within } from './within.ts';
