import { isDeepStrictEqual } from 'node:util';
import { shortened } from '@halogrid/kernels';
import type { JobSpec, Operation } from '@halogrid/proto';
import { redactUri } from '@halogrid/sources';

/** A field of which two specifications have different values, as the option that sets it. */
export interface Difference {
  field: string;
  before: string;
  now: string;
}

/**
 * What makes a job another than the one before it in its folder, whose specification is as job.json has it: what may be secret in
 * its URIs is left out.
 */
export function specDifferences(before: JobSpec, asked: JobSpec): Difference[] {
  const now = { ...asked, sources: asked.sources.map(redactUri) };
  const old = fieldsOf(before, now);
  return [...fieldsOf(now, before)].flatMap(([field, value]) => {
    const was = old.get(field) ?? 'not given';
    return was === value ? [] : [{ field, before: shortened(was), now: shortened(value) }];
  });
}

/** `--border is zero and was interior; --tile is 512 and was not given`. */
export function describeDifferences(differences: readonly Difference[]): string {
  return differences.map(({ field, before, now }) => `${field} is ${now} and was ${before}`).join('; ');
}

/** The fields of a specification by their options; kernels one by one where those of the other are the same. */
function fieldsOf(spec: JobSpec, other: JobSpec): Map<string, string> {
  const { grid, video, captured, priority = 0, verifyPercent = 0 } = spec;
  const fields = new Map<string, string>([
    ...firstOtherSource(spec, other),
    ...operationFields(operationsOf(spec), operationsOf(other)),
    ...pipelineFields(namesOf(spec), spec, namesOf(other)),
    ['--map', spec.mapFormat],
    ['--grid', `${grid?.rows ?? 1}x${grid?.columns ?? 1}`],
    ['--tile', given(spec.tilePx)],
    ['--batch', given(spec.batchFrames)],
    ['--priority', String(priority)],
    ['--verify', String(verifyPercent)],
    ['--every', given(video?.every === 1 ? 0 : video?.every)],
    ['--from', milliseconds(video?.fromMs)],
    ['--to', milliseconds(video?.toMs)],
    ['--fps', video?.fpsNum ? `${video.fpsNum}/${video.fpsDen}` : 'not given'],
    ['--hwaccel', video?.hwaccel || 'not given'],
    ['--captured-from', captured?.from || 'not given'],
    ['--captured-zone', captured?.zone || 'not given'],
  ]);
  return fields;
}

/** A list may be long, and most of it the same. */
function firstOtherSource({ sources }: JobSpec, other: JobSpec): [string, string][] {
  const [mine, theirs] = [sources, other.sources];
  for (let i = 0; i < Math.max(mine.length, theirs.length); i++) {
    if (mine[i] !== theirs[i]) return [[`source ${i + 1}`, mine[i] ?? 'not given']];
  }
  return [];
}

const namesOf = ({ pipelines }: JobSpec): string[] => (pipelines?.named ?? []).map(({ name }) => name);

/** The pipelines that have names in either, each with its chain; their order where nothing else of them may differ. */
function pipelineFields(
  names: readonly string[],
  { pipelines }: JobSpec,
  others: readonly string[],
): [string, string][] {
  const fields = [...new Set([...names, ...others])].map((asked): [string, string] => {
    const { operations } = pipelines?.named.find(({ name }) => name === asked)?.pipeline ?? {};
    if (!operations) return [`--pipeline ${asked}`, 'not given'];
    const borders = operations.map(({ border }) => border).join(', ');
    return [`--pipeline ${asked}`, `${operations.map(describeOperation).join('+')} with border ${borders}`];
  });
  const areSame = isDeepStrictEqual(names.toSorted(), others.toSorted());
  return areSame && names.length > 0 ? [...fields, ['the order of --pipeline', names.join(', ')]] : fields;
}

const operationsOf = ({ pipeline }: JobSpec): Operation[] => pipeline?.operations ?? [];

function operationFields(operations: readonly Operation[], others: readonly Operation[]): [string, string][] {
  if (operations.length === 0) return others.length === 0 ? [] : [['--op', 'not given']];
  const kernels = (list: readonly Operation[]) => list.map(({ kernel }) => kernel);
  if (!isDeepStrictEqual(kernels(operations), kernels(others))) {
    return [['--op', operations.map(describeOperation).join(' --op ')]];
  }
  return operations.flatMap(({ kernel, parameters, border }, i): [string, string][] => {
    const which = operations.length > 1 ? ` of kernel ${i + 1}` : '';
    const named = Object.entries(parameters).map(([name, value]): [string, string] => {
      return [`${name} of --op ${kernel}${which && ` (kernel ${i + 1})`}`, value];
    });
    return [...named, [`--border${which}`, border]];
  });
}

function describeOperation({ kernel, parameters }: Operation): string {
  const list = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return list.length > 0 ? `${kernel}:${list.join(',')}` : kernel;
}

const given = (value: number | undefined): string => (value ? String(value) : 'not given');
const milliseconds = (ms: number | undefined): string => (ms === undefined ? 'not given' : `${ms / 1000} s`);
