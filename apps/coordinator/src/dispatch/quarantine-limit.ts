import type { JobRecord } from '@halogrid/ledger';
import type { MaxQuarantined } from '@halogrid/proto';

/**
 * Why a job that allows `max` quarantined inputs must fail, in one sentence; undefined if it need not. What a
 * percentage allows is known once all inputs are planned; before that, only a limit of 0 % can be exceeded.
 */
export function whyTooManyQuarantined(
  max: MaxQuarantined,
  { planned, counts, reasons }: Pick<JobRecord, 'planned' | 'counts' | 'reasons'>,
): string | undefined {
  const { quarantined, sources } = counts;
  const { $case, value } = max.limit!;
  const isKnown = $case === 'inputs' || planned || value === 0;
  const isTooMany = $case === 'inputs' ? quarantined > value : isMoreThan(quarantined, value, sources);
  if (!isKnown || !isTooMany) return undefined;
  const allowed = $case === 'inputs' ? String(value) : `${value}%${planned ? ` of ${sources}` : ''}`;
  const sentence = `More inputs are quarantined (${quarantined}) than the job allows (${allowed})`;
  const named = (reasons ?? []).slice(0, namedReasons);
  if (named.length === 0) return sentence;
  const said = named.map(({ inputs, error, example }) => {
    const ofThem = quarantined > 1 ? `${inputs} of them: ` : '';
    return `${ofThem}${error}${inputs > 1 ? ', e.g. ' : ': '}${example}`;
  });
  const others = quarantined - named.reduce((sum, { inputs }) => sum + inputs, 0);
  return `${sentence}: ${[...said, ...(others > 0 ? [`${others} for other reasons`] : [])].join('; ')}`;
}

/** Reasons that the sentence names, the most frequent first. */
const namedReasons = 3;

/**
 * Whether `part` is more than `percent` of `whole`, for percentages with at most six decimals. Exact, unlike
 * floating-point multiplication.
 */
function isMoreThan(part: number, percent: number, whole: number): boolean {
  return BigInt(part) * 100_000_000n > BigInt(Math.round(percent * 1e6)) * BigInt(whole);
}
