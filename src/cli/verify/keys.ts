import { parsePublicKey } from '../../protocol/keys.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { CommandError, reasonOf } from '../command.ts';

/** Keys that the person vouches for, instead of the registry: for a machine without a network. */
export type KeySource = Pick<RegistryClient, 'findKey' | 'findSubscriber'>;

/** @param given each as `recordId=publicKey` */
export function givenKeys(given: readonly string[]): KeySource {
  const keys = new Map(given.map(readKey));
  return {
    findSubscriber: async () => [],
    async findKey(subscriberId, recordId) {
      const publicKey = keys.get(recordId);
      if (!publicKey) return { kind: 'unknown-key', reason: 'no --key gives it' };
      const record = {
        subscriberId,
        recordId,
        state: 'live' as const,
        networkMemberships: [],
        catalogIndexUrls: [],
      };
      return { kind: 'key', publicKey, record };
    },
  };
}

function readKey(text: string) {
  const [, recordId = '', publicKey = ''] = /^([^=\s/]+)=(.+)$/s.exec(text) ?? [];
  try {
    return [recordId, parsePublicKey(publicKey)] as const;
  } catch (error) {
    throw new CommandError(`--key ${text} is no recordId=publicKey: ${reasonOf(error)}`, error);
  }
}
