// Prints what tests depend on besides files of the checkout. If it has changed, Nx does not reuse earlier results.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs that some tests need; without them these tests are skipped. */
const programs = [
  ...['cc', 'djpeg', 'docker-compose', 'dwebp', 'ffmpeg', 'iptables', 'kubectl', 'mount', 'nvcc'],
  ...['ip', 'openssl', 'prometheus', 'promtool', 'python3', 'qemu-aarch64-static', 'systemd-analyze', 'unshare'],
];

/** Modules of Debian's Python that some tests need. */
const pythonModules = ['numpy', 'pandas', 'pip', 'sklearn'].map((name) => `/usr/lib/python3/dist-packages/${name}`);

const isRunnable = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const folders = (process.env.PATH ?? '').split(delimiter);
const fileOf = (name) => folders.map((folder) => join(folder, name)).find(isRunnable);
const identity = (path) => path && [path, statSync(path).size, statSync(path).mtimeMs];

const conditions = {
  node: [process.version, process.platform, process.arch],
  user: process.getuid?.(),
  programs: programs.map((name) => identity(fileOf(name))),
  pythonModules: pythonModules.filter((path) => existsSync(path)),
  // Every setting with one of our prefixes, including future ones.
  settings: Object.entries(process.env)
    .filter(([name]) => /^(HALOGRID|AWS|VK)_/.test(name))
    .sort(),
};
console.log(JSON.stringify(conditions));
