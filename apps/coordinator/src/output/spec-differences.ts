import { isDeepStrictEqual } from 'node:util';
import { shortened } from '@halogrid/kernels';
import type { JobSpec, Operation } from '@halogrid/proto';
import { bandsText, scaleText } from '@halogrid/proto/sample-options';
import { named, type Sentence, sentence } from '@halogrid/proto/sentence';
import { redactUri } from '@halogrid/sources';

/** A field that differs between two specifications, in words. */
export interface Difference {
  field: Sentence;
  before: string;
  now: string;
}

/**
 * The fields in which a job differs from the earlier one in its folder. The earlier specification is the one in
 * job.json, which leaves out secret parts of URIs.
 */
export function specDifferences(before: JobSpec, asked: JobSpec): Difference[] {
  const now = { ...asked, sources: asked.sources.map(redactUri) };
  const old = new Map(fieldsOf(before, now).map(([field, value]) => [String(field), value]));
  return fieldsOf(now, before).flatMap(([field, value]) => {
    const was = old.get(String(field)) ?? 'not given';
    return was === value ? [] : [{ field, before: shortened(was), now: shortened(value) }];
  });
}

/** `grid is 2x3 and was 1x1; tile_px is 512 and was not given`. */
export function describeDifferences(differences: readonly Difference[]): Sentence {
  return differences.reduce((said, { field, before, now }, i) => {
    return sentence`${said}${i === 0 ? '' : '; '}${field} is ${now} and was ${before}`;
  }, sentence``);
}

/** What a field is called, and its value. */
type Field = [field: Sentence, value: string];

/** The fields of a specification; parameters of kernels one by one if both have the same kernels. */
function fieldsOf(spec: JobSpec, other: JobSpec): Field[] {
  const { grid, video, captured, filter, share, priority = 0, verifyPercent = 0 } = spec;
  return [
    ...firstOtherSource(spec, other),
    [named('filter.include'), globsOf(filter?.include)],
    [named('filter.exclude'), globsOf(filter?.exclude)],
    [named('column'), spec.column || 'not given'],
    [named('nodata'), spec.nodata || 'not given'],
    [named('mask'), spec.mask || 'not given'],
    [named('level'), spec.level || 'not given'],
    [named('page'), given(spec.page)],
    [named('band'), spec.band ? describeBands(spec.band) : 'not given'],
    [named('scale'), spec.scale ? scaleText(spec.scale) : 'not given'],
    ...operationFields(operationsOf(spec), operationsOf(other)),
    ...pipelineFields(namesOf(spec), spec, namesOf(other)),
    [named('map_format'), spec.mapFormat],
    [named('grid'), `${grid?.rows ?? 1}x${grid?.columns ?? 1}`],
    [named('tile_px'), given(spec.tilePx)],
    [named('batch_frames'), given(spec.batchFrames)],
    [named('priority'), String(priority)],
    [named('verify_percent'), String(verifyPercent)],
    [named('video.every'), given(video?.every === 1 ? 0 : video?.every)],
    [named('video.from_ms'), milliseconds(video?.fromMs)],
    [named('video.to_ms'), milliseconds(video?.toMs)],
    [named('video.fps_num'), video?.fpsNum ? `${video.fpsNum}/${video.fpsDen}` : 'not given'],
    [named('video.hwaccel'), video?.hwaccel || 'not given'],
    [named('captured.from'), captured?.from || 'not given'],
    [named('captured.zone'), captured?.zone || 'not given'],
    [named('share.number'), share ? `${share.number}/${share.of}` : 'not given'],
    [named('share.plan'), share?.plan || 'not given'],
    [named('share.split_images'), share?.splitImages ? 'given' : 'not given'],
  ];
}

const globsOf = (globs: readonly string[] = []): string => globs.join(' ') || 'not given';

/** Only the first source that differs: a list may be long, and mostly equal. */
function firstOtherSource({ sources }: JobSpec, other: JobSpec): Field[] {
  const [mine, theirs] = [sources, other.sources];
  for (let i = 0; i < Math.max(mine.length, theirs.length); i++) {
    if (mine[i] !== theirs[i]) return [[sentence`source ${i + 1}`, mine[i] ?? 'not given']];
  }
  return [];
}

const namesOf = ({ pipelines }: JobSpec): string[] => (pipelines?.named ?? []).map(({ name }) => name);

/** The named pipelines of both specifications, each with its chain; and their order, if both have the same names. */
function pipelineFields(names: readonly string[], { pipelines }: JobSpec, others: readonly string[]): Field[] {
  const fields = [...new Set([...names, ...others])].map((asked): Field => {
    const { operations } = pipelines?.named.find(({ name }) => name === asked)?.pipeline ?? {};
    if (!operations) return [sentence`${named('pipelines')} ${asked}`, 'not given'];
    const borders = operations.map(({ border }) => border).join(', ');
    return [
      sentence`${named('pipelines')} ${asked}`,
      `${operations.map(describeOperation).join('+')} with border ${borders}`,
    ];
  });
  const areSame = isDeepStrictEqual(names.toSorted(), others.toSorted());
  return areSame && names.length > 0
    ? [...fields, [sentence`the order of ${named('pipelines')}`, names.join(', ')]]
    : fields;
}

const operationsOf = ({ pipeline }: JobSpec): Operation[] => pipeline?.operations ?? [];

function operationFields(operations: readonly Operation[], others: readonly Operation[]): Field[] {
  if (operations.length === 0) return others.length === 0 ? [] : [[named('op'), 'not given']];
  const kernels = (list: readonly Operation[]) => list.map(({ kernel }) => kernel);
  if (!isDeepStrictEqual(kernels(operations), kernels(others))) {
    return [[named('op'), operations.map(describeOperation).join(' ')]];
  }
  return operations.flatMap(({ kernel, parameters, border }, i): Field[] => {
    const which = operations.length > 1 ? ` of kernel ${i + 1}` : '';
    const own = Object.entries(parameters).map(([name, value]): Field => {
      return [sentence`${name} of ${named('op')} ${kernel}${which && ` (kernel ${i + 1})`}`, value];
    });
    return [...own, [sentence`${named(`pipeline.operations[${i}].border`)}${which}`, border]];
  });
}

function describeOperation({ kernel, parameters }: Operation): string {
  const list = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return list.length > 0 ? `${kernel}:${list.join(',')}` : kernel;
}

/** With the number of bands that `all` are. */
const describeBands = (band: NonNullable<JobSpec['band']>): string =>
  bandsText(band) + (band.all ? ` (${band.numbers.length})` : '');
const given = (value: number | undefined): string => (value ? String(value) : 'not given');
const milliseconds = (ms: number | undefined): string => (ms === undefined ? 'not given' : `${ms / 1000} s`);
