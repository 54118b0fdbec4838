import { openImage, peekSize, VideoIndexer } from '@halogrid/imaging';
import { noVideoSentence, videoField } from '@halogrid/jobs/check-video';
import { PreviewChoice } from '@halogrid/jobs/preview-choice';
import type { PlannedStep, PlanStep } from '@halogrid/jobs/shard';
import type { Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { parseLevel } from '@halogrid/proto/level';
import { hasVideoExtension, listAllSources, type Source } from '@halogrid/sources';
import { mapAhead } from '@halogrid/threads';
import { EarlierOutput } from '../output/previous/earlier-output.ts';
import { type InputFinding, InputProbe, type Kept, type Unopened } from './input-probe.ts';
import { PlanEmitter } from './plan-emitter.ts';
import { PlanNotes } from './plan-notes.ts';
import { tellAhead } from './tell-ahead.ts';
import { writtenPlan } from './written-plan.ts';

/**
 * How many inputs are probed ahead; for most of them, only the header is read. A run of consecutive inputs that need no
 * probing counts as one. With 8, the plan of JPEGs came too slowly for four H200: 5,473 frames a second instead of
 * 6,343 (measured).
 */
const looksAhead = 256;

/** How the planner lists and opens inputs. */
export interface PlannerInputs {
  list: typeof listAllSources;
  open: typeof openImage;
  peek: typeof peekSize;
  earlier: (typeof EarlierOutput)['open'];
}

export const realInputs: PlannerInputs = {
  list: listAllSources,
  open: openImage,
  peek: peekSize,
  earlier: EarlierOutput.open,
};

/**
 * Plans a job. Yields its steps, some at a time: sources in the given order, numbered from 0, each before the shards
 * that compute it. Images larger than a tile are cut, each frame of a video is a source (see planVideoSteps), inputs
 * that cannot be read are quarantined, and all others are gathered into batches of frames.
 *
 * Inputs that an earlier job in the output folder has done, and that have not been written to since, are not opened:
 * their results are kept, unless a preview that they need now is missing. If the job has additional pipelines, these
 * inputs are read again, and their known counts go along.
 *
 * A share of a written plan has the steps of that plan.
 *
 * Folders that hold the output of a job are left out unless they are named themselves. Notes say which these are,
 * how many files in folders are not inputs, and how many videos have no frame in the chosen time.
 *
 * A plan may be far longer than memory: only a few inputs ahead and the batches being filled are held, and some 50
 * bytes for each input and pipeline of an earlier job. Throws one sentence if an option for videos meets only images or
 * leaves no source, the signal's reason as soon as `signal` aborts, and the error of `list` for a missing source.
 */
export async function* planJob(
  spec: JobSpec,
  pipeline: Pipeline,
  signal?: AbortSignal,
  { list, open, peek, earlier: openEarlier }: PlannerInputs = realInputs,
): AsyncGenerator<PlannedStep[]> {
  const { share } = spec;
  if (share?.plan) return yield* writtenPlan({ ...spec, share }, signal);
  const earlier = await openEarlier(spec);
  const { how, why } = earlier?.follows ?? {};
  if (why !== undefined) yield [{ kind: 'note', text: why }];
  const indexer = new VideoIndexer();
  const inputs = new InputProbe(spec, { open, peek, earlier, onVideo: (uri) => indexer.expect(uri) });
  const previews = new PreviewChoice(await earlier?.previews());
  const emitter = new PlanEmitter(spec, pipeline, previews, signal);
  const notes = new PlanNotes(spec);
  const choosesFrames = spec.video !== undefined && videoField(spec.video) !== undefined;
  let hasVideo = false;
  const probe = (next: Next): Found | Promise<Found> => (Array.isArray(next) ? next : inputs.probe(next));
  const unopened = (found: readonly Unopened[]): PlanStep[] => {
    const steps: PlanStep[] = [];
    for (const one of found) {
      notes.count(one.input.uri);
      emitter.frame(one, steps);
    }
    return steps;
  };
  const { sources, filter, column } = spec;
  const asked = parseLevel(spec.level ?? '');
  const level = asked && 'number' in asked ? asked.number : 0;
  const inOrder = list(sources, { filter, level, column, onLeftOut: notes.leaveOut, onPassedOver: notes.passOver });
  const listed = tellAhead(inOrder, previews);
  try {
    for await (const found of mapAhead<Next, Found>(grouped(listed, inputs), looksAhead, probe, { signal })) {
      const told = notes.take();
      if (told.length > 0) yield told;
      if (Array.isArray(found)) {
        yield unopened(found);
        continue;
      }
      notes.count(found.input.uri);
      hasVideo ||= found.kind === 'video' || hasVideoExtension(found.input.name);
      const first = emitter.sources;
      const isChosen = (nth: number, frame?: number) => previews.add(first + nth, { uri: found.input.uri, frame });
      if (found.kind === 'kept' && how === 'kept' && (await earlier!.hasPreviews(found.file, isChosen))) {
        yield* emitter.kept(found.input, earlier!.sources(found.file));
        continue;
      }
      const probed = found.kind === 'kept' ? await inputs.look(found.input) : found;
      const known = found.kind === 'kept' && how === 'read' ? earlier!.known(found.file) : undefined;
      const steps =
        probed.kind === 'video'
          ? emitter.video(probed, (file) => indexer.index(file, probed.input.uri), notes.leaveOutVideo, known)
          : emitter.image(probed, (await known?.next())?.value?.known);
      yield* steps;
    }
  } finally {
    await earlier?.close();
    await indexer.close();
  }
  if (choosesFrames && !hasVideo) throw new Error(String(noVideoSentence('the choice of frames')));
  if (emitter.sources === 0 && notes.videosLeftOut > 0) throw new Error('No video has a frame in the chosen time');
  yield [...emitter.rest(), ...notes.takeLast(), { kind: 'previews', chosen: [...previews.chosen] }];
}

/** What is probed next, and what was found. A list holds consecutive inputs that need not be read. */
type Next = Source | Unopened[];
type Found = Kept | InputFinding | Unopened[];

/** Groups consecutive inputs that need not be read; yields the others one by one. */
async function* grouped(
  listed: AsyncIterable<readonly Source[]>,
  inputs: InputProbe,
): AsyncGenerator<Next, void, undefined> {
  for await (const sources of listed) {
    let known: Unopened[] = [];
    for (const source of sources) {
      const probe = inputs.probeNow(source);
      if (probe) known.push(probe);
      else {
        if (known.length > 0) yield known;
        known = [];
        yield source;
      }
    }
    if (known.length > 0) yield known;
  }
}
