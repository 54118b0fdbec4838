import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { resultsVersion, softwareVersion } from '@halogrid/service/version';

const checkout = fileURLToPath(new URL('..', import.meta.url));
const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!);

test('the change log has unreleased changes, then releases, the newest of them this version', () => {
  const [unreleased, ...releases] = headings;
  assert.equal(unreleased, '[Unreleased]');
  for (const release of releases) assert.match(release, /^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/);
  assert.equal(releases[0]!.split(' ')[0], `[${softwareVersion}]`);
});

test('the change log states the version of the results', () => {
  const versions = [...changelog.matchAll(/^Results version (\d+)\.$/gm)].map(([, version]) => Number(version));
  assert.equal(versions[0], resultsVersion);
});

test('changes are of the kinds that Keep a Changelog defines', () => {
  const kinds = [...changelog.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind);
  for (const kind of kinds)
    assert.ok(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'].includes(kind!), kind);
});

test('all packages of the workspace have its version', () => {
  const manifests = globSync(['package.json', '{apps,libs}/*/package.json', '{deploy,lab,test}/package.json'], {
    cwd: checkout,
  });
  assert.ok(manifests.length > 15);
  for (const path of manifests)
    assert.equal(JSON.parse(readFileSync(`${checkout}/${path}`, 'utf8')).version, softwareVersion, path);
});
