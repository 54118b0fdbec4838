import { borderModes, describeKernels } from '@halogrid/kernels';
import type { KernelsAnswer } from '@halogrid/proto';
import { mapFormats } from '@halogrid/proto/job-limits';

/** What a form of a pipeline is made of. */
export function kernelForms(): KernelsAnswer {
  return { kernels: describeKernels(), borders: [...borderModes], mapFormats: [...mapFormats] };
}
