// A process that has opened as many files as it may. It prints how a search ends, which shows that the process goes on.
import { closeSync, openSync } from 'node:fs';
import { pause } from '@halogrid/testing';
import { Retrieval } from '../retrieval.ts';

const retrieval = new Retrieval();
/** The files that use up the limit. As many as the argument says are closed again. */
const opened: number[] = [];
try {
  for (;;) opened.push(openSync('/dev/null', 'r'));
} catch {
  for (const descriptor of opened.splice(0, Number(process.argv[2]))) closeSync(descriptor);
}
const said = await retrieval.ask('indexes', []).then(
  () => 'answered',
  ({ message }: Error) => message,
);
// An unhandled error would have ended the process by now.
await pause(200);
console.log(said);
