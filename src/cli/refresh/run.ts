import type { Config } from '../../config.ts';
import type { TriggerResult } from '../../protocol/trigger-messages.ts';
import { type Refreshed, refresh } from '../../publisher/refresh.ts';
import { resignEverything } from '../../publisher/renew-indexes.ts';
import { type CommandContext, counted, printResult, withProgress } from '../command.ts';
import { withPublisher } from '../publish/directory.ts';
import { renderResults } from '../publish/report.ts';

export interface RefreshOptions {
  resign?: boolean;
  skipVersions?: number;
}

/** Signs the files that announce the next update with the current key; with --resign, all files. */
export async function refreshHere(
  config: Config,
  { resign, skipVersions }: RefreshOptions,
  context: CommandContext,
): Promise<void> {
  await withPublisher(config, async (publisher) => {
    const { tree } = publisher;
    let resigned: TriggerResult[] | undefined;
    if (resign || skipVersions !== undefined) {
      const { results, warnings = [] } = await withProgress(context, 'signing everything again', () =>
        resignEverything(tree, skipVersions),
      );
      resigned = results;
      if (results.length > 0 && !context.json) context.print(renderResults(results));
      for (const warning of warnings) context.note(`Warning: ${warning}`);
      if (results.some(({ status }) => status !== 'ACCEPTED')) context.setExitCode(1);
    }
    const refreshed = await withProgress(context, 'renewing', () => refresh(publisher));
    const { recordId: keyId } = tree.key;
    const { nextUpdate } = refreshed;
    const formerKeys = [...refreshed.formerKeys].map(([key, ids]) => ({ keyId: key, catalogs: [...ids] }));
    const head = `Signed with ${keyId}; the next update is announced for ${nextUpdate.toISOString()}.`;
    const text = [head, ...reportFormerKeys(refreshed, config)].join('\n');
    printResult(context, { keyId, nextUpdate, formerKeys, resigned }, text);
  });
}

/** An earlier key can be revoked when no listed file is signed with it and crawlers no longer read the former index: after the next update. */
function reportFormerKeys({ formerKeys, nextUpdate }: Refreshed, config: Config): string[] {
  return [...formerKeys].map(([key, catalogs]) => {
    if (catalogs.size === 0) {
      return (
        `No listed file is signed with ${key} any more. It can be revoked on ${nextUpdate.toISOString()}, or at once if it was compromised: ` +
        describeRevocation(key, config)
      );
    }
    const some = [...catalogs].slice(0, shownCatalogs).join(', ');
    const more = catalogs.size > shownCatalogs ? ', …' : '';
    return (
      `${key} must stay registered: listed files of ${counted(catalogs.size, 'catalog')} are signed with it (${some}${more}). They are replaced ` +
      'as new baselines are published; "signpost refresh --resign" signs them all again now.'
    );
  });
}

/** Commands write our own registry; other registries have operators. */
function describeRevocation(key: string, { identities, REGISTRY_URL }: Config): string {
  const { id } = identities.publisher;
  return REGISTRY_URL === undefined
    ? `signpost registry revoke ${id} --key-id ${key}`
    : `have the record ${key} of ${id} revoked at ${REGISTRY_URL}.`;
}

const shownCatalogs = 5;
