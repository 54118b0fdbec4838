// Node's spec reporter, with the totals at its end as TAP comments ('# pass 12'), which people and programs find in any
// log. If TEST_FAILED names a file, a line of JSON is added to it for each failed test: its file, name and message.
import { Readable } from 'node:stream';
import { spec } from 'node:test/reporters';
import { addLine } from './json-lines.mjs';

export default async function* report(events) {
  for await (const chunk of Readable.from(recorded(events)).compose(new spec())) {
    yield String(chunk).replace(/^.*?ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /gm, '# $1 ');
  }
}

async function* recorded(events) {
  const path = process.env.TEST_FAILED;
  for await (const event of events) {
    if (path !== undefined && event.type === 'test:fail') addLine(path, failureOf(event.data));
    yield event;
  }
}

/** The innermost failure comes first and has the reason; a suite or file then only says that its parts failed. */
function failureOf({ file, name, details }) {
  const error = details.error?.cause ?? details.error;
  return { file, test: name, message: String(error?.message ?? error).split('\n')[0] };
}
