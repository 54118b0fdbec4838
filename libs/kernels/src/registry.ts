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
 * The entry of a table for an operation's kernel, with the operation in the entry's type. The types of tables ensure
 * that each entry belongs to the kernel of its name, and createPipeline ensures that settings are the kernel's own. For
 * an operation whose kernel is only known at run time, no type can express both. Throws Error if the table lacks the
 * kernel.
 */
export function lineOf<Line>(
  lines: Readonly<Record<string, Line>>,
  operation: Operation,
): { line: Line; operation: Operation<never> } {
  const line = Object.hasOwn(lines, operation.kernel) ? lines[operation.kernel] : undefined;
  if (!line) throw new Error(`There is no program for the kernel '${operation.kernel}' here`);
  return { line, operation: operation as Operation<never> };
}
