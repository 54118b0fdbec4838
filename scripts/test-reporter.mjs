// Node's spec reporter, with the totals at its end in the form of TAP comments ('# pass 12'), which people and programs
// find in any log.
import { Readable } from 'node:stream';
import { spec } from 'node:test/reporters';

export default async function* report(events) {
  for await (const chunk of Readable.from(events).compose(new spec())) {
    yield String(chunk).replace(/^.*?ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /gm, '# $1 ');
  }
}
