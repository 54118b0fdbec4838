import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { MissingDecoderError } from '../../missing-decoder-error.ts';
import { ffmpegPackage, findFfmpegFrom } from './find-ffmpeg.ts';

const { name, version } = ffmpegPackage;
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'halogrid-ffmpeg-')));
after(() => rmSync(scratch, { recursive: true }));

/** A module of a halogrid that is installed there, whose folders are made. */
function moduleIn(halogrid: string): string {
  const module = join(scratch, halogrid, 'libs/imaging/src/video/process/find-ffmpeg.ts');
  mkdirSync(dirname(module), { recursive: true });
  return module;
}

/** Puts the package, with an empty file in the place of FFmpeg, into a node_modules. */
function addPackage(nodeModules: string, installed: string = version): string {
  const folder = join(scratch, nodeModules, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: installed, main: 'node-av.node' }));
  writeFileSync(join(folder, 'node-av.node'), '');
  return join(folder, 'node-av.node');
}

const refusal = (module: string, machine?: string): string => {
  try {
    findFfmpegFrom(module, machine);
  } catch (error) {
    assert.ok(error instanceof MissingDecoderError);
    return error.message;
  }
  throw new Error('It was found');
};

for (const [what, halogrid, nodeModules] of [
  ['beside a global installation', 'global/lib/node_modules/halogrid', 'global/lib/node_modules'],
  ['in a project that depends on halogrid', 'project/node_modules/halogrid', 'project/node_modules'],
  ['in a folder above that project', 'above/project/node_modules/halogrid', 'above/node_modules'],
  ['in the node_modules of a checkout', 'checkout', 'checkout/node_modules'],
] as const) {
  test(`the package is found ${what}`, () => {
    const module = moduleIn(halogrid);
    const added = addPackage(nodeModules);
    assert.equal(findFfmpegFrom(module), added);
  });
}

test('the package is found by NODE_PATH', () => {
  const module = moduleIn('alone/lib/node_modules/halogrid');
  const added = addPackage('elsewhere');
  const script = `import { findFfmpegFrom } from '${import.meta.resolve('./find-ffmpeg.ts')}';
    process.stdout.write(findFfmpegFrom(process.argv[1]));`;
  const env = { ...process.env, NODE_PATH: join(scratch, 'elsewhere') };
  assert.equal(
    execFileSync(process.execPath, ['--input-type=module', '-e', script, module], { env, encoding: 'utf8' }),
    added,
  );
});

for (const [halogrid, command] of [
  ['prefix/lib/node_modules/halogrid', `npm install --global --prefix ${scratch}/prefix ${name}@${version}`],
  [
    'a $ prefix/lib/node_modules/halogrid',
    `npm install --global --prefix "${scratch}/a \\$ prefix" ${name}@${version}`,
  ],
  ['app/node_modules/halogrid', `npm install --prefix ${scratch}/app ${name}@${version}`],
  ['source', 'npm install'],
] as const) {
  test(`if it is missing, the sentence says how a halogrid in ${halogrid} gets it`, () => {
    const sentence = `Videos cannot be read here: the package ${name} is not installed; '${command}' adds it`;
    assert.equal(refusal(moduleIn(halogrid)), sentence);
  });
}

test('another version is refused, and so is another machine', () => {
  const module = moduleIn('other/node_modules/halogrid');
  const folder = dirname(addPackage('other/node_modules', '6.2.0'));
  const command = `npm install --prefix ${scratch}/other ${name}@${version}`;
  assert.equal(
    refusal(module),
    `Videos cannot be read here: ${folder} is version 6.2.0, and ${version} is needed; '${command}' installs that`,
  );
  assert.equal(
    refusal(module, 'darwin arm64'),
    'Videos cannot be read here: FFmpeg is there for Linux on x64 and arm64; this is darwin arm64',
  );
});

test('the version is the one that a checkout installs', () => {
  const { optionalDependencies } = JSON.parse(
    readFileSync(new URL('../../../../../package.json', import.meta.url), 'utf8'),
  );
  assert.deepEqual(optionalDependencies, {
    '@seydx/node-av-linux-arm64': version,
    '@seydx/node-av-linux-x64': version,
  });
});
