import type { Command } from 'commander';
import { identityOf, splitIdentity } from '../protocol/identity.ts';
import { type RecordState, recordStates } from '../protocol/registry-record.ts';
import type { Database } from '../storage/database.ts';
import {
  addKey,
  addMembership,
  defaultTtlSeconds,
  type KeyRegistration,
  RegistrationRefused,
  registerParticipant,
  removeMembership,
  type Subscriber,
  setCatalogIndexUrls,
  setKeyState,
} from '../storage/registry/participants.ts';
import { type KeyRecord, listParticipants } from '../storage/registry/records.ts';
import {
  collectNetworks,
  collectTexts,
  collectUrls,
  parseKey,
  parseKeyId,
  parseNetwork,
  parseSeconds,
  parseState,
  parseSubscriber,
  parseTime,
  parseUrl,
} from './arguments.ts';
import { explainError, printResult, type Register, renderTable } from './command.ts';
import { withDatabase } from './database.ts';

export const register: Register = (program, context) => {
  const registry = program.command('registry').addHelpText('after', examples);

  const onRegistry = (
    name: string,
    work: (database: Database, who: Named) => Promise<[value: object, text: string]>,
  ): Promise<void> =>
    withDatabase(context, async (database, config) => {
      const worked = work(database, nameParticipant(name, config.REGISTRY_NAME));
      const [value, text] = await worked.catch(
        explainError(RegistrationRefused, (refusal) => `${refusal.message} ${advise(refusal, name)}`),
      );
      printResult(context, value, text);
    });
  const ofParticipant = (command: Command) =>
    command.argument('<subscriber>', subscriberHelp, parseSubscriber);

  keyOptions(ofParticipant(registry.command('register')))
    .description('register a participant with one key, or update its record')
    .option('--url <url>', 'base address: callbacks and pushes go there', parseUrl)
    .option('--type <type>', 'role in the network, for example BPP or BAP')
    .option('--domain <domain>', 'business domain that it serves')
    .option(
      '--country <code>',
      'country where it does business, such as IND; may be given several times',
      collectTexts,
    )
    .option('--network <id>', 'network that it is a member of; repeatable', collectNetworks)
    .option('--replace', 'replace the public key that is registered under the same key id')
    .action((name: string, options: RegisterOptions) =>
      onRegistry(name, async (database, who) => {
        const { url, type, domain, country: countries, network: networkIds, replace: replaceKey } = options;
        const about = { url, type, domain, countries, networkIds, replaceKey };
        await registerParticipant(database, { ...who, ...about, key: keyOf(options) });
        const { keyId } = options;
        return [{ registered: who.identity, keyId }, `Registered ${who.identity} with key ${keyId}.`];
      }),
    );

  registry
    .command('list')
    .description('list the participants with their keys')
    .option('--network <id>', 'only members of this network', parseNetwork)
    .action(({ network }: { network?: string }) =>
      withDatabase(context, async (database) => {
        const all = await listParticipants(database);
        const records = all.filter((record) => !network || record.networkMemberships.includes(network));
        const text = records.length > 0 ? renderRecords(records) : 'No participant is registered.';
        printResult(context, records, text);
      }),
    );

  ofParticipant(registry.command('show'))
    .description('show one participant')
    .action((name: string) =>
      onRegistry(name, async (database, who) => {
        const records = await listParticipants(database, who);
        if (records.length === 0)
          throw new RegistrationRefused('unknown-subscriber', `${who.identity} is not registered.`);
        return [records, renderParticipant(records)];
      }),
    );

  const changeState = (name: string, state: RecordState, { keyId }: StateOptions) =>
    onRegistry(name, async (database, { identity: subscriber, ...who }) => {
      const changed = await setKeyState(database, who, state, keyId);
      const text = `${changed.join(', ')} of ${subscriber}: now ${state}.${cacheHint}`;
      return [{ subscriber, state, changed }, changed.length > 0 ? text : 'Nothing to change.'];
    });

  ofParticipant(registry.command('revoke'))
    .description('revoke one key, or all keys of a participant, permanently')
    .option('--key-id <id>', 'only this key')
    .action((name: string, options: StateOptions) => changeState(name, 'revoked', options));

  ofParticipant(registry.command('state'))
    .description(`set the state of keys: ${recordStates.join(', ')}; only live keys are usable`)
    .argument('<state>', 'the new state', parseState)
    .option('--key-id <id>', 'only this key')
    .action(changeState);

  const membership = registry.command('membership').description('networks that a participant is a member of');
  for (const isMember of [true, false])
    ofParticipant(membership.command(isMember ? 'add' : 'remove'))
      .argument('<network>', 'network id: namespace/registry', parseNetwork)
      .action((name: string, network: string) =>
        onRegistry(name, async (database, who) => {
          const subscriber = who.identity;
          const removed = isMember ? undefined : await removeMembership(database, who, network);
          if (isMember) await addMembership(database, who, network);
          const is = isMember ? 'is' : removed ? 'is no longer' : 'was not';
          return [{ subscriber, network, isMember, removed }, `${subscriber} ${is} a member of ${network}.`];
        }),
      );

  const key = registry.command('key').description('keys of a participant');
  keyOptions(ofParticipant(key.command('add')))
    .description('add a key: register the new one, sign with it, revoke the old one')
    .action((name: string, options: KeyOptions) =>
      onRegistry(name, async (database, who) => {
        const { identity: subscriber } = who;
        await addKey(database, who, keyOf(options));
        return [{ subscriber, added: options.keyId }, `Added key ${options.keyId} to ${subscriber}.`];
      }),
    );

  ofParticipant(registry.command('catalog-index'))
    .description('set the addresses of the signed catalog indexes of a participant (meta.catalog_index_urls)')
    .argument('[urls...]', 'all addresses; none clears the list', collectUrls)
    .action((name: string, urls: string[] = []) =>
      onRegistry(name, async (database, who) => {
        const { identity: subscriber } = who;
        await setCatalogIndexUrls(database, who, urls);
        const text = `${subscriber} lists ${urls.length} catalog ${urls.length === 1 ? 'index' : 'indexes'}.`;
        return [{ subscriber, catalogIndexUrls: urls }, text];
      }),
    );
};

const subscriberHelp = 'a domain, or namespace/registry';
const cacheHint = `\nReaders may keep a record for its ttl (${defaultTtlSeconds} s unless set otherwise): until then, some may not see the change.`;
const examples = `
Examples:
  $ signpost registry register bpp.example.com --url https://bpp.example.com --public-key awGPjRK6… --type BPP --network example.org/retail
  $ signpost registry list
  $ signpost registry key add bpp.example.com --key-id key-2 --public-key LjQ0…
  $ signpost registry revoke bpp.example.com --key-id key-1
  $ signpost registry catalog-index bpp.example.com https://bpp.example.com/index/catalogs.index.json

These commands use DATABASE_URL, or the embedded database in DATA_DIR.`;

interface StateOptions {
  keyId?: string;
}

interface KeyOptions {
  keyId: string;
  publicKey: string;
  validFrom?: Date;
  validUntil?: Date;
  ttl?: number;
}

interface RegisterOptions extends KeyOptions {
  url?: string;
  type?: string;
  domain?: string;
  country?: string[];
  network?: string[];
  replace?: boolean;
}

interface Named extends Subscriber {
  identity: string;
  subscriberId: string;
}

/** In the default registry, a bare domain names a participant; in others, both halves do. */
function nameParticipant(name: string, defaultRegistry: string): Named {
  const identity = identityOf(name, defaultRegistry);
  const parts = splitIdentity(identity);
  return {
    ...parts,
    identity,
    subscriberId: parts.registryName === defaultRegistry ? parts.namespace : identity,
  };
}

function advise({ code }: RegistrationRefused, name: string): string {
  return {
    'unknown-subscriber': `Register it: signpost registry register ${name} --url … --public-key …`,
    'unknown-key': `See its keys: signpost registry show ${name}`,
    'key-taken':
      'Give the new key another --key-id, or use "registry register --replace" to drop the old one.',
    'key-revoked': `For example: signpost registry key add ${name} --key-id key-2 --public-key …`,
  }[code];
}

function keyOptions(command: Command): Command {
  return command
    .requiredOption(
      '--public-key <key>',
      'Ed25519 public key: Base64 of 32 bytes or of SPKI DER, or PEM',
      parseKey,
    )
    .option('--key-id <id>', 'name of the key: the second part of keyIds', parseKeyId, 'key-1')
    .option('--valid-from <time>', 'ISO 8601; not usable before', parseTime)
    .option('--valid-until <time>', 'ISO 8601; not usable after', parseTime)
    .option(
      '--ttl <seconds>',
      `how long readers may keep the record (default: ${defaultTtlSeconds})`,
      parseSeconds,
    );
}

function keyOf({ keyId, publicKey, validFrom, validUntil, ttl }: KeyOptions): KeyRegistration {
  return { recordId: keyId, publicKey, validFrom, validUntil, ttlSeconds: ttl };
}

function renderRecords(records: readonly KeyRecord[]): string {
  const header = ['SUBSCRIBER', 'KEY', 'STATE', 'TYPE', 'URL', 'NETWORKS'];
  const rows = records.map(({ subscriberId, recordId, state, type, url, networkMemberships }) => [
    ...[subscriberId, recordId, state, type ?? '', url ?? '', networkMemberships.join(' ')],
  ]);
  return renderTable(header, rows);
}

function renderParticipant(records: readonly KeyRecord[]): string {
  const [first] = records;
  const lines = [
    ['subscriber', first?.subscriberId],
    ['identity', `${first?.namespace}/${first?.registryName}`],
    ['url', first?.url],
    ['type', first?.type],
    ['domain', first?.domain],
    ['countries', first?.countries?.join(' ')],
    ['networks', first?.networkMemberships.join(' ')],
    ['catalog indexes', first?.catalogIndexUrls.join(' ')],
    ...records.map((key) => [`key ${key.recordId}`, `${key.state}  ${key.publicKey}${renderValidity(key)}`]),
  ];
  const rows = lines.map(([label, text]) => [label ?? '', text || '-']);
  return renderTable(['', ''], rows).trimStart();
}

function renderValidity({ validFrom, validUntil, ttlSeconds }: KeyRecord): string {
  const from = validFrom ? `  from ${validFrom.toISOString()}` : '';
  const until = validUntil ? `  until ${validUntil.toISOString()}` : '';
  return `${from}${until}  ttl ${ttlSeconds} s`;
}
