import { shortened } from '@halogrid/kernels';
import { excessOf, type Lease, leaseBounds } from '@halogrid/proto';

/** Throws one sentence for a lease of which something is longer, or more, than any that a coordinator has reason to give. */
export function checkLease(lease: Lease): void {
  const excess = excessOf(lease, leaseBounds);
  if (!excess) return;
  const { what, value, allowed } = excess;
  throw new Error(`The lease cannot be used: expected ${allowed} for ${what} but received '${shortened(value)}'`);
}
