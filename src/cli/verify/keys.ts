import { readFileSync } from 'node:fs';
import { isJsonObject, parseJson } from '../../protocol/json.ts';
import { parsePublicKey } from '../../protocol/keys.ts';
import {
  findParticipantRecord,
  type KeyLookup,
  type ParticipantRecord,
  parseQueryAnswer,
  unusableReason,
} from '../../protocol/registry-record.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { CommandError, reasonOf } from '../command.ts';

/** Keys that the person vouches for, instead of the registry: for a machine without a network. */
export type KeySource = Pick<RegistryClient, 'findKey' | 'findSubscriber'>;

/** @param given `recordId=publicKey`, or a file with the registry's answer to a lookup or query */
export function givenKeys(given: readonly string[], now: Date): KeySource {
  const records = new Map(given.flatMap(readKey).map((record) => [record.recordId, record]));
  return {
    findSubscriber: async () => [],
    async findKey(_subscriberId, recordId): Promise<KeyLookup> {
      const record = records.get(recordId);
      const reason = record && unusableReason(record, now);
      if (reason !== undefined) return { kind: 'unusable', reason };
      if (record?.signingPublicKey === undefined) return { kind: 'unknown-key', reason: 'no --key gives it' };
      return { kind: 'key', publicKey: parsePublicKey(record.signingPublicKey), record };
    },
  };
}

function readKey(text: string): ParticipantRecord[] {
  const [, recordId, publicKey] = /^([^=\s/]+)=(.+)$/s.exec(text) ?? [];
  const nothing = { subscriberId: '', networkMemberships: [], catalogIndexUrls: [] };
  const records: ParticipantRecord[] =
    recordId !== undefined && publicKey !== undefined
      ? [{ ...nothing, recordId, state: 'live', signingPublicKey: publicKey }]
      : readRecords(text);
  for (const { signingPublicKey, state } of records)
    if (signingPublicKey !== undefined || state === 'live') checkKey(signingPublicKey, text);
  return records;
}

function readRecords(file: string): ParticipantRecord[] {
  const document = readDocument(file);
  const data = isJsonObject(document) ? (document.data ?? document) : document;
  const one = findParticipantRecord(data);
  try {
    const records = one === undefined ? parseQueryAnswer({ data }).records : [one];
    if (records.length > 0) return records;
  } catch {
    // Other JSON.
  }
  throw new CommandError(`${file} holds no registry record.`);
}

function readDocument(file: string): unknown {
  try {
    return parseJson(readFileSync(file));
  } catch (error) {
    throw new CommandError(
      `--key takes recordId=publicKey, or a file with a registry's answer; ${file} is neither.`,
      error,
    );
  }
}

function checkKey(key: string | undefined, text: string): void {
  try {
    parsePublicKey(key ?? '');
  } catch (error) {
    throw new CommandError(`--key ${text}: ${reasonOf(error)}`, error);
  }
}
