import { spawnSync } from 'node:child_process';

/** Debian's Python, which finds the modules of Debian's packages. */
const python = '/usr/bin/python3';

/**
 * Why tests that need what this line of Python needs are skipped; false if they are not. The line is run, so that
 * libraries below a module are found too.
 */
export const pythonFails = (line: string): string | false =>
  spawnSync(python, ['-c', line]).status !== 0 && `${python} fails at "${line}"`;

/**
 * What a Python program prints.
 * @param program the path of a `.py` file, or the program's text
 * @throws {Error} with what it wrote to stderr, if it fails
 */
export function askPython(program: string, args: readonly string[] = [], input = ''): string {
  const words = program.endsWith('.py') ? [program] : ['-c', program];
  const options = { encoding: 'utf8', input, maxBuffer: 2 ** 28 } as const;
  const { status, stdout, stderr, error } = spawnSync(python, [...words, ...args], options);
  if (status !== 0) throw error ?? new Error(`Python ended with ${status}: ${stderr}`);
  return stdout;
}
