import { Refusal } from '@halogrid/jobs/refusal';
import type { JobRecord } from '@halogrid/ledger';
import { type Caller, includesRole } from '@halogrid/service';

/**
 * Throws Refusal unless the caller may change the job: it is the caller's own, or nobody's, or the caller is an admin.
 * `action` is what the caller asks for, as a verb.
 */
export function refuseStranger({ jobId, owner = '' }: JobRecord, { name, role }: Caller, action: string): void {
  if (owner === '' || owner === name || includesRole(role, 'admin')) return;
  throw new Refusal(
    'forbidden',
    `Job ${jobId} belongs to '${owner}': to ${action} it, '${name}' needs the role 'admin'`,
  );
}
