import { spawn } from 'node:child_process';
import { accessSync, mkdirSync, constants as modes, readFileSync } from 'node:fs';
// The default import, because older Nodes load this file, too, and lack some of the named exports.
import module from 'node:module';
import { constants, homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cores, coresVariable, whyNotCores } from './cores.mjs';
import { main, node, nodeMajor, whyNot } from './program.mjs';

export { main };

/**
 * Memory flags for a coordinator, which drops messages that lived for some milliseconds. With Node's own settings, 130
 * MB of them gather in the young generation, and the old generation grows to four times what it holds before it is
 * collected. With these flags the process had 460 MB resident after 120,000 frames instead of 710, for a tenth more
 * processor time if it only handles answers (measured). The old generation is not collected before it has 128 MB:
 * received bytes count as old at once, and collections of a small heap every 9,000 frames took an eighth of the
 * processor time of a frame (measured).
 */
const coordinatorFlags = ['--max-semi-space-size=16', '--heap-growing-percent=100', '--initial-old-space-size=128'];

/** Node 22 warns that `node:sqlite` is experimental. The program uses no other experimental part. */
const quietFlags = nodeMajor >= 24 ? [] : ['--disable-warning=ExperimentalWarning'];

/**
 * The flags that Node gets for a command.
 *
 * @param {readonly string[]} args
 * @returns {string[]}
 */
export function nodeFlags([command = '']) {
  return [...quietFlags, ...(command === 'coordinator' ? coordinatorFlags : [])];
}

/**
 * The variable for the folder where Node caches compiled code: with it, a job on a small image takes 1.2 CPU seconds,
 * without it 2.0 (measured).
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
    // A user that the system does not know, as in containers, has no home, and some homes cannot be written.
    return {};
  }
}

/**
 * Makes a folder and those above it. Throws if that fails. Node would make the folder of its cache itself, but never
 * ends if an existing folder, such as /proc, says that nothing can be in it.
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
 * The environment in which the program runs.
 *
 * @returns {NodeJS.ProcessEnv}
 */
export function environment() {
  const count = cores();
  return {
    // libuv reads this once, at its first use, so it must be set before the program starts. Decoders and file reads run
    // on that pool, whose default of 4 leaves larger machines idle.
    UV_THREADPOOL_SIZE: String(Math.max(4, count)),
    [coresVariable]: String(count),
    ...compiledCode(),
    ...process.env,
  };
}

/** The variable that tells the program the processes of npx and of its shell. */
export const npxVariable = 'HALOGRID_NPX';

/**
 * The processes of the shell in which npx runs this program, and of npx; only npx if the shell has become the program,
 * as bash does; undefined if npx did not start it. The shell dies of a signal that npx passes on, without passing it on
 * to the program, so the program watches both processes.
 *
 * @returns {string | undefined}
 */
function npxProcesses() {
  if (process.env.npm_command !== 'exec' || process.platform !== 'linux') return undefined;
  const parent = process.ppid;
  const words = readProc(parent, 'cmdline').split('\0');
  // npm gives its process this title.
  if (words[0].startsWith('npm exec ')) return `${parent}`;
  return words[1] === '-c' ? `${parent} ${parentOf(parent)}` : undefined;
}

const lookEveryMs = 150;

/**
 * Calls `tell` once one of these processes is gone, one look later: by then the program has handled a signal that was
 * sent to all of them.
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
 * Runs `halogrid ...args` and resolves with its exit code (128 + the number of a signal that ended it, as in a shell).
 * It runs in this process if that is the right Node and no flags are needed: another process costs 25 ms of processor
 * time. Otherwise the new process replaces this one if Node can do that (from 22.15 on, not on Windows), so that none
 * outlives the other. Otherwise it is a child.
 *
 * @param {string[]} args
 * @returns {Promise<number>}
 */
export function launch(args) {
  if (whyNot) {
    console.error(`halogrid: ${whyNot}`);
    return Promise.resolve(1);
  }
  const wrong = whyNotCores();
  if (wrong) {
    console.error(`halogrid: ${wrong}`);
    return Promise.resolve(2);
  }
  const flagged = nodeFlags(args);
  const words = [...flagged, main, ...args];
  const [env, npx] = [environment(), npxProcesses()];
  if (node === process.execPath && flagged.length === 0) return runHere(words, env, npx);
  // The first process of a container ignores signals that it does not handle, and the program handles them only later.
  if (process.execve && process.platform !== 'win32' && process.pid !== 1) {
    process.execve(node, [node, ...words], npx ? { ...env, [npxVariable]: npx } : env);
  }
  return launchChild(words, env, npx);
}

/**
 * Runs the program in this process, which the program ends.
 *
 * @param {string[]} words
 * @param {NodeJS.ProcessEnv} env
 * @param {string | undefined} npx as `npxProcesses` names them
 * @returns {Promise<number>}
 */
async function runHere(words, env, npx) {
  // This is early enough for the size of libuv's pool, which is read at its first use.
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
    // When the channel ends, the program knows that this process is gone, for whatever reason.
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
