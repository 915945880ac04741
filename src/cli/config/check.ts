import type { Config } from '../../config.ts';
import { specialRangeOf } from '../../rules/addresses.ts';
import { findEditDistance } from '../../rules/text/typing-errors.ts';
import { otherSpellings, settings } from '../../setting-table.ts';
import { SettingsError, secretFile } from '../../settings.ts';
import type { CommandContext } from '../command.ts';

// Finds settings that are wrong, or probably not intended. Pure.

interface SettingFinding {
  /** `wrong`: it cannot be read. `unknown`: there is no such setting. `dangerous`: it disables a protection. */
  kind: 'wrong' | 'unknown' | 'dangerous';
  setting: string;
  message: string;
}

type GivenSettings = ReturnType<CommandContext['givenSettings']>;

export function checkSettings(given: GivenSettings, read: () => Config): SettingFinding[] {
  const unknown = findUnknown(given);
  try {
    return [...unknown, ...findDangers(read())];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [...error.message.split('\n').map(wrong), ...unknown];
  }
}

function wrong(line: string): SettingFinding {
  const [, setting = '', message = line] = /^Setting (\w+)(?:=".*?")? (.*)$/.exec(line) ?? [];
  return { kind: 'wrong', setting, message };
}

function findUnknown({ environment, file }: GivenSettings): SettingFinding[] {
  // OpenTelemetry reads its own variables, many more than our settings name.
  const isReadBySdk = (name: string) => name.startsWith('OTEL_') && findMeant(name) === undefined;
  const inFile = file.filter((name) => !isSetting(name) && !isReadBySdk(name));
  const misspelt = environment.filter(
    (name) => !file.includes(name) && !isSetting(name) && findMeant(name) !== undefined,
  );
  return [...inFile, ...misspelt].map((setting) => {
    const meant = findMeant(setting);
    const message = `is not a setting.${meant ? ` Did you mean ${meant}?` : ''}`;
    return { kind: 'unknown', setting, message };
  });
}

function isSetting(name: string): boolean {
  const isSecretFile = Object.entries<{ secret?: boolean }>(settings).some(
    ([setting, { secret }]) => secret && secretFile(setting) === name,
  );
  return isSecretFile || Object.hasOwn(settings, name) || Object.hasOwn(otherSpellings, name);
}

/** Shorter names such as HOST are too similar to others. */
const shortestMisspelt = 8;
const mostEdits = 2;

function findMeant(name: string): string | undefined {
  if (name.length < shortestMisspelt) return undefined;
  const near = Object.keys(settings).flatMap((known) => {
    const distance = findEditDistance(name, known, mostEdits);
    return distance === undefined ? [] : [{ known, distance }];
  });
  return near.sort((a, b) => a.distance - b.distance)[0]?.known;
}

function findDangers(config: Config): SettingFinding[] {
  const { CATALOG_URL, DISCOVERY_URL, PUBLISHER_URL, OPERATIONS_PORT = 0 } = config;
  const isPublic = (url: string | undefined) => url !== undefined && isElsewhere(new URL(url).hostname);
  const areThere: Record<keyof typeof dangers, boolean> = {
    ALLOW_PRIVATE_ADDRESSES:
      config.ALLOW_PRIVATE_ADDRESSES && [CATALOG_URL, DISCOVERY_URL, PUBLISHER_URL].some(isPublic),
    ALLOW_UNSIGNED_INDEX: config.ALLOW_UNSIGNED_INDEX,
    REQUIRE_MANIFEST: !config.REQUIRE_MANIFEST,
    CHECK_CALLBACK_ORIGIN: !config.CHECK_CALLBACK_ORIGIN,
    RATE_LIMIT_PER_SECOND: config.RATE_LIMIT_PER_SECOND === 0,
    CLOCK_SKEW_SECONDS: config.CLOCK_SKEW_SECONDS > 300,
    PUBLISHER_TRIGGER_TOKEN: config.PUBLISHER_TRIGGER_TOKEN === 'off',
    PUBLISHER_TRIGGER_HOST: isElsewhere(config.PUBLISHER_TRIGGER_HOST),
    CONSOLE_HOST: isElsewhere(config.CONSOLE_HOST),
    OPERATIONS_HOST: OPERATIONS_PORT > 0 && isElsewhere(config.OPERATIONS_HOST),
    EMBEDDED_DATABASE: config.EMBEDDED_DATABASE && config.DATABASE_URL === undefined,
    HOST: isElsewhere(config.HOST) && !(CATALOG_URL ?? DISCOVERY_URL ?? PUBLISHER_URL),
  };
  return (Object.keys(dangers) as (keyof typeof dangers)[])
    .filter((setting) => areThere[setting])
    .map((setting) => ({ kind: 'dangerous', setting, message: dangers[setting] }));
}

const isElsewhere = (host: string) => host !== 'localhost' && specialRangeOf(host) !== 'loopback';

const dangers = {
  ALLOW_PRIVATE_ADDRESSES:
    'lets messages from strangers send this process to private addresses, although it has a public address.',
  ALLOW_UNSIGNED_INDEX:
    'accepts catalog indexes that are not signed as a whole: entries can be removed on the way.',
  REQUIRE_MANIFEST: 'accepts nodes without a signed manifest.',
  CHECK_CALLBACK_ORIGIN: 'sends callbacks to any address that a request names.',
  RATE_LIMIT_PER_SECOND: 'lets one participant use up the service.',
  CLOCK_SKEW_SECONDS: 'accepts signatures created far in the future: correct the clock instead.',
  PUBLISHER_TRIGGER_TOKEN: 'lets every program on this machine publish as the publisher.',
  PUBLISHER_TRIGGER_HOST: 'opens the trigger, which accepts unsigned requests, to other machines.',
  CONSOLE_HOST: 'opens the console to other machines: the operator token crosses the network, so use TLS.',
  OPERATIONS_HOST: 'shows /metrics and /ready to other machines.',
  EMBEDDED_DATABASE: 'runs on a beta build of PostgreSQL, for trying things out.',
  HOST: 'is open to other machines, but CATALOG_URL, DISCOVERY_URL and PUBLISHER_URL do not say at which address.',
} satisfies Partial<Record<keyof typeof settings, string>>;
