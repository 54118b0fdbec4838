import { type AskedOperation, createPipeline, specifiedOperations } from '@halogrid/kernels';
import type { AskedPipeline, JobSpec } from '@halogrid/proto';

type Specified = Pick<JobSpec, 'pipeline' | 'pipelines'>;

/**
 * The answers so far. A list of jobs asks about each job once a second, an answer takes some 0.1 ms, and a
 * specification does not change.
 */
const known = new WeakMap<Specified, AskedPipeline[]>();

/** The pipelines of a job with each operation as a text without default values, e.g. `lbp:labels=uniform`. */
export function askedPipelines(spec: Specified): AskedPipeline[] {
  const asked = known.get(spec) ?? findAsked(spec);
  known.set(spec, asked);
  return asked;
}

function findAsked({ pipeline, pipelines }: Specified): AskedPipeline[] {
  const named = pipelines?.named ?? [{ name: '', pipeline }];
  return named.map((one) => ({ name: one.name, operations: (one.pipeline?.operations ?? []).map(askedOperation) }));
}

/** The shortest text of an operation: leaves out each parameter that would be completed to the same value. */
function askedOperation(given: AskedOperation): string {
  const meant = complete(given);
  let { parameters } = meant;
  for (const name of Object.keys(parameters)) {
    const { [name]: _, ...rest } = parameters;
    if (isSame(complete({ ...meant, parameters: rest }), meant)) parameters = rest;
  }
  const isUsualBorder = complete({ ...meant, parameters, border: '' })?.border === meant.border;
  const words = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const operation = words.length > 0 ? `${meant.kernel}:${words.join(',')}` : meant.kernel;
  return isUsualBorder ? operation : `${operation} border=${meant.border}`;
}

/**
 * The operation with all parameters, as in the specification of a job. An operation that makes no pipeline, which no
 * accepted job has, is returned as it is.
 */
function complete(given: AskedOperation): AskedOperation {
  try {
    return specifiedOperations(createPipeline([given]))[0] ?? given;
  } catch {
    return given;
  }
}

function isSame(a: AskedOperation, b: AskedOperation): boolean {
  const names = Object.keys(b.parameters);
  return (
    a.border === b.border &&
    Object.keys(a.parameters).length === names.length &&
    names.every((name) => a.parameters[name] === b.parameters[name])
  );
}
