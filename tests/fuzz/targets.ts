import type { AnyTarget } from './runner.ts';
import { callbacks } from './targets/callbacks.ts';
import { clientAnswers } from './targets/client-answers.ts';
import { commandFiles } from './targets/command-files.ts';
import { commandInputs } from './targets/command-inputs.ts';
import { crawledFiles } from './targets/crawled-files.ts';
import { importedLists } from './targets/imported-lists.ts';
import { openApiWalk } from './targets/openapi-walk.ts';
import { pullAnswers } from './targets/pull-answers.ts';
import { registryAnswers } from './targets/registry-answers.ts';
import { signedRequests } from './targets/signed-requests.ts';
import { wire } from './targets/wire.ts';

export const targets: readonly AnyTarget[] = [
  ...[importedLists, commandFiles, commandInputs],
  ...[callbacks, clientAnswers, pullAnswers, registryAnswers],
  ...[openApiWalk, signedRequests, wire, crawledFiles],
] as unknown as AnyTarget[];
