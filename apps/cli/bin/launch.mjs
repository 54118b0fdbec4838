import { spawn } from 'node:child_process';
import { accessSync, mkdirSync, constants as modes, readFileSync } from 'node:fs';
// Older Nodes start this, too, and have not all that is in it.
import module from 'node:module';
import { availableParallelism, constants, homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { main, node, nodeMajor, whyNot } from './program.mjs';

export { main };

/**
 * What a coordinator drops are messages that lived for some milliseconds. Node's own settings let 130 MB of them gather
 * in the young generation, and the old one grow to four times what it holds before it is collected; with these the
 * process had 460 MB resident after 120,000 frames instead of 710, for a tenth more processor time where nothing but
 * answers is worked on (measured). The first 128 MB are not collected before they are there: bytes that came count as
 * old at once, and the whole of a small heap was looked through for every 9,000 frames, an eighth of all processor time
 * of a frame (measured).
 */
const coordinatorFlags = ['--max-semi-space-size=16', '--heap-growing-percent=100', '--initial-old-space-size=128'];

/** Node 22 says of `node:sqlite` that it is an experiment; nothing else that is one is used. */
const quietFlags = nodeMajor >= 24 ? [] : ['--disable-warning=ExperimentalWarning'];

/**
 * Flags of Node for a command.
 *
 * @param {readonly string[]} args
 * @returns {string[]}
 */
export function nodeFlags([command = '']) {
  return [...quietFlags, ...(command === 'coordinator' ? coordinatorFlags : [])];
}

/**
 * Where Node keeps what it compiled: a job on a small image takes 1.2 CPU seconds with it and 2.0 without (measured).
 */
function compiledCode() {
  try {
    const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
    if (!isAbsolute(cache)) return {};
    const folder = join(cache, 'halogrid', 'compiled');
    makeFolders(folder);
    accessSync(folder, modes.W_OK);
    return { NODE_COMPILE_CACHE: folder };
  } catch {
    // A user whom the system does not know, as in containers, has no home; and some homes cannot be written.
    return {};
  }
}

/**
 * Throws where the folder cannot be made. Node makes that of its cache by itself, but never ends where a folder that
 * exists says that nothing can be in it, as /proc does.
 *
 * @param {string} path
 */
function makeFolders(path) {
  try {
    mkdirSync(path);
  } catch (error) {
    if (error.code === 'EEXIST') return;
    if (error.code !== 'ENOENT' || path === dirname(path)) throw error;
    makeFolders(dirname(path));
    mkdirSync(path);
  }
}

/**
 * The environment of a program.
 *
 * @returns {NodeJS.ProcessEnv}
 */
export function environment() {
  return {
    // libuv reads this once, at its first use, so it must be set before the program starts. Decoders and file reads run
    // on that pool, whose default of 4 leaves larger machines idle.
    UV_THREADPOOL_SIZE: String(Math.max(4, availableParallelism())),
    ...compiledCode(),
    ...process.env,
  };
}

/** The variable that tells a program which processes are npx and the shell in which npx runs it. */
export const npxVariable = 'HALOGRID_NPX';

/**
 * The shell in which npx runs this program, and npx itself; npx alone where the shell has become the program, as bash
 * does; undefined if npx did not start it. The shell dies of a signal that npx passes on, but does not pass it on to
 * the program. So the program learns of the signal when either process ends.
 *
 * @returns {string | undefined}
 */
function npxProcesses() {
  if (process.env.npm_command !== 'exec' || process.platform !== 'linux') return undefined;
  const parent = process.ppid;
  const words = readProc(parent, 'cmdline').split('\0');
  // npm calls its process so.
  if (words[0].startsWith('npm exec ')) return `${parent}`;
  return words[1] === '-c' ? `${parent} ${parentOf(parent)}` : undefined;
}

const lookEveryMs = 150;

/**
 * Calls `tell` once one of those processes is gone. It waits for one more look, so that the program has handled a
 * signal that was sent to all of them.
 *
 * @param {string} processes as `npxProcesses` names them
 * @param {() => void} tell
 */
export function whenNpxIsGone(processes, tell) {
  const [parent, npx] = processes.split(' ').map(Number);
  let isGone = false;
  const looking = setInterval(() => {
    if (isGone) {
      clearInterval(looking);
      tell();
    }
    isGone = process.ppid !== parent || (npx !== undefined && parentOf(parent) !== npx);
  }, lookEveryMs).unref();
}

/**
 * The parent of a process by its number; NaN once the process is gone. The name of the process, before the last ')',
 * may hold any character.
 */
const parentOf = (pid) => Number(readProc(pid, 'stat').split(') ').at(-1).split(' ')[1]);

/** Empty if the process is gone. */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Signals that are passed on to the program. */
const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs `halogrid ...args` in this process, where it is of the Node that is wanted and has the flags: to start another
 * takes 25 ms of processor time. Otherwise in the place of this process where Node can do that (22.15 on, not on
 * Windows): then there is no other process that could outlive this one, whatever ends it. Otherwise resolves with its
 * exit code (128 + the signal's number when a signal ended it, as a shell would say).
 *
 * @param {string[]} args
 * @returns {Promise<number>}
 */
export function launch(args) {
  if (whyNot) {
    console.error(`halogrid: ${whyNot}`);
    return Promise.resolve(1);
  }
  const flagged = nodeFlags(args);
  const words = [...flagged, main, ...args];
  const [env, npx] = [environment(), npxProcesses()];
  if (node === process.execPath && flagged.length === 0) return runHere(words, env, npx);
  // The first process of a container is not ended by signals that it does not handle, and a program handles them only
  // later.
  if (process.execve && process.platform !== 'win32' && process.pid !== 1) {
    process.execve(node, [node, ...words], npx ? { ...env, [npxVariable]: npx } : env);
  }
  return launchChild(words, env, npx);
}

/**
 * The program ends this process.
 *
 * @param {string[]} words
 * @param {NodeJS.ProcessEnv} env
 * @param {string | undefined} npx as `npxProcesses` names them
 * @returns {Promise<number>}
 */
async function runHere(words, env, npx) {
  // Nothing was read on libuv's pool yet, which looks at its size when it is first used.
  Object.assign(process.env, env, npx && { [npxVariable]: npx });
  if (env.NODE_COMPILE_CACHE) module.enableCompileCache(env.NODE_COMPILE_CACHE);
  process.argv = [node, ...words];
  await import(pathToFileURL(main).href);
  return Number(process.exitCode ?? 0);
}

/**
 * @param {string[]} words
 * @param {NodeJS.ProcessEnv} env
 * @param {string | undefined} npx as `npxProcesses` names them
 * @returns {Promise<number>}
 */
function launchChild(words, env, npx) {
  const child = spawn(node, words, {
    // The channel's end tells the program that this process is gone, however it went.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env,
  });
  let isTold = false;
  const pass = (signal) => {
    isTold = true;
    child.kill(signal);
  };
  if (npx) whenNpxIsGone(npx, () => isTold || pass('SIGTERM'));
  for (const signal of passedOn) process.on(signal, pass);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      for (const name of passedOn) process.off(name, pass);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}
