import { ServerInterceptingCall, type ServerInterceptor, type StatusObject, status } from '@grpc/grpc-js';
import type { Access, Credentials, Role } from '@halogrid/service';
import type { Audit } from './audit.ts';
import { grpcCredentials } from './grpc-credentials.ts';

/** The role that each call needs. Health is open: probes have no secrets. Calls that are not listed are refused. */
const neededRoles: Record<string, Role | 'nothing'> = {
  '/halogrid.v1.Jobs/Submit': 'submit',
  '/halogrid.v1.Jobs/Cancel': 'submit',
  '/halogrid.v1.Jobs/Remove': 'submit',
  '/halogrid.v1.Jobs/Pause': 'submit',
  '/halogrid.v1.Jobs/Resume': 'submit',
  '/halogrid.v1.Jobs/Get': 'read',
  '/halogrid.v1.Jobs/List': 'read',
  '/halogrid.v1.Jobs/Watch': 'read',
  '/halogrid.v1.Jobs/Trace': 'read',
  '/halogrid.v1.Nodes/Attach': 'node',
  '/halogrid.v1.Nodes/List': 'read',
  '/halogrid.v1.Search/ListIndexes': 'read',
  '/halogrid.v1.Search/ListFrames': 'read',
  '/halogrid.v1.Search/Search': 'read',
  '/halogrid.v1.Search/Changes': 'read',
  '/grpc.health.v1.Health/Check': 'nothing',
  '/grpc.health.v1.Health/List': 'nothing',
  '/grpc.health.v1.Health/Watch': 'nothing',
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo': 'read',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo': 'read',
};

/**
 * A token may expire, or be taken away, in the middle of a call: while messages pass, it is checked again this often.
 */
const checkEveryMs = 1_000;

export interface CallAccessOptions {
  access: Access;
  /** Notes changes that are refused here. */
  audit: Pick<Audit, 'refused'>;
  /** Called for each call that goes on, with the caller's address and whether the caller has shown who it is. */
  spoke: (peer: string, isTrusted: boolean) => void;
  /** Reads a clock that never goes back. */
  nowMs: () => number;
}

/**
 * Ends calls that the caller may not make with UNAUTHENTICATED or PERMISSION_DENIED, before any of their messages is
 * read.
 */
export function withAccess({ access, audit, spoke, nowMs }: CallAccessOptions): ServerInterceptor {
  return ({ path }, call) => {
    const needed = neededRoles[path];
    let credentials: Credentials | undefined;
    let checkedMs = 0;
    let isOver = false;
    /** Whether the call goes on. */
    const mayGoOn = (): boolean => {
      if (isOver) return false;
      const now = nowMs();
      if (now - checkedMs < checkEveryMs) return true;
      checkedMs = now;
      const end = whyNot(access, credentials!, needed);
      if (!end) return true;
      isOver = true;
      const { code, details, name } = end;
      if (needed === 'submit') audit.refused({ action: actionOf(path) }, credentials!, { name, sentence: details });
      call.sendStatus({ code, details });
      return false;
    };
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, pass) {
            credentials = grpcCredentials(metadata, call.getPeer());
            checkedMs = Number.NEGATIVE_INFINITY;
            const begin = (): void => {
              if (!mayGoOn()) return;
              spoke(call.getPeer(), needed !== 'nothing');
              pass(metadata);
            };
            const preparing = needed === 'nothing' ? undefined : access.prepare?.(credentials);
            if (preparing) void preparing.then(begin);
            else begin();
          },
          onReceiveMessage(message, pass) {
            if (mayGoOn()) pass(message);
          },
        }),
      sendMessage(message, pass) {
        if (mayGoOn()) pass(message);
      },
    });
  };
}

/** `cancel` of /halogrid.v1.Jobs/Cancel. */
const actionOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1).toLowerCase();

/** Undefined if the call goes on. */
function whyNot(
  access: Access,
  credentials: Credentials,
  needed: Role | 'nothing' | undefined,
): (Pick<StatusObject, 'code' | 'details'> & { name: string }) | undefined {
  if (needed === 'nothing') return undefined;
  if (!needed) return { code: status.PERMISSION_DENIED, details: 'Nobody may make this call', name: '' };
  const { denial } = access.admit(credentials, needed);
  if (!denial) return undefined;
  const code = denial.kind === 'unauthenticated' ? status.UNAUTHENTICATED : status.PERMISSION_DENIED;
  return { code, details: denial.sentence, name: denial.name };
}
