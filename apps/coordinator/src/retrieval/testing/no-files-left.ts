// A process that has all files open that it may: prints what becomes of a search, and that it is still there.
import { closeSync, openSync } from 'node:fs';
import { Retrieval } from '../retrieval.ts';

const retrieval = new Retrieval();
/** Leaves as many as it is told. */
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
// An error that nobody waits for would end the process by now.
setTimeout(() => console.log(said), 200);
