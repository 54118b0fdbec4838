import type { Incident, Street } from './street.ts';
import { frameSize } from './street.ts';

/** The judged fields of an event of `halogrid changes --json`. Times are frames, one a second. */
export interface FoundEvent {
  kind: string;
  start: number;
  end: number;
}

/** An incident, and the event that found it. */
export interface Judged extends Incident {
  found: FoundEvent | undefined;
  /** Seconds from the beginning of the incident to that of the event. */
  late: number;
}

export interface Judgement {
  incidents: Judged[];
  /** Lasting events without an incident. */
  falseLasting: FoundEvent[];
  passing: number;
  /** Passing events while nobody was in view and nothing happened. */
  falsePassing: number;
}

/** An event that is further from an incident has not found it. */
const nearSeconds = 5;

/** Compares the events with the incidents of a street. */
export function judge(street: Street, events: readonly FoundEvent[]): Judgement {
  const lasting = events.filter(({ kind }) => kind !== 'passing');
  const passing = events.filter(({ kind }) => kind === 'passing');
  const taken = new Set<FoundEvent>();
  const incidents = street.incidents.map((incident): Judged => {
    const near = lasting
      .filter((event) => !taken.has(event) && Math.abs(event.start - incident.start) <= nearSeconds)
      .sort((a, b) => Math.abs(a.start - incident.start) - Math.abs(b.start - incident.start));
    const found = near.find(({ kind }) => kind === incident.kind) ?? near[0];
    if (found) taken.add(found);
    return { ...incident, found, late: found ? found.start - incident.start : Number.NaN };
  });
  const busy = busySeconds(street);
  return {
    incidents,
    falseLasting: lasting.filter((event) => !taken.has(event)),
    passing: passing.length,
    falsePassing: passing.filter(({ start, end }) => !busy.subarray(start, end + 1).some((is) => is > 0)).length,
  };
}

/** 1 for each second in which somebody is in view or something has just changed. */
function busySeconds({ seconds, movers, incidents }: Street): Uint8Array {
  const busy = new Uint8Array(seconds);
  for (const { start, speed, width } of movers) {
    busy.fill(1, start, Math.ceil(start + (frameSize.width + width) / Math.abs(speed)) + 1);
  }
  for (const { kind, start, end } of incidents) {
    busy.fill(1, start, start + 2);
    if (kind === 'turned') busy.fill(1, start, end);
    busy.fill(1, end, end + 2);
  }
  return busy;
}
