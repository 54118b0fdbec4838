import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ffmpegPackage } from '@halogrid/imaging/ffmpeg';
import { softwareVersion } from '@halogrid/service/version';

// Commands to install halogrid name this version, and the FFmpeg that it needs.

const pages = ['docs/install.md', 'README.md'].map((name) =>
  readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'),
);
const text = pages.join('\n');

test('files of artefacts are named as npm run package names them', () => {
  const named = new Set(
    [...text.matchAll(/\bhalogrid-(?:client-)?\d[\w.-]*?(?:\.tgz|\.tar\.gz|linux-\w+)/g)].map(([name]) => name),
  );
  const platforms = ['linux-x64', 'linux-arm64'].map((platform) => `halogrid-${softwareVersion}-${platform}`);
  const packages = ['halogrid', 'halogrid-client'].map((name) => `${name}-${softwareVersion}.tgz`);
  const expected = [...packages, ...platforms.flatMap((name) => [name, `${name}.tar.gz`])];
  for (const name of named) assert.ok(expected.includes(name), name);
  for (const name of expected.filter((one) => one.endsWith('gz'))) assert.ok(text.includes(name), name);
});

test('the FFmpeg to add has the version that halogrid needs', () => {
  const versions = [...text.matchAll(/node-av-linux-\w+[@-](\d+\.\d+\.\d+)/g)].map(([, version]) => version);
  assert.ok(versions.length >= 4);
  for (const version of versions) assert.equal(version, ffmpegPackage.version);
});

test('the page asks for the same Node.js as the package', async () => {
  const { leastNode } = await import('../scripts/bundle.mjs');
  for (const page of pages) assert.match(page, new RegExp(`Node\\.js ${leastNode.join('\\.')} or newer`));
});
