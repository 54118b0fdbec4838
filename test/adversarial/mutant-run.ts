import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import type { Cluster } from '../cluster.ts';
import { type Ended, Halogrid } from '../halogrid.ts';
import { lookWhile } from '../look-while.ts';
import { peakResidentBytes } from '../process-list.ts';
import { readErrors, readJson } from '../results.ts';

/** What became of every input of a job. */
export interface Outcome {
  digest: string;
  /** Histograms of those that were merged, by URI and frame. */
  merged: Map<string, number[]>;
  /** Sentences of the others. */
  quarantined: Map<string, string>;
}

/** What a process may have resident: more than a small file takes, and less than a file can claim. */
const mostBytes = 1.5e9;

/**
 * Runs the program over a folder of files that may be anything: it ends in time with 0 or 3, in bounded memory, loses
 * no node, and each input is merged or quarantined with one sentence.
 */
export async function runOver(
  folder: string,
  out: string,
  args: readonly string[],
  maxMs: number,
  cluster?: Cluster,
): Promise<Outcome> {
  const command = ['run', folder, '--out', out, ...args];
  const { code, signal, stderr } = await (cluster ? runOn(cluster, command) : runAlone(command, maxMs));
  assert.ok(code === 0 || code === 3, `halogrid ${command.join(' ')} ended with ${code ?? signal}:\n${stderr}`);
  assertCalm(stderr);
  const outcome = await readOutcome(out);
  assert.equal(code, outcome.quarantined.size > 0 ? 3 : 0);
  return outcome;
}

/** Looks at memory while the run lasts: its processes end with it, and tell nothing afterwards. */
async function runAlone(command: readonly string[], maxMs: number): Promise<Ended> {
  const run = new Halogrid(command, { maxLifeMs: maxMs });
  return lookWhile(run.ended, () => assertBounded([run]));
}

/** Those of a cluster tell afterwards what they had at most. */
async function runOn(cluster: Cluster, command: readonly string[]): Promise<Ended> {
  const ended = await cluster.halogrid(command);
  assertBounded([cluster.coordinator, ...cluster.nodes.map(({ program }) => program)]);
  return ended;
}

function assertBounded(programs: readonly Halogrid[]): void {
  for (const { pid, role } of programs.flatMap((program) => program.processes())) {
    const bytes = peakResidentBytes(pid) ?? 0;
    assert.ok(bytes < mostBytes, `the ${role} had ${bytes} bytes resident`);
  }
}

/** Nothing that a process wrote to stderr tells of a node that was lost, or of an error that nobody expected. */
export function assertCalm(stderr: string): void {
  assert.doesNotMatch(stderr, /is lost|uncaught|unhandled/i);
}

async function readOutcome(out: string): Promise<Outcome> {
  const { counts, digest, state } = readJson(out, 'job.json');
  assert.equal(state, 'complete');
  const file = join(out, 'features.parquet');
  const rows = existsSync(file) ? await parquetReadObjects({ file: await asyncBufferFromFile(file) }) : [];
  const merged = new Map(rows.map((row) => [`${row.source}#${row.frame}`, (row.histogram as unknown[]).map(Number)]));
  assert.equal(merged.size, rows.length, 'one row an input');
  const quarantined = new Map<string, string>();
  for (const { uri, frame, stage, error } of counts.quarantined > 0 ? readErrors(out) : []) {
    const input = `${uri}#${frame}`;
    assert.ok(!quarantined.has(input), `${input} is quarantined twice`);
    assert.ok(!merged.has(input), `${input} is merged and quarantined`);
    // Anything else, as `compute`, would blame the program and not the input.
    assert.match(stage, /^(read|decode)$/, `${input}: ${error}`);
    assert.match(error, /^\S[^\n]*[^\s.:]$/, input);
    quarantined.set(input, error);
  }
  assert.deepEqual([counts.frames, counts.quarantined], [merged.size, quarantined.size]);
  assert.equal(counts.sources, merged.size + quarantined.size);
  return { digest, merged, quarantined };
}

/**
 * The inputs whose fate is not the same; of those that are quarantined both times, where sentences count and differ.
 */
export function differences(is: Outcome, was: Outcome, sentencesCount: boolean): string[] {
  const inputs = new Set([is, was].flatMap(({ merged, quarantined }) => [...merged.keys(), ...quarantined.keys()]));
  const fate = ({ merged, quarantined }: Outcome, input: string): string => {
    const sentence = quarantined.get(input);
    if (sentence !== undefined) return sentencesCount ? sentence : 'quarantined';
    const bins = merged.get(input);
    return bins ? `the counts ${bins.filter(Boolean).slice(0, 8)}…` : 'missing';
  };
  const isSame = (input: string): boolean =>
    fate(is, input) === fate(was, input) && String(is.merged.get(input)) === String(was.merged.get(input));
  return [...inputs]
    .filter((input) => !isSame(input))
    .map((input) => `${input}: ${fate(is, input)}, was: ${fate(was, input)}`);
}
