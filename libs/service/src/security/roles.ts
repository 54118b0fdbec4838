/**
 * Roles of callers: change jobs of others (and submit), submit jobs and change their own (and read), compute as a node,
 * or only read.
 */
export const roles = ['admin', 'submit', 'node', 'read'] as const;
export type Role = (typeof roles)[number];

const included: Record<Role, readonly Role[]> = {
  admin: ['admin', 'submit', 'read'],
  submit: ['submit', 'read'],
  node: ['node'],
  read: ['read'],
};

/**
 * Whether a caller with the role `held` may do what needs the role `needed`. A caller that submits jobs may read; a
 * node may not.
 */
export const includesRole = (held: Role, needed: Role): boolean => included[held].includes(needed);
