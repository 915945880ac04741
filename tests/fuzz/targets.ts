import type { AnyTarget } from './runner.ts';
import { crawledFiles } from './targets/crawled-files.ts';
import { openApiWalk } from './targets/openapi-walk.ts';
import { pullAnswers } from './targets/pull-answers.ts';
import { registryAnswers } from './targets/registry-answers.ts';
import { signedRequests } from './targets/signed-requests.ts';
import { wire } from './targets/wire.ts';

export const targets: readonly AnyTarget[] = [
  ...[signedRequests, wire, openApiWalk, registryAnswers, pullAnswers, crawledFiles],
] as unknown as AnyTarget[];
