import type { Member, SharedJob, SharedView } from '@halogrid/ledger';
import { giveUpMs, leaseMs } from './lease-keeping.ts';
import { isLongEnough, type Silence } from './silence.ts';

/**
 * The only place where it is decided which jobs a member takes over: those of this member's part of all that nobody
 * leads. `silences` are those of all members, as `own` heard them.
 */
export function chooseAdoptions(
  view: SharedView,
  own: number,
  silences: ReadonlyMap<number, Silence>,
): { jobId: string; leader: number }[] {
  const members = new Map(view.members.map((member) => [member.epoch, member]));
  const self = members.get(own);
  // One that has not renewed its own lease since the registry was away judges nobody by theirs.
  if (!self || self.isReleased || self.isOver) return [];
  const leads = new Map<number, number>();
  for (const { epoch } of view.members.filter(isAlive)) leads.set(epoch, 0);
  // This member knows of itself that it is there.
  leads.set(own, 0);
  const orphans: { jobId: string; leader: number }[] = [];
  for (const { jobId, leader } of view.jobs) {
    if (leader === undefined) continue;
    if (leads.has(leader)) leads.set(leader, leads.get(leader)! + 1);
    else if (isDead(members.get(leader), silences.get(leader))) orphans.push({ jobId, leader });
  }
  return orphans.filter(() => giveToLeast(leads) === own);
}

const isAlive = ({ isReleased, isOver }: Member): boolean => !isReleased && !isOver;

/**
 * A lease may be over because the registry was away from all: its holder is then waited for as long as it takes to come
 * back. One that was silent for longer than anybody would try is not waited for.
 */
function isDead(member: Member | undefined, silence: Silence | undefined): boolean {
  if (!member || member.isReleased) return true;
  if (!member.isOver) return false;
  return (silence !== undefined && isLongEnough(silence)) || member.silentMs >= giveUpMs + leaseMs;
}

/**
 * The next orphan goes to who leads the fewest jobs, of several to the one that came first: all members divide alike.
 */
function giveToLeast(leads: Map<number, number>): number {
  let [least, fewest] = [0, Number.POSITIVE_INFINITY];
  for (const [epoch, jobs] of leads) {
    if (jobs < fewest || (jobs === fewest && epoch < least)) [least, fewest] = [epoch, jobs];
  }
  leads.set(least, fewest + 1);
  return least;
}

/** The jobs that this member leads. */
export const ownJobs = ({ jobs }: SharedView, own: number): SharedJob[] => jobs.filter(({ leader }) => leader === own);
