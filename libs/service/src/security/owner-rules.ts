import { UsageError } from '../usage-error.ts';
import { type Role, roles } from './roles.ts';

/** What an owner of jobs may have. */
export interface OwnerRules {
  /** The role of a caller that is named by an identity provider or a proxy; the role of a token is in its line. */
  role: Role;
  /** The most jobs that have not ended. */
  jobs: number;
  /** The most decoded bytes that the leases of its jobs hold together. */
  creditBytes: number;
  /** The highest priority of its jobs. */
  priority: number;
}

export interface RulesOfOwners {
  named: ReadonlyMap<string, OwnerRules>;
  /** For owners who are not named. */
  others: OwnerRules;
}

const noLimits: OwnerRules = {
  role: 'read',
  jobs: Number.POSITIVE_INFINITY,
  creditBytes: Number.POSITIVE_INFINITY,
  priority: Number.POSITIVE_INFINITY,
};

/** Without a file, nobody has limits, and callers without a token may only read. */
export const noRules: RulesOfOwners = { named: new Map(), others: noLimits };

export const rulesOf = ({ named, others }: RulesOfOwners, owner: string): OwnerRules => named.get(owner) ?? others;

/** The line of owners who have no line. */
const everybodyElse = '*';

type Refuse = (expected: string) => never;

const readers: Record<string, (text: string, refuse: Refuse) => Partial<OwnerRules>> = {
  role: (text, refuse) => ({
    role: roles.find((one) => one === text) ?? refuse(`one of ${roles.join(', ')} for role`),
  }),
  jobs: (text, refuse) => ({
    jobs: /^\d{1,6}$/.test(text) ? Number(text) : refuse('a whole number of at most 999999 for jobs'),
  }),
  credit: (text, refuse) => ({ creditBytes: bytesOf(text) ?? refuse('a size such as 512MB or 64GB for credit') }),
  priority: (text, refuse) => ({
    priority:
      /^-?\d{1,3}$/.test(text) && Math.abs(Number(text)) <= 100 ? Number(text) : refuse('-100 to 100 for priority'),
  }),
};

/**
 * Parses a file of owners. Each line is NAME and some of role=ROLE, jobs=N, credit=SIZE and priority=N, separated by
 * blanks; the line of `*` is for owners without a line, and for what the other lines leave out. Empty lines and lines
 * that begin with '#' are skipped. Throws UsageError, which names the line.
 */
export function parseOwners(text: string, where: string): RulesOfOwners {
  const lines = new Map<string, Partial<OwnerRules>>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const refuse: Refuse = (expected) => {
      throw new UsageError(`Expected ${expected} in line ${index + 1} of ${where}`);
    };
    const [name = '', ...settings] = line.trim().split(/\s+/);
    if (lines.has(name)) refuse(`one line for '${name}', but found another`);
    const rules: Partial<OwnerRules> = {};
    for (const setting of settings) {
      const [, key = '', value = ''] = /^([a-z]+)=(.+)$/.exec(setting) ?? [];
      const read = Object.hasOwn(readers, key) ? readers[key]! : refuse(`NAME ${Object.keys(readers).join('=… ')}=…`);
      Object.assign(rules, read(value, refuse));
    }
    lines.set(name, rules);
  }
  const others = { ...noLimits, ...lines.get(everybodyElse) };
  lines.delete(everybodyElse);
  return { named: new Map([...lines].map(([name, rules]) => [name, { ...others, ...rules }])), others };
}

const units: Record<string, number> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

function bytesOf(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(B|kB|MB|GB|TB)$/.exec(text) ?? [];
  return number === undefined ? undefined : Math.round(Number(number) * units[unit]!);
}
