import type { ReadOptions } from '@halogrid/imaging';
import type { ChangesRow } from '@halogrid/results/changes-svg';
import type { SheetRow, SheetTile } from '@halogrid/results/contact-sheet';
import type { CameraChanges, ChangeEvent, ChangeKind, Moment, TimeKind } from '@halogrid/search';
import { table } from '@halogrid/service/text-table';
import { plural } from '../progress/quantities.ts';

/** An event as `changes --json` prints it; part of the program's interface. */
export interface Change {
  camera: string;
  kind: ChangeKind;
  /**
   * A text in UTC for `captured_at`, otherwise milliseconds of the video or numbers of frames of the camera, from 0.
   */
  start: string | number;
  end: string | number;
  time: TimeKind;
  strength: number;
  /** Rows and columns of the grid. */
  cells: [row: number, column: number][];
  /** The last frame before the event, its first frame, and one that shows it. */
  frames: Record<'before' | 'first' | 'after', { uri: string; frame: number }>;
}

export function changesOf({ camera, time, events }: CameraChanges, columns: number): Change[] {
  const named = ({ uri, frame }: Moment): { uri: string; frame: number } => ({ uri, frame });
  return events.map(({ kind, start, end, strength, cells, before, after }) => ({
    camera,
    kind,
    start: timeText(start.time, time),
    end: timeText(end.time, time),
    time,
    strength: Math.round(strength * 1e4) / 1e4,
    cells: cells.map((cell) => [Math.floor(cell / columns), cell % columns]),
    frames: { before: named(before), first: named(start), after: named(after) },
  }));
}

const timeText = (time: number, kind: TimeKind): string | number =>
  kind === 'captured_at' ? new Date(time).toISOString() : time;

/** A time for people. */
function spoken(time: string | number, kind: TimeKind): string {
  if (kind === 'timestamp_ms') return `${(Number(time) / 1000).toFixed(1)} s`;
  return kind === 'frame' ? `frame ${time}` : String(time);
}

/** The events as a table for people, camera by camera. */
export function describeChanges(changes: readonly Change[], cameras: readonly CameraChanges[], cells: number): string {
  const head = ['kind', 'start', 'end', 'strength', 'cells'];
  const texts = cameras.map(({ camera, frames }) => {
    const own = changes.filter((change) => change.camera === camera);
    const rows = own.map((change) => [
      change.kind,
      spoken(change.start, change.time),
      spoken(change.end, change.time),
      change.strength.toFixed(3),
      placeOf(change.cells, cells),
    ]);
    const what = `${camera}: ${plural(own.length, 'change')} in ${plural(frames, 'frame')}`;
    return rows.length === 0 ? `${what}\n` : `${what}\n${table([head, ...rows], '  ')}`;
  });
  return texts.join('\n');
}

const namedCells = 3;

function placeOf(cells: Change['cells'], all: number): string {
  if (cells.length === all) return 'all';
  const names = cells.slice(0, namedCells).map((cell) => cell.join(','));
  return cells.length > namedCells ? `${names.join(' ')} and ${cells.length - namedCells} more` : names.join(' ');
}

/** Samples that a camera needs before changes are found: one block for the reference, one to learn what is usual. */
const learnedSamples = 16;

/**
 * Notes on the frames of cameras and their times, a sentence each. `minDuration`: of lasting changes, in seconds, or in
 * frames of cameras without times.
 */
export function changeNotes(cameras: readonly CameraChanges[], minDuration: number): string[] {
  return cameras.flatMap(({ camera, time, frames, withoutTime, empty, clockWentBack, firstBack, timeline }) => {
    const notes = [];
    const length = (timeline.at(-1)?.time ?? 0) - (timeline[0]?.time ?? 0);
    const least = 2 * minDuration * (time === 'frame' ? 1 : 1000);
    if (clockWentBack > 0) {
      notes.push(
        `The clock of ${camera} goes back ${clockWentBack === 1 ? 'once' : `${clockWentBack} times`}, first at frame ` +
          `${firstBack!.frame} of '${firstBack!.uri}': its frames are compared in the order of features.parquet, and times repeat.`,
      );
    }
    if (withoutTime > 0) {
      notes.push(`${plural(withoutTime, 'frame')} of ${camera} left out: no ${time}, which other frames have.`);
    }
    if (empty > 0) notes.push(`${plural(empty, 'frame')} of ${camera} left out: no counted pixels.`);
    if (frames - withoutTime - empty <= learnedSamples) {
      notes.push(
        `${camera} has ${plural(frames, 'frame')}: the first ${learnedSamples} only serve as the reference for later ones.`,
      );
    } else if (length < least) {
      const [is, needs] = [length, least].map((span) => (time === 'frame' ? `${span} frames` : `${span / 1000} s`));
      notes.push(
        `${camera} is ${is} long: no lasting change can be found in less than ${needs}, twice --min-duration (${minDuration}).`,
      );
    }
    return notes;
  });
}

const isLasting = ({ kind }: Pick<ChangeEvent, 'kind'>): boolean => kind !== 'passing';

/** Rows of a timeline, one for each camera. */
export function timelineRows(cameras: readonly CameraChanges[]): ChangesRow[] {
  return cameras.map(({ camera, time, events, timeline }) => {
    const ends = [timeline[0]?.time ?? 0, timeline.at(-1)?.time ?? 0].map((at) => spoken(timeText(at, time), time));
    return {
      title: camera,
      ends: [ends[0]!, ends[1]!],
      points: timeline,
      events: events.map((event) => ({
        start: event.start.time,
        end: event.end.time,
        name: `${event.kind}, ${event.strength.toFixed(3)}`,
        isLasting: isLasting(event),
      })),
    };
  });
}

const sheetEvents = 24;

/**
 * Rows of a contact sheet with the frames before and after events: lasting events first, then the strongest. `read`:
 * what the job reads of images.
 */
export function changeSheetRows({ camera, time, events }: CameraChanges, read: ReadOptions): SheetRow[] {
  const shown = events
    .toSorted((a, b) => Number(isLasting(b)) - Number(isLasting(a)) || b.strength - a.strength)
    .slice(0, sheetEvents)
    .sort((a, b) => a.start.time - b.start.time);
  const tileOf = ({ uri, frame, isVideo, time: at }: Moment, words: string): SheetTile => ({
    shown: { uri, videoFrame: isVideo ? frame : undefined, read },
    caption: [words, spoken(timeText(at, time), time)],
  });
  const tiles = shown.flatMap(({ kind, before, after, strength }) => [
    tileOf(before, 'before'),
    tileOf(after, `${kind}, ${strength.toFixed(3)}`),
  ]);
  return tiles.length === 0 ? [] : [{ title: camera, tiles }];
}
