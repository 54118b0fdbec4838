import { type NodeNature, soundNature } from './node-nature.ts';
import { SeededRandom } from './seeded-random.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import type { Blindness } from './simulated-files.ts';
import { acceptedJob, mostPipelines, rootOf, type SimulatedJob } from './simulated-job.ts';
import type { SimulatedNode } from './simulated-node.ts';

/**
 * Draws jobs, nodes and faults from the seed. One node stays well, so that every job ends, and no readable source is
 * ever set aside, whatever other nodes cannot see. No shard loses three nodes: giving it up would be right then.
 */
export function arrangeScenario(cluster: SimulatedCluster, seed: number): void {
  const random = new SeededRandom(seed ^ 0x5eed);
  const lies = random.chance(0.25);
  const hasKiller = random.chance(0.15);
  for (let i = random.whole(1, 3); i > 0; i--) {
    const job = drawJob(random, `job-${i}`, lies, hasKiller && i === 1);
    cluster.clock.after(random.whole(0, 3000), () => cluster.submit(job));
    // The job is known from the start, so that its end is waited for.
    cluster.jobs.set(job.jobId, job);
  }

  cluster.add(drawNature(random, 'sound'));
  const others = Array.from({ length: random.whole(1, 6) }, (_, i) => drawNature(random, `node-${i}`));
  const faulty = others
    .map((nature, i) => (i === 0 ? drawFault(random, nature, lies, hasKiller) : nature))
    .map((nature) => ({ ...nature, blind: drawBlindness(random, [...cluster.jobs.values()]) }));
  const nodes = faulty.map((nature) => cluster.add(nature, random.chance(0.3) ? random.whole(0, 8000) : 0));
  // If a shard kills nodes, no node is lost in another way: it could not be told which shard was to blame.
  const losses = ['crash', 'cut', 'part', 'freeze'];
  const fates = hasKiller ? ['drain', 'well'] : [...losses, ...losses, 'drain', 'well'];
  let lost = 0;
  for (const node of nodes) {
    const fate = random.pick(fates);
    if (!losses.includes(fate) || lost++ < 2) arrangeFate(cluster, random, node, fate);
  }
  arrangeCoordinator(cluster, random);
  arrangeFullDisks(cluster, random);
  arrangeOutages(cluster, random);
  cluster.partLosses = random.pick([0, 0, 1, 2, 3]);
}

/** Hosts that go away, and come back before a job gives up on them. */
function arrangeOutages({ jobs, world }: SimulatedCluster, random: SeededRandom): void {
  for (const job of jobs.values()) {
    for (let root = 0; root < (job.onHosts ? job.roots : 0); root++) {
      for (let i = random.pick([0, 1, 3]); i > 0; i--) {
        const fromMs = random.whole(0, 9000);
        const place = rootOf(job, root);
        world.outages.push({ place, fromMs, untilMs: fromMs + random.pick([50, 5000, 20_000, 90_000, 500_000]) });
      }
    }
  }
}

/** Disks of outputs that fill up at any moment, and later have room again. */
function arrangeFullDisks({ jobs, world }: SimulatedCluster, random: SeededRandom): void {
  for (const job of jobs.values()) {
    for (let i = random.pick([0, 0, 1, 3]); i > 0; i--) {
      const fromMs = random.whole(0, 12_000);
      const untilMs = fromMs + random.pick([50, 3000, 30_000]);
      world.full.push({ below: acceptedJob(job).spec.out, fromMs, untilMs });
    }
  }
}

/** Coordinators that die or stand still, at any moment of a transaction, and a ledger that cannot be written. */
function arrangeCoordinator(cluster: SimulatedCluster, random: SeededRandom): void {
  const { clock } = cluster;
  const atMs = random.between(100, 9000);
  switch (random.pick(['well', 'well', 'killed', 'killed', 'followed', 'unwritten'])) {
    case 'killed':
      for (let i = random.whole(1, 6); i > 0; i--) {
        clock.after(atMs * random.between(0.5, 1.5), () => cluster.restart(random.pick([5, 500, 2000, 8000])));
      }
      break;
    case 'followed':
      clock.after(atMs, () => cluster.failOver(5000, random.pick([4000, 5001, 7000, 20_000])));
      break;
    case 'unwritten':
      clock.after(atMs, () => cluster.failStore(random.pick([50, 3000, 30_000])));
      if (random.chance(0.3)) clock.after(atMs + 2000, () => cluster.restart(500));
      break;
  }
}

function drawJob(random: SeededRandom, jobId: string, lies: boolean, hasKiller: boolean): SimulatedJob {
  const shards = random.whole(1, 60);
  const kind = random.pick(['frames', 'tiles'] as const);
  return {
    jobId,
    kind,
    shards,
    group: random.whole(1, 5),
    costBytes: random.whole(20, 400),
    roots: random.pick([1, 1, 2, 3]),
    onHosts: random.chance(0.3),
    pipelines: random.pick([1, 1, 2, mostPipelines]),
    waitsForNode: random.chance(0.2),
    priority: random.whole(-1, 1),
    verifyPercent: lies ? 100 : random.pick([0, 0, 30]),
    poison: new Set(random.chance(0.3) ? [random.whole(0, shards - 1)] : []),
    killers: new Set(hasKiller ? [random.whole(0, shards - 1)] : []),
    changed: new Set(),
    kept: kind === 'frames' ? drawKept(random, shards) : new Set(),
  };
}

/** The numbers of some, most, all or none of the shards. */
function drawKept(random: SeededRandom, shards: number): Set<number> {
  const share = random.pick([0, 0, 0.2, 0.9, 1]);
  return new Set(Array.from({ length: shards }, (_, shard) => shard).filter(() => random.chance(share)));
}

function drawNature(random: SeededRandom, name: string): NodeNature {
  const stragglers = new Map(random.chance(0.2) ? [[random.whole(0, 30), 20]] : []);
  return {
    ...soundNature,
    name,
    creditBytes: random.pick([50, 500, 5000, 100_000]),
    bytesPerMs: random.pick([0.2, 1, 1, 5]),
    latencyMs: random.pick([0.5, 2, 40]),
    duplicates: random.pick([0, 0, 0.2]),
    partMs: random.pick([0, 20, 250]),
    stragglers,
  };
}

function drawFault(random: SeededRandom, nature: NodeNature, lies: boolean, hasKiller: boolean): NodeNature {
  if (lies) return { ...nature, lies: random.pick([0.1, 1]) };
  // The node would be alone at times, and a shard that the only node fails counts as poison.
  return !hasKiller && random.chance(0.3) ? { ...nature, failures: 1 } : nature;
}

/** Where a node cannot read or write, from the start or some moment on, for some time or forever. */
function drawBlindness(random: SeededRandom, jobs: readonly SimulatedJob[]): Blindness[] {
  return Array.from({ length: random.pick([0, 0, 1, 1, 2, 4]) }, () => {
    const job = random.pick(jobs);
    const { jobId, roots } = job;
    const fromMs = random.pick([0, random.whole(0, 8000)]);
    return {
      below: random.pick([
        `${rootOf(job, random.whole(0, roots - 1))}/`,
        `file:///in/${jobId}/`,
        'file:///in/',
        'file:///out/',
      ]),
      fromMs,
      untilMs: random.pick([Number.POSITIVE_INFINITY, fromMs + random.whole(1, 20_000)]),
      finds: random.pick(['nothing', 'others', 'damage']),
    };
  });
}

function arrangeFate(cluster: SimulatedCluster, random: SeededRandom, node: SimulatedNode, fate: string): void {
  const at = random.whole(100, 9000);
  const { clock } = cluster;
  switch (fate) {
    case 'crash':
      clock.after(at, () => node.crash(random.chance(0.5), random.chance(0.7)));
      break;
    case 'cut':
      for (let i = 0; i < 2; i++) {
        clock.after(at + i * random.whole(300, 2000), () => node.cut(random.chance(0.7)));
      }
      break;
    case 'part':
      clock.after(at, () => node.cut(random.chance(0.5), random.pick([500, 5000, 70_000])));
      break;
    case 'freeze':
      clock.after(at, () => node.freeze(random.pick([500, 2900, 3100, 9000])));
      break;
    case 'drain':
      clock.after(at, () => node.drain(random.pick([0, 200, 5000])));
      break;
  }
}
