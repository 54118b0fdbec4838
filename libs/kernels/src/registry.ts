import type { Operation } from './pipeline/pipeline.ts';

/**
 * The line of a table for an operation's kernel, and the operation as that line takes it. A table's own type says that each
 * line is of its name's kernel, and createPipeline that settings are the kernel's own; no type can say both of an operation
 * whose kernel is known when it runs. Throws Error where the table has no such kernel.
 */
export function lineOf<Line>(
  lines: Readonly<Record<string, Line>>,
  operation: Operation,
): { line: Line; operation: Operation<never> } {
  const line = Object.hasOwn(lines, operation.kernel) ? lines[operation.kernel] : undefined;
  if (!line) throw new Error(`There is no program for the kernel '${operation.kernel}' here`);
  return { line, operation: operation as Operation<never> };
}
