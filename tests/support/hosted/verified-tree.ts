import { expect } from 'vitest';
import { register as registerVerifyCommand } from '../../../src/cli/verify.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import { publicKeyOf } from '../../../src/protocol/keys.ts';
import { publishCatalogs } from '../../../src/publisher/publish.ts';
import { type CommandRun, runCommand } from '../processes/command.ts';
import { newSigningKey, type TestTree } from './published-tree.ts';

// Published trees with chargers, and the command that verifies them.

export const key = newSigningKey();

/** Options with the key, so that the command needs no registry. */
export const vouched = ['--key', `key-1=${publicKeyOf(key.privateKey)}`];

export function chargers(count: number, id = 'chargers'): Catalog {
  const attributes = {
    '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
    '@type': 'EnergyResourceEVCharger',
    type: 'EV_CHARGER',
  };
  const resources = Array.from({ length: count }, (_, index) => {
    const resourceId = `${id}-${index}`;
    return { id: resourceId, resourceAttributes: { ...attributes, id: resourceId, note: 'x'.repeat(300) } };
  });
  return { id, descriptor: { name: 'C' }, provider: { id: 'p', descriptor: { name: 'P' } }, resources };
}

export async function publish(tree: TestTree, ...catalogs: Catalog[]): Promise<void> {
  const answer = await publishCatalogs(tree, { message: { catalogs } });
  expect(answer.status).toBe('COMPLETED');
}

export async function verify(
  tree: TestTree,
  args: string[] = [tree.root, ...vouched],
  env: Record<string, string> = {},
): Promise<CommandRun> {
  return runCommand(registerVerifyCommand, ['verify', ...args], { DATA_DIR: tree.directory, ...env });
}

export async function verifyJson(tree: TestTree, args: string[] = [tree.root, ...vouched]) {
  const { exitCode, out } = await verify(tree, [...args, '--json']);
  return { exitCode, ...JSON.parse(out) };
}
