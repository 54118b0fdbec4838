/** Roles of callers: submit and cancel jobs (and read), compute as a node, or only read. */
export const roles = ['submit', 'node', 'read'] as const;
export type Role = (typeof roles)[number];

/**
 * Whether a caller with the role `held` may do what needs the role `needed`. A caller that submits jobs may read; a
 * node may not.
 */
export function includesRole(held: Role, needed: Role): boolean {
  return held === needed || (held === 'submit' && needed === 'read');
}
