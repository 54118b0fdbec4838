import type { Member, SharedJob, SharedView } from '@halogrid/ledger';
import { giveUpMs, leaseMs } from './lease-keeping.ts';
import { isLongEnough, type Silence } from './silence.ts';

/**
 * Decides which jobs the member `own` takes over: its part of the jobs whose leader is gone. No other code decides
 * this. `silences` has the silence of each member, as `own` observed it.
 */
export function chooseAdoptions(
  view: SharedView,
  own: number,
  silences: ReadonlyMap<number, Silence>,
): { jobId: string; leader: number }[] {
  const members = new Map(view.members.map((member) => [member.epoch, member]));
  const self = members.get(own);
  // A member that has not renewed its own lease since the registry was away does not judge others by their leases.
  if (!self || self.isReleased || self.isOver) return [];
  const leads = new Map<number, number>();
  for (const { epoch } of view.members.filter(isAlive)) leads.set(epoch, 0);
  // This member is alive, whatever the view says.
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
 * Whether a member is gone. Its lease may be over only because no member could reach the registry: then there is a
 * longer wait until it can be back. A member that was silent for longer than any member tries is gone.
 */
function isDead(member: Member | undefined, silence: Silence | undefined): boolean {
  if (!member || member.isReleased) return true;
  if (!member.isOver) return false;
  return (silence !== undefined && isLongEnough(silence)) || member.silentMs >= giveUpMs + leaseMs;
}

/**
 * The next orphan goes to the member with the fewest jobs, among equals to the one that joined first. All members apply
 * this rule, and so divide the orphans in the same way.
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
