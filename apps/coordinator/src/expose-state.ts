import type { Leadership } from '@halogrid/leadership';
import { isEnd, type JobRecord } from '@halogrid/ledger';
import type { Registry } from '@halogrid/service';
import { Gauge } from '@halogrid/service/metrics';
import type { AttachedNodeView } from './dispatch/attached-nodes.ts';
import { sharedGpus } from './dispatch/shared-gpus.ts';
import type { WorkView } from './dispatch/work-view.ts';

/** Metrics of leadership, which are read on request. */
export function exposeLeadership(registry: Registry, leadership: Pick<Leadership, 'standby' | 'epoch'>): void {
  const registers = [registry];
  new Gauge({
    name: 'halogrid_leader',
    help: '1 while this coordinator leads, 0 while it stands by.',
    registers,
    collect() {
      this.set(leadership.standby === undefined ? 1 : 0);
    },
  });
  new Gauge({
    name: 'halogrid_ledger_epoch',
    help: 'Fencing number of the leader, as far as this coordinator knows; it grows with every change of leader.',
    registers,
    collect() {
      this.set(leadership.epoch);
    },
  });
}

/** What metrics read from nodes and jobs. */
export interface StateOfWork extends Pick<WorkView, 'shards' | 'leasedBytes'> {
  nodes(): readonly Pick<AttachedNodeView, 'hello' | 'lacks' | 'isDraining' | 'leasedBytes'>[];
  jobNow(jobId: string): { waiting: string };
}

/** What metrics read from the ledger. */
export interface StateOfLedger {
  ledJobs(): readonly Pick<JobRecord, 'jobId' | 'state' | 'owner' | 'paused'>[];
  behind(): { ms: number };
}

/** The most owners with series of their own: everybody whom an identity provider knows may submit a job. */
const mostOwners = 50;

/** Gives an owner its label: its name if it is among the owners with the most jobs, otherwise one for all others. */
function ownerLabels(owners: readonly string[]): (owner: string) => string {
  const counts = [...Map.groupBy(owners, (owner) => owner)].map(([owner, { length }]) => ({ owner, length }));
  const named = counts.sort((a, b) => b.length - a.length || (a.owner < b.owner ? -1 : 1)).slice(0, mostOwners);
  const labels = new Set(named.map(({ owner }) => owner));
  return (owner) => (labels.has(owner) ? owner || 'anonymous' : 'others');
}

/** Metrics of the coordinator's state, which are read on request. */
export function exposeState(registry: Registry, view: StateOfWork, ledger: StateOfLedger): void {
  const registers = [registry];
  new Gauge({
    name: 'halogrid_jobs',
    help: 'Jobs that this coordinator leads, by state; ended ones are included if it leads alone.',
    labelNames: ['state'],
    registers,
    collect() {
      const counts = { pending: 0, running: 0, finalising: 0, complete: 0, failed: 0, cancelled: 0 };
      for (const { state } of ledger.ledJobs()) counts[state]++;
      for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'halogrid_jobs_blocked',
    help: 'Jobs that wait for a node, a host or room, and do not go on meanwhile; without paused ones.',
    registers,
    collect() {
      this.set(ledger.ledJobs().filter(({ jobId, paused }) => !paused && view.jobNow(jobId).waiting !== '').length);
    },
  });
  new Gauge({
    name: 'halogrid_jobs_paused',
    help: 'Jobs that are paused.',
    registers,
    collect() {
      this.set(ledger.ledJobs().filter(({ paused }) => paused).length);
    },
  });
  new Gauge({
    name: 'halogrid_owner_jobs',
    help: `Jobs that have not ended, by owner and state; at most ${mostOwners} owners, and all others as one.`,
    labelNames: ['owner', 'state'],
    registers,
    collect() {
      this.reset();
      leasesOfOwners.reset();
      const open = ledger.ledJobs().filter(({ state }) => !isEnd(state));
      const labelOf = ownerLabels(open.map(({ owner = '' }) => owner));
      for (const { owner = '', state, paused } of open) {
        this.inc({ owner: labelOf(owner), state: paused ? 'paused' : state });
      }
      for (const [owner, bytes] of view.leasedBytes()) leasesOfOwners.inc({ owner: labelOf(owner) }, bytes);
    },
  });
  const leasesOfOwners = new Gauge({
    name: 'halogrid_owner_leases_bytes',
    help: 'Decoded bytes that the leases of each owner hold of the credit of nodes; owners as in halogrid_owner_jobs.',
    labelNames: ['owner'],
    registers,
  });
  new Gauge({
    name: 'halogrid_ledger_behind_seconds',
    help: 'How long the oldest change waits to be written to the ledger; 0 when none does.',
    registers,
    collect() {
      this.set(ledger.behind().ms / 1000);
    },
  });
  new Gauge({
    name: 'halogrid_shards',
    help: 'Shards for nodes of the jobs that are running, by state.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(view.shards())) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'halogrid_nodes',
    help: 'Nodes in conversation with the coordinator, by whether they take shards or only finish theirs.',
    labelNames: ['state'],
    registers,
    // Viewing a thousand nodes takes milliseconds, so one view per scrape serves all metrics of nodes.
    collect() {
      const nodes = view.nodes();
      const draining = nodes.filter((node) => node.isDraining).length;
      this.set({ state: 'attached' }, nodes.length - draining);
      this.set({ state: 'draining' }, draining);
      lacks.reset();
      for (const { hello, lacks: its } of nodes) lacks.inc({ node: hello.name }, causes(its));
      gpusShared.set(sharedGpus(nodes.map(({ hello }) => hello)).size);
      leasesBytes.set(nodes.reduce((sum, { leasedBytes }) => sum + leasedBytes, 0));
    },
  });
  const lacks = new Gauge({
    name: 'halogrid_node_lacks',
    help: 'Reasons for which a node cannot do what jobs asked of it (read folders, write results, decode), by node: it gets no such shards.',
    labelNames: ['node'],
    registers,
  });
  const gpusShared = new Gauge({
    name: 'halogrid_gpus_shared',
    help: 'GPUs that more than one node in conversation says it has open.',
    registers,
  });
  const leasesBytes = new Gauge({
    name: 'halogrid_leases_bytes',
    help: 'Decoded bytes that all leases together hold of the credit of nodes.',
    registers,
  });
}

/** Everything that is lacking for one reason has one cause, such as folders outside of the node's data roots. */
function causes(lacks: readonly { need: string; reason: string }[]): number {
  return new Set(lacks.map(({ need, reason }) => reason || need)).size;
}
