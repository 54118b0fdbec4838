import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isThorough, programLimitMs, within } from '@halogrid/testing';
import { canMakeRoots, inEmptyRoot, makeEmptyRoot } from './empty-root.ts';
import { halogrid } from './halogrid.ts';
import { makeTarball } from './make-tarball.ts';
import { readJson, sha256 } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';

// The tarball with Node inside: it runs on systems without Node.

const samples = fileURLToPath(new URL('../samples', import.meta.url));
const frames = join(samples, 'frames');
const platform = `linux-${process.arch}`;
const isLinux = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
const skip = isLinux ? false : 'tarballs are for Linux on x64 and arm64';
const scratch = join(scratchFolder(), 'a folder');
let installed: string;
/** The digest of the frames, computed by the checkout. */
let expected: string;

/** An environment without Node in the path, and without a home. */
const env = { PATH: '/usr/bin:/bin', HOME: '/nowhere' };

before(async () => {
  if (skip) return;
  mkdirSync(scratch);
  installed = await makeTarball(platform, scratch);
  const plain = join(scratch, 'plain');
  await runUndisturbed([frames, '--out', plain]);
  expected = readJson(plain, 'job.json').digest;
});

const pathsOf = (): string[] => globSync('**', { cwd: installed });

test('it is small, without FFmpeg, and with native code of only one platform', { skip }, () => {
  assert.ok(statSync(`${installed}.tar.gz`).size < 80e6);
  const native = pathsOf().filter((path) => /\.(node|so[.\d]*|dll|dylib)$|bin\/node$/.test(path));
  assert.equal(native.length, 6, native.join('\n'));
  const strange = pathsOf().filter((path) => /node-av|(^|\/)(darwin|win32|musl)[-_]|-musl\/|\.d\.ts$/.test(path));
  assert.deepEqual(strange, []);
});

test('its checksum matches the file, and its bill of materials has all packages in it', { skip }, () => {
  const name = `${installed}.tar.gz`;
  assert.equal(readFileSync(`${name}.sha256`, 'utf8').split(' ')[0], sha256(readFileSync(name)));
  const { bomFormat, metadata, components } = readJson(`${installed}.cdx.json`);
  assert.deepEqual([bomFormat, metadata.component.name], ['CycloneDX', 'halogrid']);
  const listed = new Set(
    components.map(({ name, version }: { name: string; version: string }) => `${name}@${version}`),
  );
  const packages = pathsOf().filter((path) => /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path));
  assert.ok(packages.length > 15);
  for (const path of packages) {
    const { name, version } = readJson(installed, path);
    if (name !== 'halogrid') assert.ok(listed.has(`${name}@${version}`), `${name}@${version}`);
  }
  const names = components.map(({ name }: { name: string }) => name);
  for (const part of [`node-${platform}`, 'pg', 'openseadragon']) assert.ok(names.includes(part), part);
});

test('it has the licences of Node and of the packages in the bundle', { skip }, () => {
  const licences = join(installed, 'lib/node_modules/halogrid/licenses');
  assert.match(readFileSync(join(licences, 'node.txt'), 'utf8'), /Node\.js is licensed/);
  assert.match(readFileSync(join(licences, 'bundled-packages.txt'), 'utf8'), /^commander \d+\.\d+\.\d+: MIT$/m);
});

test('it runs through links, from any folder and without Node in the path', { skip }, async () => {
  const link = join(scratch, 'link');
  symlinkSync('a link', link);
  symlinkSync(join(installed, 'halogrid'), join(scratch, 'a link'));
  const out = join(scratch, 'through links');
  const { code, stderr } = await halogrid(['run', '.', '--device', 'cpu', '--out', out], {
    installed: link,
    cwd: frames,
    env,
  });
  assert.equal(code, 0, stderr);
  assert.equal(readJson(out, 'job.json').digest, expected);
});

test('a job with a recording says how videos are added', { skip }, async () => {
  const recording = ['run', join(samples, 'videos'), '--out', join(scratch, 'recording')];
  const { code, stdout } = await halogrid(recording, { installed: join(installed, 'halogrid'), env });
  assert.equal(code, 3, stdout);
  const command =
    /Videos cannot be read here: .*'npm install --global --prefix "(.*)" @seydx\/node-av-linux-\w+@[\d.]+' adds it/;
  assert.equal(command.exec(stdout)?.[1], installed);
});

test('in a read-only root with only glibc and no network, it computes the same as the checkout on each device', {
  skip: skip || (canMakeRoots() ? false : 'this user may not make a root of its own'),
}, async () => {
  const root = join(scratchFolder(), 'root');
  makeEmptyRoot(root, installed, samples);
  const devices = process.arch === 'x64' ? ['cpu', 'software'] : ['cpu'];
  const runs = devices.map(
    (device) => `./halogrid run /samples/frames --device ${device} --nodes 2 --out /root/${device}`,
  );
  const script = ['cd /opt/*', './halogrid --help', './halogrid doctor >/root/doctor.txt', ...runs].join('\n');
  const [unshare, ...words] = inEmptyRoot(root, script);
  await within('the script', promisify(execFile)(unshare!, words), programLimitMs);
  for (const device of devices) assert.equal(readJson(root, 'root', device, 'job.json').digest, expected);
  const doctor = readFileSync(join(root, 'root/doctor.txt'), 'utf8');
  for (const device of devices) assert.match(doctor, new RegExp(`^${device} +works: `, 'm'));
  assert.match(
    doctor,
    /^videos +no: .*'npm install --global --prefix \/opt\/\S+ @seydx\/node-av-linux-\w+@[\d.]+' adds it$/m,
  );
});

test('the same files give the same bytes', {
  skip: skip || (isThorough ? false : 'with HALOGRID_THOROUGH=1'),
}, async () => {
  const again = join(scratch, 'again');
  mkdirSync(again);
  await makeTarball(platform, again);
  const sums = [scratch, again].map((folder) => readFileSync(globSync(`${folder}/*.tar.gz.sha256`)[0]!, 'utf8'));
  assert.equal(sums[0], sums[1]);
  execFileSync('sha256sum', ['--check', '--quiet', ...globSync('*.sha256', { cwd: again })], { cwd: again });
});
