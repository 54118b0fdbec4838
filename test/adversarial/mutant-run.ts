import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import type { Cluster } from '../cluster.ts';
import { type Ended, Halogrid } from '../halogrid.ts';
import { lookWhile } from '../look-while.ts';
import { peakResidentBytes } from '../process-list.ts';
import { readErrors, readJson } from '../results.ts';

/** The outcome of every input of a job. */
export interface Outcome {
  digest: string;
  /** Histograms of merged inputs, by URI and frame. */
  merged: Map<string, number[]>;
  /** Sentences of quarantined inputs. */
  quarantined: Map<string, string>;
}

/** The most resident memory of a process: more than a small file needs, and less than a file can claim to need. */
const mostBytes = 1.5e9;

/**
 * Runs the program over a folder of arbitrary files. Asserts that it ends in time with exit code 0 or 3, in bounded
 * memory and without losing a node, and that each input is merged or quarantined with one sentence.
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

/** Runs a command with its own processes. Checks their memory during the run, because they end with it. */
async function runAlone(command: readonly string[], maxMs: number): Promise<Ended> {
  const run = new Halogrid(command, { maxLifeMs: maxMs });
  return lookWhile(run.ended, () => assertBounded([run]));
}

/** Runs a command on a cluster. Its processes go on, so their largest memory is checked afterwards. */
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

/** Asserts that stderr of a process mentions no lost node and no unexpected error. */
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
    // Any other stage, such as `compute`, would be a fault of the program, not of the input.
    assert.match(stage, /^(read|decode)$/, `${input}: ${error}`);
    assert.match(error, /^\S[^\n]*[^\s.:]$/, input);
    quarantined.set(input, error);
  }
  assert.deepEqual([counts.frames, counts.quarantined], [merged.size, quarantined.size]);
  assert.equal(counts.sources, merged.size + quarantined.size);
  return { digest, merged, quarantined };
}

/** The inputs whose outcomes differ. With `sentencesCount`, quarantined inputs with different sentences differ too. */
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
