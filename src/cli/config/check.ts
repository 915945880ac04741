import type { Config } from '../../config.ts';
import { specialRangeOf } from '../../rules/addresses.ts';
import { findEditDistance } from '../../rules/text/typing-errors.ts';
import { otherSpellings, settings } from '../../setting-table.ts';
import { SettingsError, secretFile } from '../../settings.ts';

// What is wrong with the settings of this machine, or probably not meant. Pure.

export interface SettingFinding {
  /** `wrong`: it cannot be read. `unknown`: there is no such setting. `dangerous`: it opens what is usually closed. */
  kind: 'wrong' | 'unknown' | 'dangerous';
  setting: string;
  message: string;
}

export interface GivenSettings {
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
  return dangers
    .filter(({ isThere }) => isThere(config))
    .map(({ setting, message }) => ({ kind: 'dangerous', setting, message }));
}

const isElsewhere = (host: string) => host !== 'localhost' && specialRangeOf(host) !== 'loopback';
const isPublic = (url: string | undefined) => url !== undefined && isElsewhere(new URL(url).hostname);

interface Danger {
  setting: keyof typeof settings;
  isThere(config: Config): boolean;
  message: string;
}

const dangers: readonly Danger[] = [
  {
    setting: 'ALLOW_PRIVATE_ADDRESSES',
    isThere: (config) =>
      config.ALLOW_PRIVATE_ADDRESSES &&
      [config.CATALOG_URL, config.DISCOVERY_URL, config.PUBLISHER_URL].some(isPublic),
    message:
      'lets messages of strangers lead this process to addresses of its own network, and it has a public address.',
  },
  {
    setting: 'ALLOW_UNSIGNED_INDEX',
    isThere: (config) => config.ALLOW_UNSIGNED_INDEX,
    message:
      'takes catalog indexes that nobody signed as a whole: entries can be left out of them on the way.',
  },
  {
    setting: 'REQUIRE_MANIFEST',
    isThere: (config) => !config.REQUIRE_MANIFEST,
    message: 'takes nodes without a signed manifest.',
  },
  {
    setting: 'CHECK_CALLBACK_ORIGIN',
    isThere: (config) => !config.CHECK_CALLBACK_ORIGIN,
    message: 'sends callbacks to whatever address a request names.',
  },
  {
    setting: 'RATE_LIMIT_PER_SECOND',
    isThere: (config) => config.RATE_LIMIT_PER_SECOND === 0,
    message: 'lets one participant take all of the service.',
  },
  {
    setting: 'CLOCK_SKEW_SECONDS',
    isThere: (config) => config.CLOCK_SKEW_SECONDS > 300,
    message: 'takes signatures that were made long in the future: set the clock instead.',
  },
  {
    setting: 'PUBLISHER_TRIGGER_TOKEN',
    isThere: (config) => config.PUBLISHER_TRIGGER_TOKEN === 'off',
    message: 'lets every program of this machine publish in the name of the publisher.',
  },
  {
    setting: 'PUBLISHER_TRIGGER_HOST',
    isThere: (config) => isElsewhere(config.PUBLISHER_TRIGGER_HOST),
    message: 'has the trigger, which takes unsigned requests, listen for other machines.',
  },
  {
    setting: 'CONSOLE_HOST',
    isThere: (config) => isElsewhere(config.CONSOLE_HOST),
    message:
      'has the console listen for other machines: the operator token goes over the network, so put TLS before it.',
  },
  {
    setting: 'OPERATIONS_HOST',
    isThere: (config) => (config.OPERATIONS_PORT ?? 0) > 0 && isElsewhere(config.OPERATIONS_HOST),
    message: 'shows /metrics and /ready to other machines.',
  },
  {
    setting: 'EMBEDDED_DATABASE',
    isThere: (config) => config.EMBEDDED_DATABASE && config.DATABASE_URL === undefined,
    message: 'runs on a beta build of PostgreSQL, for trying things out.',
  },
  {
    setting: 'HOST',
    isThere: (config) =>
      isElsewhere(config.HOST) &&
      ![config.CATALOG_URL, config.DISCOVERY_URL, config.PUBLISHER_URL].some((url) => url !== undefined),
    message:
      'listens for other machines, but CATALOG_URL, DISCOVERY_URL and PUBLISHER_URL do not say where these reach it.',
  },
];
