import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { kindOfSentence } from '@halogrid/jobs/kind-of-sentence';
import type { JobRecord, Ledger, QuarantinedRow } from '@halogrid/ledger';
import type { QuarantinedGroup, QuarantinedInputs } from '@halogrid/proto';
import { redactUri } from '@halogrid/sources';
import { resultsPlace } from './results-place.ts';
import { unlessPublished } from './unless-published.ts';
import { whileReadable } from './while-readable.ts';

/** How many quarantined inputs are read: the first of a million show as much as all. */
const mostRead = 20_000;
/** How many files of a group are in the answer. */
const mostFiles = 100;

interface Quarantined {
  uri: string;
  frame: number;
  stage: string;
  error: string;
}

/**
 * The quarantined inputs of a job, grouped by the reasons in its status. The files of a failed job are not known any
 * more.
 */
export async function quarantinedInputs(record: JobRecord, ledger: Ledger): Promise<QuarantinedInputs> {
  const { reasons = [], counts } = record;
  const groups = new Map<string, QuarantinedGroup>(
    reasons.map(({ stage, error, inputs }) => [keyOf(stage, error), { stage, error, inputs, files: [] }]),
  );
  // If there are more reasons than a status has, its last one stands for all others.
  const others = reasons.at(-1)?.stage === '' ? groups.get(keyOf('', reasons.at(-1)!.error)) : undefined;
  let read = 0;
  let told = 0;
  for await (const { stage, error, uri, frame } of await listOf(record, ledger)) {
    if (++read > mostRead) break;
    const group = groups.get(keyOf(stage, error)) ?? others;
    if (!group || group.files.length >= mostFiles) continue;
    group.files.push({ uri, frame, error });
    told++;
  }
  return { groups: [...groups.values()], leftOut: Math.max(0, counts.quarantined - told) };
}

const keyOf = (stage: string, error: string): string => `${stage}\n${kindOfSentence(error)}`;

async function listOf(
  { jobId, state, counts }: JobRecord,
  ledger: Ledger,
): Promise<Iterable<Quarantined> | AsyncIterable<Quarantined>> {
  if (counts.quarantined === 0) return [];
  const open = ledger.quarantinedSoFar(jobId);
  if (open) return (await unlessPublished(jobId, ledger, firstOf(open))) ?? [];
  if (state !== 'complete') return [];
  const place = await resultsPlace(ledger, jobId);
  const file = await whileReadable(place.in('errors.jsonl').file());
  return file ? errorsOf(Readable.from(file.stream())) : [];
}

async function firstOf(sources: Iterable<QuarantinedRow>): Promise<Quarantined[]> {
  const first = Iterator.from(sources).take(mostRead);
  return [...first].map(({ uri, video, stage, error }) => ({
    uri: redactUri(uri),
    frame: video?.frame ?? 0,
    stage,
    error,
  }));
}

/** The lines of errors.jsonl. */
async function* errorsOf(file: Readable): AsyncGenerator<Quarantined> {
  try {
    for await (const line of createInterface({ input: file })) yield JSON.parse(line);
  } finally {
    file.destroy();
  }
}
