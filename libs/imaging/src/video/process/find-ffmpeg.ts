import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MissingDecoderError } from '../../missing-decoder-error.ts';

/**
 * The package that has FFmpeg for this machine, and the one version whose frames are tested: another may decode to
 * other pixels.
 */
export const ffmpegPackage = { name: `@seydx/node-av-linux-${process.arch}`, version: '6.1.1' } as const;

const platforms = ['linux x64', 'linux arm64'];

/**
 * The path of FFmpeg's file, which is not loaded. It is looked for as Node looks for any package: from the folder of
 * this module upwards, then in `NODE_PATH`. So it may lie in the node_modules of a checkout, or beside a halogrid that
 * npm installed.
 *
 * @throws MissingDecoderError with a command that installs it, if it is missing or has another version
 */
export function findFfmpeg(): string {
  return findFfmpegFrom(fileURLToPath(import.meta.url));
}

/** The same for the module of a path, `halogrid` being five folders above it. */
export function findFfmpegFrom(module: string, machine = `${process.platform} ${process.arch}`): string {
  const { name, version } = ffmpegPackage;
  if (!platforms.includes(machine)) throw missing(`FFmpeg is there for Linux on x64 and arm64; this is ${machine}`);
  const command = commandToAdd(join(dirname(module), '../../../../..'));
  let path: string;
  try {
    path = createRequire(module).resolve(name);
  } catch {
    throw missing(`the package ${name} is not installed; '${command}' adds it`);
  }
  const found: string = JSON.parse(readFileSync(join(dirname(path), 'package.json'), 'utf8')).version;
  if (found !== version) {
    throw missing(`${dirname(path)} is version ${found}, and ${version} is needed; '${command}' installs that`);
  }
  return path;
}

/** The command that installs the package where a halogrid in that folder finds it. */
function commandToAdd(halogrid: string): string {
  const above = dirname(halogrid);
  const isInstalled = basename(halogrid) === 'halogrid' && basename(above) === 'node_modules';
  if (!isInstalled) return 'npm install';
  const project = dirname(above);
  const isGlobal = basename(project) === 'lib';
  const where = isGlobal ? `--global --prefix ${quoted(dirname(project))}` : `--prefix ${quoted(project)}`;
  return `npm install ${where} ${ffmpegPackage.name}@${ffmpegPackage.version}`;
}

/** A path as one word of a shell. */
const quoted = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `"${path.replaceAll(/["$`\\]/g, '\\$&')}"`;

const missing = (why: string): MissingDecoderError =>
  new MissingDecoderError('video', `Videos cannot be read here: ${why}`);
