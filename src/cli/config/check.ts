import type { Config } from '../../config.ts';
import { specialRangeOf } from '../../rules/addresses.ts';
import { findEditDistance } from '../../rules/text/typing-errors.ts';
import { otherSpellings, settings } from '../../setting-table.ts';
import { SettingsError, secretFile } from '../../settings.ts';

// What is wrong with the settings of this machine, or probably not meant. Pure.

interface SettingFinding {
  /** `wrong`: it cannot be read. `unknown`: there is no such setting. `dangerous`: it opens what is usually closed. */
  kind: 'wrong' | 'unknown' | 'dangerous';
  setting: string;
  message: string;
}

interface GivenSettings {
  /** The names of all variables of the environment, which others use too. */
  environment: readonly string[];
  /** The names in the .env file, which is ours alone. */
  file: readonly string[];
}

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
  const inFile = file.filter((name) => !isSetting(name) && !isReadBySdk(name));
  const misspelt = environment.filter(
    (name) => !file.includes(name) && !isSetting(name) && findMeant(name) !== undefined,
  );
  return [...inFile, ...misspelt].map((setting) => {
    const meant = findMeant(setting);
    return { kind: 'unknown', setting, message: `is no setting.${meant ? ` Did you mean ${meant}?` : ''}` };
  });
}

function isSetting(name: string): boolean {
  const isSecretFile = Object.entries<{ secret?: boolean }>(settings).some(
    ([setting, { secret }]) => secret && secretFile(setting) === name,
  );
  return isSecretFile || Object.hasOwn(settings, name) || Object.hasOwn(otherSpellings, name);
}

/** OpenTelemetry reads its own variables, many more than the settings name. */
function isReadBySdk(name: string): boolean {
  return name.startsWith('OTEL_') && findMeant(name) === undefined;
}

/** Short names such as HOST are close to too many others. */
const shortestMisspelt = 8;
const mostEdits = 2;

function findMeant(name: string): string | undefined {
  if (name.length < shortestMisspelt) return undefined;
  return Object.keys(settings)
    .map((known) => ({
      known,
      distance: findEditDistance(name, known, mostEdits) ?? Number.POSITIVE_INFINITY,
    }))
    .filter(({ distance }) => distance <= mostEdits)
    .sort((a, b) => a.distance - b.distance)[0]?.known;
}

function findDangers(config: Config): SettingFinding[] {
  return Object.entries(dangers)
    .filter(([, [isThere]]) => isThere(config))
    .map(([setting, [, message]]) => ({ kind: 'dangerous', setting, message }));
}

const isElsewhere = (host: string) => host !== 'localhost' && specialRangeOf(host) !== 'loopback';
const isPublic = (url: string | undefined) => url !== undefined && isElsewhere(new URL(url).hostname);

type Danger = [isThere: (config: Config) => boolean, message: string];

const dangers: Partial<Record<keyof typeof settings, Danger>> = {
  ALLOW_PRIVATE_ADDRESSES: [
    ({ ALLOW_PRIVATE_ADDRESSES, CATALOG_URL, DISCOVERY_URL, PUBLISHER_URL }) =>
      ALLOW_PRIVATE_ADDRESSES && [CATALOG_URL, DISCOVERY_URL, PUBLISHER_URL].some(isPublic),
    'lets messages of strangers lead this process to addresses of its own network, and it has a public address.',
  ],
  ALLOW_UNSIGNED_INDEX: [
    ({ ALLOW_UNSIGNED_INDEX }) => ALLOW_UNSIGNED_INDEX,
    'takes catalog indexes that nobody signed as a whole: entries can be left out of them on the way.',
  ],
  REQUIRE_MANIFEST: [({ REQUIRE_MANIFEST }) => !REQUIRE_MANIFEST, 'takes nodes without a signed manifest.'],
  CHECK_CALLBACK_ORIGIN: [
    ({ CHECK_CALLBACK_ORIGIN }) => !CHECK_CALLBACK_ORIGIN,
    'sends callbacks to whatever address a request names.',
  ],
  RATE_LIMIT_PER_SECOND: [
    ({ RATE_LIMIT_PER_SECOND }) => RATE_LIMIT_PER_SECOND === 0,
    'lets one participant take all of the service.',
  ],
  CLOCK_SKEW_SECONDS: [
    ({ CLOCK_SKEW_SECONDS }) => CLOCK_SKEW_SECONDS > 300,
    'takes signatures that were made long in the future: set the clock instead.',
  ],
  PUBLISHER_TRIGGER_TOKEN: [
    ({ PUBLISHER_TRIGGER_TOKEN }) => PUBLISHER_TRIGGER_TOKEN === 'off',
    'lets every program of this machine publish in the name of the publisher.',
  ],
  PUBLISHER_TRIGGER_HOST: [
    ({ PUBLISHER_TRIGGER_HOST }) => isElsewhere(PUBLISHER_TRIGGER_HOST),
    'has the trigger, which takes unsigned requests, listen for other machines.',
  ],
  CONSOLE_HOST: [
    ({ CONSOLE_HOST }) => isElsewhere(CONSOLE_HOST),
    'has the console listen for other machines: the operator token goes over the network, so put TLS before it.',
  ],
  OPERATIONS_HOST: [
    ({ OPERATIONS_PORT = 0, OPERATIONS_HOST }) => OPERATIONS_PORT > 0 && isElsewhere(OPERATIONS_HOST),
    'shows /metrics and /ready to other machines.',
  ],
  EMBEDDED_DATABASE: [
    ({ EMBEDDED_DATABASE, DATABASE_URL }) => EMBEDDED_DATABASE && DATABASE_URL === undefined,
    'runs on a beta build of PostgreSQL, for trying things out.',
  ],
  HOST: [
    ({ HOST, CATALOG_URL, DISCOVERY_URL, PUBLISHER_URL }) =>
      isElsewhere(HOST) && !(CATALOG_URL ?? DISCOVERY_URL ?? PUBLISHER_URL),
    'listens for other machines, but CATALOG_URL, DISCOVERY_URL and PUBLISHER_URL do not say where these reach it.',
  ],
};
