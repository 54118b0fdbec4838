import { kernelNames } from '@halogrid/kernels';
import { isPipelineName, pipelineNames } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';

/** A plus before the name of a kernel, as a parameter has none. */
const betweenKernels = new RegExp(`\\+(?=(?:${kernelNames.join('|')})(?:[:+]|$))`);

/** Takes `NAME=OP[+OP…]` apart, e.g. `edges=conv:kernel=gaussian-5,as=u8+lbp`. Throws UsageError. */
export function readPipeline(text: string): { name: string; ops: string[] } {
  const equals = text.indexOf('=');
  const colon = text.indexOf(':');
  const isNamed = equals >= 0 && !(colon >= 0 && colon < equals);
  if (!isNamed) throw new UsageError(`Expected NAME=OP for --pipeline, such as lbp=lbp, but received '${text}'`);
  const name = text.slice(0, equals);
  if (!isPipelineName(name)) {
    throw new UsageError(`Expected ${pipelineNames} for the name of --pipeline but received '${name}'`);
  }
  return { name, ops: text.slice(equals + 1).split(betweenKernels) };
}
