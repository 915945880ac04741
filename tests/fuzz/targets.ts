import type { AnyTarget } from './runner.ts';
import { signedRequests } from './targets/signed-requests.ts';
import { wire } from './targets/wire.ts';

export const targets: readonly AnyTarget[] = [signedRequests, wire] as unknown as AnyTarget[];
