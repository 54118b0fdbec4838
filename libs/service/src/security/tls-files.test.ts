import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeCertificates, secretFolder } from './testing/secrets.ts';
import { openTls } from './tls-files.ts';

test('certificates are replaced together, within a second, and wrong files meanwhile change only the log', (t) => {
  const folder = secretFolder(t);
  const [first, second] = ['first', 'second'].map((name) => makeCertificates(folder, name));
  const [tlsCert, tlsKey, tlsCa] = ['cert', 'key', 'ca'].map((name) => join(folder, name)) as [string, string, string];
  const install = (from: string, to: string) => copyFileSync(from, to);
  install(first!.cert, tlsCert);
  install(first!.key, tlsKey);
  install(first!.ca, tlsCa);
  const tls = openTls({ tlsCert, tlsKey, tlsCa })!;
  const warnings: string[] = [];
  // Later than the time when the certificates were opened.
  let nowMs = 1e12;
  const later = () => {
    // A little more than a second, because of rounding.
    nowMs += 1_001;
    return tls.current((sentence) => warnings.push(sentence), nowMs);
  };
  const before = later();
  assert.equal(before.cert, readFileSync(first!.cert, 'utf8'));

  install(second!.cert, tlsCert);
  for (let look = 0; look < 3; look++) assert.equal(later(), before);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /^The certificates stay as they were: .*key values mismatch/);

  install(second!.key, tlsKey);
  install(second!.ca, tlsCa);
  const after = later();
  const read = (path: string) => readFileSync(path, 'utf8');
  assert.deepEqual(after, { cert: read(second!.cert), key: read(second!.key), ca: read(second!.ca) });
  assert.equal(later(), after, 'what has not changed is the same object');

  rmSync(tlsKey);
  assert.equal(later(), after);
  assert.match(warnings[1]!, /^The certificates stay as they were: The file '.*key' \(--tls-key\) cannot be read/);
  install(second!.key, tlsKey);
  assert.deepEqual(later(), after);
  rmSync(tlsCa);
  symlinkSync(tlsCa, tlsCa);
  assert.deepEqual(later(), after);
  assert.match(warnings[2]!, /^The certificates stay as they were: The file '.*ca' \(--tls-ca\) cannot be read: ELOOP/);
  assert.equal(warnings.length, 3);
});
