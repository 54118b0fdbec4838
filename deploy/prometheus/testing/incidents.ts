/** What happens to a made-up cluster, and which alerts that must raise. */
export interface Incident {
  cluster: ClusterName;
  kind: IncidentKind;
  /** In which part of the time: 0 in the first job, 1 in the last whole one. */
  part: number;
  /** Minutes after that job began. */
  offset: number;
  minutes: number;
  /** Alerts, with minutes from the beginning of the incident in which they fire; all others stay silent. */
  alerts: { alert: string; from: number; to: number }[];
}

export type ClusterName = 'lab' | 'archive';
export type IncidentKind =
  | 'job fails'
  | 'node dies'
  | 'device lost'
  | 'nobody leads'
  | 'node lacks a folder'
  | 'jobs blocked'
  | 'damaged inputs'
  | 'nodes hang'
  | 'event loop lags'
  | 'card shared'
  | 'wrong answer'
  | 'coordinator restarts'
  | 'idle coordinator restarts'
  | 'ledger behind'
  | 'coordinator no target'
  | 'metrics vanish'
  | 'nodes no targets'
  | 'nodes flap';

/** A job begins so often, in minutes; it takes about `jobMinutes`, and nothing is asked for in the rest of the time. */
export const periodMinutes = 180;
export const jobMinutes = 140;

/** Minutes by which an alert may be early or late: a sample a minute, each seen for a minute and a half. */
export const toleranceMinutes = 3;

const [lab, archive] = ['lab', 'archive'] as const;
const [early, second, third, late] = [0, 1 / 3, 2 / 3, 1];

export const incidents: Incident[] = [
  at(lab, 'job fails', early, 30, 1, ['HalogridJobsFailed', 0, 15]),
  at(lab, 'node dies', early, 60, 6, ['HalogridTargetDown', 1, 6], ['HalogridNodesLost', 0, 15]),
  at(lab, 'device lost', early, 100, 1, ['HalogridDeviceLost', 0, 15]),
  // Meanwhile the other cluster has a leader.
  at(lab, 'nobody leads', second, 20, 10, ['HalogridNobodyLeads', 2, 10], ['HalogridTargetDown', 1, 10]),
  at(lab, 'node lacks a folder', second, 70, 20, ['HalogridNodeLacks', 1, 20]),
  at(lab, 'jobs blocked', second, 110, 8, ['HalogridJobsBlocked', 1, 8]),
  // Half of the inputs: more than a twentieth of those of 15 minutes from the second minute on, to the second last.
  at(lab, 'damaged inputs', third, 20, 30, ['HalogridQuarantineRatioHigh', 7, 43]),
  at(lab, 'nodes hang', third, 80, 20, ['HalogridQueueStalled', 10, 20]),
  at(lab, 'event loop lags', late, 30, 15, ['HalogridEventLoopLagHigh', 5, 15]),
  at(lab, 'card shared', late, 60, 10, ['HalogridGpuShared', 1, 10]),
  at(lab, 'wrong answer', late, 70, 1, ['HalogridResultMismatch', 0, 60]),
  at(archive, 'coordinator restarts', early, 40, 1),
  at(archive, 'idle coordinator restarts', early, 160, 1),
  at(archive, 'ledger behind', early, 80, 5, ['HalogridLedgerBehind', 0, 5]),
  at(archive, 'coordinator no target', second, 60, 30, ['HalogridCoordinatorAbsent', 2, 30]),
  at(archive, 'metrics vanish', second, 110, 15, ['HalogridNobodyLeads', 2, 15], ['HalogridMetricsMissing', 6, 15]),
  at(archive, 'nodes no targets', third, 30, 20, ['HalogridNodesUnwatched', 6, 20]),
  // A fifth of the leases: more than a twentieth of those of 15 minutes from the fourth minute on, to the fourth last.
  at(archive, 'nodes flap', third, 80, 30, ['HalogridLeaseExpiryRateHigh', 9, 41], ['HalogridNodesLost', 0, 45]),
];

/** The minute of the whole time in which the incident begins. */
export function beginsAt({ part, offset }: Incident, periods: number): number {
  return Math.round(part * (periods - 1)) * periodMinutes + offset;
}

function at(
  cluster: ClusterName,
  kind: IncidentKind,
  part: number,
  offset: number,
  minutes: number,
  ...alerts: [alert: string, from: number, to: number][]
): Incident {
  return { cluster, kind, part, offset, minutes, alerts: alerts.map(([alert, from, to]) => ({ alert, from, to })) };
}
