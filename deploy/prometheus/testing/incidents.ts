/** An incident in a made-up cluster, and the alerts that it must raise. */
export interface Incident {
  cluster: ClusterName;
  kind: IncidentKind;
  /** The job in which it happens, as a part of the whole time: 0 is the first job, 1 the last complete one. */
  part: number;
  /** Minutes after that job began. */
  offset: number;
  minutes: number;
  /** The alerts that fire, from and to which minute of the incident; all others stay silent. */
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
  | 'nodes leave'
  | 'node slows'
  | 'token ends'
  | 'nodes flap';

/** Minutes from the beginning of a job to the next. A job takes about `jobMinutes`; then the cluster is idle. */
export const periodMinutes = 180;
export const jobMinutes = 140;

/**
 * Minutes by which an alert may be early or late, because there is one sample a minute, seen for a minute and a half.
 */
export const toleranceMinutes = 3;

const [lab, archive] = ['lab', 'archive'] as const;
const [early, second, third, late] = [0, 1 / 3, 2 / 3, 1];

export const incidents: Incident[] = [
  at(lab, 'job fails', early, 30, 1, ['HalogridJobsFailed', 0, 15]),
  at(lab, 'node dies', early, 60, 6, ['HalogridNodeDown', 1, 6], ['HalogridNodesLost', 0, 15]),
  at(lab, 'device lost', early, 100, 1, ['HalogridDeviceLost', 0, 15]),
  // Meanwhile the other cluster has a leader.
  at(lab, 'nobody leads', second, 20, 10, ['HalogridNobodyLeads', 2, 10], ['HalogridTargetDown', 1, 10]),
  at(lab, 'node lacks a folder', second, 70, 20, ['HalogridNodeLacks', 1, 20]),
  at(lab, 'jobs blocked', second, 110, 8, ['HalogridJobsBlocked', 1, 8]),
  // Half of the inputs are damaged: their share over 15 minutes is more than a twentieth from the second minute to the
  // second last.
  at(lab, 'damaged inputs', third, 20, 30, ['HalogridQuarantineRatioHigh', 7, 43]),
  at(lab, 'nodes hang', third, 80, 20, ['HalogridQueueStalled', 10, 20]),
  at(lab, 'event loop lags', late, 30, 15, ['HalogridEventLoopLagHigh', 5, 15]),
  at(lab, 'card shared', late, 60, 10, ['HalogridGpuShared', 1, 10]),
  at(lab, 'wrong answer', late, 70, 1, ['HalogridResultMismatch', 0, 60]),
  // Over 15 minutes it is below a third of the others from the twelfth minute until three minutes after the end.
  at(lab, 'node slows', late, 85, 40, ['HalogridNodeSlow', 17, 43]),
  at(archive, 'coordinator restarts', early, 40, 1),
  at(archive, 'idle coordinator restarts', early, 160, 1),
  at(archive, 'ledger behind', early, 80, 5, ['HalogridLedgerBehind', 0, 5]),
  at(archive, 'coordinator no target', second, 60, 30, ['HalogridCoordinatorAbsent', 2, 30]),
  at(archive, 'metrics vanish', second, 110, 15, ['HalogridNobodyLeads', 2, 15], ['HalogridMetricsMissing', 6, 15]),
  at(archive, 'token ends', third, 10, 15, ['HalogridCredentialEnds', 1, 15]),
  at(archive, 'nodes no targets', third, 30, 20, ['HalogridNodesUnwatched', 6, 20]),
  at(
    archive,
    'nodes leave',
    late,
    60,
    20,
    ['HalogridNoNodes', 5, 20],
    ['HalogridFewerNodes', 10, 20],
    ['HalogridQueueStalled', 10, 20],
  ),
  // A fifth of the leases expire: their share over 15 minutes is more than a twentieth from the fourth minute to the
  // fourth last.
  at(archive, 'nodes flap', third, 80, 30, ['HalogridLeaseExpiryRateHigh', 9, 41], ['HalogridNodesLost', 0, 45]),
];

/** The minute, from the start of the whole time, in which the incident begins. */
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
