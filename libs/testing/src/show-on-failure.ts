import { afterEach } from 'node:test';

/** A program that a test started. */
export interface StartedProgram {
  /** Its command, or what it does. */
  readonly name: string;
  /** All that it has printed. */
  printed(): string;
  /** Its exit code, or the signal that ended it; undefined while it runs. */
  end(): number | string | undefined;
}

const lines = 20;
/** How much of what each program printed has been shown. */
const programs = new Map<StartedProgram, number>();

/** Where a test of this file fails while the program lives, its last lines are shown beside the failure. */
export function showOnFailure(program: StartedProgram): void {
  programs.set(program, 0);
}

/** The last lines of what each program printed since it was last asked. */
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

// Only below the test runner: elsewhere it would begin a run of its own.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  afterEach((context) => {
    // Node 24 has it, its types do not.
    const { passed } = context as unknown as { passed: boolean };
    if (!passed && programs.size > 0) console.error(lastLines());
    for (const program of programs.keys()) if (program.end() !== undefined) programs.delete(program);
  });
}
