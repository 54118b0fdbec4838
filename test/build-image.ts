import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyContext } from './docker-context.ts';

// Builds images without Docker: each stage of a Dockerfile becomes a folder, in which its commands are run.

const checkout = fileURLToPath(new URL('..', import.meta.url));

/**
 * A stage: its folder, the working folder in it, and whether its commands are run. Commands of Debian stages are not.
 */
interface Stage {
  root: string;
  cwd: string;
  isRun: boolean;
}

/** Runs a script with a private, read-only mount of the checkout's packages, so that nothing need be installed. */
const withPackages = (place: string, script: string): string[] => [
  ...['-rm', '--propagation', 'private', 'sh', '-euc'],
  `mkdir -p '${place}'
  mount --bind '${join(checkout, 'node_modules')}' '${place}'
  mount -o remount,bind,ro '${place}'
  ${script}`,
];

/** Whether this user may make such a mount. */
export const canBuildImages = (scratch: string): boolean =>
  process.platform === 'linux' && spawnSync('unshare', withPackages(join(scratch, 'place'), 'true')).status === 0;

/** Builds images below a folder. A stage that several images share is built once. */
export class ImageBuilder {
  readonly #scratch: string;
  readonly #architecture: string;
  readonly #built = new Map<string, Stage>();

  /** `architecture`: the processor of the images, as Docker calls it. */
  constructor(scratch: string, architecture: 'amd64' | 'arm64' = process.arch === 'arm64' ? 'arm64' : 'amd64') {
    this.#scratch = scratch;
    this.#architecture = architecture;
  }

  /** Builds the image of a Dockerfile; returns the folder with its files, without the base image. */
  build(dockerfile: string): string {
    const lines = readFileSync(join(checkout, dockerfile), 'utf8')
      .replaceAll(/\\\n\s*/g, ' ')
      .split('\n');
    const stages = lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .join('\n')
      .split(/\n(?=FROM )/);
    const named = new Map<string, Stage>();
    let last: Stage | undefined;
    for (const stage of stages) {
      const [, base, name] = /^FROM (?:--platform=\S+ )?(\S+)(?: AS (\S+))?/.exec(stage)!;
      last = this.#built.get(stage) ?? this.#buildStage(stage, dockerfile, named, named.get(base!));
      this.#built.set(stage, last);
      if (name) named.set(name, last);
    }
    return last!.root;
  }

  #buildStage(text: string, dockerfile: string, named: Map<string, Stage>, base?: Stage): Stage {
    const root = join(this.#scratch, `stage-${this.#built.size}`);
    mkdirSync(root);
    // Hard links suffice, because a later stage removes files but changes none.
    if (base) execFileSync('cp', ['-al', `${base.root}/.`, root]);
    const stage = { root, cwd: base?.cwd ?? '/', isRun: base?.isRun ?? /^FROM (--platform=\S+ )?node:/.test(text) };
    const arguments_: Record<string, string> = { TARGETARCH: this.#architecture };
    for (const line of text.split('\n').slice(1)) {
      const [, instruction, words] = /^(\w+) (.*)$/.exec(line)!;
      if (instruction === 'WORKDIR') stage.cwd = words!;
      mkdirSync(join(root, stage.cwd), { recursive: true });
      if (instruction === 'COPY') copy(words!, stage, named, dockerfile);
      if (instruction === 'ARG' && words!.includes('=')) {
        Object.assign(arguments_, Object.fromEntries([words!.split('=')]));
      }
      if (instruction === 'RUN' && stage.isRun) run(words!, stage, arguments_);
    }
    return stage;
  }
}

function copy(words: string, { root, cwd }: Stage, named: Map<string, Stage>, dockerfile: string): void {
  const [, from, source, target] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(words)!;
  if (from)
    return void execFileSync('cp', ['-al', `${join(named.get(from)!.root, source!)}/.`, join(root, cwd, target!)]);
  assert.deepEqual([source, target], ['.', '.']);
  copyContext(dockerfile, join(root, cwd));
}

function run(words: string, { root, cwd }: Stage, settings: Record<string, string>): void {
  const command = words.replace(/^--mount=\S+ /, '');
  const script = `cd '${join(root, cwd)}'; ${command}`;
  const { status, stderr } = spawnSync('unshare', withPackages(join(root, 'build/source/node_modules'), script), {
    env: { ...process.env, ...settings },
    encoding: 'utf8',
  });
  assert.equal(status, 0, `RUN ${command}: ${stderr}`);
}
