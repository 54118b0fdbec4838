import { hash } from 'node:crypto';
import { readSources } from '@halogrid/jobs/planned-sources';
import type { Shard, SourceError } from '@halogrid/jobs/shard';
import { Cause, type Probe, type Sight } from '@halogrid/proto';
import type { ShownFile } from '@halogrid/sources';
import type { Eyes } from '../../sight/own-view.ts';

/** A fault of a node for a while: it cannot read or write below a folder, or sees other files there. */
export interface Blindness {
  /** The beginning of the affected URIs. */
  below: string;
  fromMs: number;
  untilMs: number;
  /** What the node finds instead: nothing, other files, or an error when it reads to the end. */
  finds: 'nothing' | 'others' | 'damage';
}

/** A host that is away for a while, for the coordinator and all nodes. */
export interface Outage {
  /** The URI of the host. */
  place: string;
  fromMs: number;
  untilMs: number;
}

/** A disk that is full for a while, for the coordinator and all nodes. */
export interface FullDisk {
  /** The beginning of URIs on the disk. */
  below: string;
  fromMs: number;
  untilMs: number;
}

export const isFull = (full: readonly FullDisk[], uri: string, nowMs: number): boolean =>
  full.some(({ below, fromMs, untilMs }) => uri.startsWith(below) && nowMs >= fromMs && nowMs < untilMs);

/** The error of writing to a full disk. */
export const noRoom = (): Error =>
  Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

/** Every file is there while its host is, except to blind nodes. */
const fileAt = (uri: string): ShownFile => ({ version: 'listed', sha256: hash('sha256', uri, 'buffer'), sizeBytes: 1 });

/** The eyes of a coordinator that sees every file that is there. */
export const simulatedEyes = (outages: readonly Outage[], full: readonly FullDisk[], nowMs: () => number): Eyes => ({
  see: async (uri) => {
    if (!isAway(outages, uri, nowMs())) return { kind: 'there', file: fileAt(uri) };
    return { kind: 'not there', reason: 'The host refuses connections', isMissing: false, fault: 'away' };
  },
  identify: async (uri) => (uri.startsWith('file:') ? 'mounted' : undefined),
  free: async (uri) => (isFull(full, uri, nowMs()) ? 0 : 1e9),
  whyNotWritten: async (uri) => {
    return isFull(full, uri, nowMs()) ? { kind: 'room', error: noRoom().message, freeBytes: 0 } : undefined;
  },
});

export const isAway = (outages: readonly Outage[], uri: string, nowMs: number): boolean =>
  outages.some(({ place, fromMs, untilMs }) => uri.startsWith(`${place}/`) && nowMs >= fromMs && nowMs < untilMs);

/** The cause that a node states for a missing file: as far as it knows, the host is away. */
const causeOf = (uri: string): Cause => (uri.startsWith('file:') ? Cause.ACCESS : Cause.AWAY);

const blindnessAt = (blind: readonly Blindness[], uri: string, nowMs: number): Blindness | undefined =>
  blind.find(({ below, fromMs, untilMs }) => uri.startsWith(below) && nowMs >= fromMs && nowMs < untilMs);

/** The answer of a blind node to a probe, without the part about writing. */
export function sightOf(blind: readonly Blindness[], { probe, files }: Probe, nowMs: number): Sight {
  const seen = files.map(({ uri, whole }) => {
    const { finds } = blindnessAt(blind, uri, nowMs) ?? {};
    const { version, sha256 } = fileAt(uri);
    if (finds === 'nothing' || (finds === 'damage' && whole)) {
      return { ...nothing, error: 'The file does not exist', cause: causeOf(uri) };
    }
    const fine = { error: '', cause: Cause.UNSPECIFIED };
    if (finds === 'others') return { version: 'other', sha256: hash('sha256', 'other', 'buffer'), ...fine };
    return { version, sha256: Buffer.from(sha256), ...fine };
  });
  return { probe, files: seen, error: '' };
}

const nothing = { version: '', sha256: Buffer.alloc(0) };

/** Errors of the sources of a shard that the node cannot read; empty if it can read all. */
export function unreadOf(blind: readonly Blindness[], { work }: Shard, nowMs: number): SourceError[] {
  return [...readSources(work.sources)].flatMap(({ index, uri }) => {
    const found = blindnessAt(blind, uri, nowMs);
    if (!found) return [];
    const cause = found.finds === 'others' ? Cause.CHANGED : causeOf(uri);
    return [{ source: index, stage: 'read', error: 'It cannot be read there', cause }];
  });
}

export const cannotWrite = (blind: readonly Blindness[], scratch: string, nowMs: number): boolean =>
  blindnessAt(blind, `${scratch}/`, nowMs) !== undefined;
