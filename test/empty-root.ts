import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

// Makes a root folder with only a shell, 'readlink' and the shared libraries of glibc and GCC, like the smallest images
// of distributions.

const programs = ['/bin/sh', '/usr/bin/readlink'];

/** Makes the root, with the folder `opt` of the machine at /opt and samples at /samples. */
export function makeEmptyRoot(root: string, opt: string, samples: string): void {
  for (const folder of ['proc', 'dev', 'tmp', 'opt', 'root']) mkdirSync(join(root, folder), { recursive: true });
  const native = globSync(['bin/node', '**/*.node', '**/*.so*'], { cwd: opt }).map((path) => join(opt, path));
  const libraries = sharedLibraries([...programs, ...native]);
  execFileSync('cp', ['-L', '--parents', ...programs, ...libraries, root]);
  execFileSync('cp', ['-al', opt, join(root, 'opt')]);
  cpSync(samples, join(root, 'samples'), { recursive: true });
}

/** Shared libraries of the machine that these files need. */
function sharedLibraries(files: readonly string[]): string[] {
  const said = spawnSync('ldd', files, { encoding: 'utf8' }).stdout;
  const found = [...said.matchAll(/(?:=>|^\s)\s*(\/(?:usr\/)?lib\S+) \(/gm)].map(([, path]) => path!);
  return [...new Set(found)];
}

/**
 * The command that runs a script in that root, isolated from the machine's files, processes, network and environment.
 * /opt is read-only.
 */
export function inEmptyRoot(root: string, script: string): string[] {
  const mounts = `
    mount -t proc proc proc
    mount --rbind /dev dev
    mount -t tmpfs tmpfs tmp
    mount --bind opt opt
    mount -o remount,bind,ro opt
    ip link set lo up
    exec env -i PATH=/bin:/usr/bin HOME=/root "$(command -v chroot)" . /bin/sh -euc "$1"`;
  return ['unshare', '-rmnpf', '--kill-child', 'sh', '-euc', `cd '${root}'; ${mounts}`, 'sh', script];
}

/** Whether this user may make such a root. */
export const canMakeRoots = (): boolean =>
  process.platform === 'linux' &&
  spawnSync('unshare', ['-rmnpf', 'sh', '-euc', 'mount -t tmpfs tmpfs /mnt; ip link set lo up']).status === 0;
