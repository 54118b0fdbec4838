import { afterEach } from 'node:test';

/** A program that a test started. */
export interface StartedProgram {
  /** Its command or its purpose. */
  readonly name: string;
  /** Everything that it has printed. */
  printed(): string;
  /** Its exit code, or the signal that ended it; undefined while it runs. */
  end(): number | string | undefined;
}

const lines = 20;
/** How much of what each program printed has been shown. */
const programs = new Map<StartedProgram, number>();

/** Shows the program's last lines whenever a test of this file fails while the program lives. */
export function showOnFailure(program: StartedProgram): void {
  programs.set(program, 0);
}

/** The last lines that each program printed since the last call. */
export function lastLines(): string {
  return [...programs]
    .map(([program, shown]) => {
      const printed = program.printed();
      const last = printed.slice(shown).trimEnd().split('\n').slice(-lines).join('\n');
      programs.set(program, printed.length);
      const end = program.end();
      const is = end === undefined ? 'is running' : `ended with ${end}`;
      return `--- ${program.name} ${is}${last === '' ? ', and printed nothing more' : `:\n${last}`}`;
    })
    .join('\n');
}

// Only under the test runner: elsewhere it would start a test run.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  afterEach((context) => {
    // Node 24 has `passed`, but its types do not.
    const { passed } = context as unknown as { passed: boolean };
    if (!passed && programs.size > 0) console.error(lastLines());
    for (const program of programs.keys()) if (program.end() !== undefined) programs.delete(program);
  });
}
