import type { Role } from '../../conform/check.ts';
import { FetchFailure, type GuardedClient } from '../../http/guarded-client.ts';
import { type Action, actions } from '../../protocol/actions.ts';
import { manifestPaths } from '../../protocol/endpoints.ts';
import { CommandError, explainError } from '../command.ts';
import { roleNames } from './report.ts';

export async function findRole(url: string, client: GuardedClient): Promise<Role> {
  if (/\.json(\.gz)?$/.test(new URL(url).pathname)) return 'tree';
  const [isTree, isCatalog, isDiscovery] = await Promise.all([
    hasManifest(url, client),
    answersAt(url, actions.search, client),
    answersAt(url, actions.discover, client),
  ]);
  const found = [isTree && 'tree', isCatalog && 'catalog', isDiscovery && 'discovery'].filter(
    (role): role is Role => role !== false,
  );
  const [role, second] = found;
  if (role === undefined)
    throw new CommandError(
      `${url} has no manifest, and answers neither ${actions.search.path} nor ${actions.discover.path}. Give --role to check it anyway.`,
    );
  if (second !== undefined) {
    const names = new Intl.ListFormat('en-GB').format(found.map((one) => `a ${roleNames[one]}`));
    throw new CommandError(`${url} answers as ${names}. Choose one with --role.`);
  }
  return role;
}

async function hasManifest(url: string, client: GuardedClient): Promise<boolean> {
  for (const path of manifestPaths)
    if ((await ask(client, 'GET', `${new URL(url).origin}/${path}`)) === 200) return true;
  return false;
}

/** Sends no signature: a role that has the path refuses that. */
async function answersAt(url: string, { path }: Action, client: GuardedClient): Promise<boolean> {
  const status = await ask(client, 'POST', `${url.replace(/\/+$/, '')}${path}`);
  return status !== 404 && status !== 405 && status !== 501;
}

const answerTimeoutMs = 10_000;
const maxAnswerBytes = 16 * 1024 * 1024;

async function ask(client: GuardedClient, method: 'GET' | 'POST', url: string): Promise<number> {
  const options = {
    ...{ method, timeoutMs: answerTimeoutMs, maxBytes: maxAnswerBytes, operatorConfigured: true },
    ...(method === 'POST' && { body: '{}', headers: { 'content-type': 'application/json' } }),
  };
  const answered = client.request(url, options);
  return (await answered.catch(explainError(FetchFailure, ({ message }) => message))).status;
}
