// Helpers for the tests of every package: waits, timeouts, repetitions, ports, and checks of printed text.
export { type Beside, beside } from './beside.ts';
export { eventually } from './eventually.ts';
export { freePort } from './free-port.ts';
export { isThorough, repeated, runs } from './how-often.ts';
export { matched } from './matched.ts';
export { memoryFolder } from './memory-folder.ts';
export { programLimitMs, timeoutMs, waitLimitMs } from './patience.ts';
export { pause, turns } from './pause.ts';
export { askPython, pythonFails } from './python.ts';
export { sampled } from './sampled.ts';
export { lastLines, type StartedProgram, showOnFailure } from './show-on-failure.ts';
export { isStopped, standStill } from './stand-still.ts';
export { threadMs } from './thread-ms.ts';
export { within } from './within.ts';
