import type { KernelName, SettingsOf } from './catalogue.ts';
import type { GpuHost } from './kernel/gpu/strategy.ts';
import type { Operation, RunKernel } from './kernel/operation.ts';

/** A program for every kernel of the catalogue. */
export type CataloguePrograms = { readonly [Name in KernelName]: RunKernel<SettingsOf<Name>> };

/** Programs by the names of their kernels. */
export type Programs = Readonly<Record<string, RunKernel<never>>>;

/** A host for every kernel of the catalogue. */
export type CatalogueHosts = { readonly [Name in KernelName]: GpuHost<SettingsOf<Name>> };

/** Hosts by the names of their kernels. */
export type GpuHosts = Readonly<Record<string, GpuHost<never>>>;

/**
 * The line of a table for an operation's kernel, and the operation as that line takes it. A table's own type says that
 * each line is of its name's kernel, and createPipeline that settings are the kernel's own; no type can say both of an
 * operation whose kernel is known when it runs. Throws Error where the table has no such kernel.
 */
export function lineOf<Line>(
  lines: Readonly<Record<string, Line>>,
  operation: Operation,
): { line: Line; operation: Operation<never> } {
  const line = Object.hasOwn(lines, operation.kernel) ? lines[operation.kernel] : undefined;
  if (!line) throw new Error(`There is no program for the kernel '${operation.kernel}' here`);
  return { line, operation: operation as Operation<never> };
}
