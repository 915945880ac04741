import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../tests/support/processes/command.ts';
import { readConfig } from '../../config.ts';
import { register as registerConfigCommand } from '../config.ts';
import { checkSettings } from './check.ts';

const check = (env: Record<string, string>, file: string[] = []) =>
  checkSettings({ environment: Object.keys(env), file }, () => readConfig(env));

describe('signpost config check', () => {
  it('has nothing to say of the defaults', async () => {
    expect(check({})).toEqual([]);
    const { exitCode, out } = await runCommand(registerConfigCommand, ['config', 'check'], {});
    expect([exitCode, out]).toEqual([0, expect.stringContaining('nothing about them is unusual')]);
  });

  it('names every setting that cannot be read', async () => {
    const env = { CATALOG_PORT: 'high', LOG_LEVEL: 'loud' };
    expect(check(env)).toEqual([
      { kind: 'wrong', setting: 'CATALOG_PORT', message: expect.stringContaining('whole number') },
      { kind: 'wrong', setting: 'LOG_LEVEL', message: expect.stringContaining('must be one of') },
    ]);
    const { exitCode, out } = await runCommand(registerConfigCommand, ['config', 'check', '--json'], env);
    expect([exitCode, JSON.parse(out).findings.length]).toEqual([1, 2]);
  });

  it('never shows the value of a secret', () => {
    expect(JSON.stringify(check({ CATALOG_PRIVATE_KEY: 'hush-hush' }))).not.toContain('hush');
  });

  it('names what is no setting: all of it in .env, in the environment what looks misspelt', () => {
    expect(check({ CATALOG_PROT: '1', EDITOR: 'vi', HOSTS: 'x' }, ['COLOUR', 'DISCOVER_WAITING'])).toEqual([
      { kind: 'unknown', setting: 'COLOUR', message: 'is not a setting.' },
      { kind: 'unknown', setting: 'DISCOVER_WAITING', message: 'is not a setting.' },
      { kind: 'unknown', setting: 'CATALOG_PROT', message: 'is not a setting. Did you mean CATALOG_PORT?' },
    ]);
  });

  it('takes variables of OpenTelemetry in .env, unless they look misspelt', () => {
    const names = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_TRACES_SAMPLER', 'OTEL_SERVICE_NAMES'];
    expect(check({}, names)).toEqual([
      {
        kind: 'unknown',
        setting: 'OTEL_SERVICE_NAMES',
        message: 'is not a setting. Did you mean OTEL_SERVICE_NAME?',
      },
    ]);
  });

  it.each([
    [
      'ALLOW_PRIVATE_ADDRESSES',
      { ALLOW_PRIVATE_ADDRESSES: 'true', CATALOG_URL: 'https://catalog.example.org' },
    ],
    ['CHECK_CALLBACK_ORIGIN', { CHECK_CALLBACK_ORIGIN: 'false' }],
    ['CONSOLE_HOST', { CONSOLE_HOST: '0.0.0.0' }],
    ['PUBLISHER_TRIGGER_TOKEN', { PUBLISHER_TRIGGER_TOKEN: 'off' }],
    ['HOST', { HOST: '0.0.0.0' }],
  ])('calls it dangerous what opens something by %s', (setting, env) => {
    expect(check(env as Record<string, string>)).toMatchObject([{ kind: 'dangerous', setting }]);
  });
});

describe('signpost config list', () => {
  it('names what is set, a secret also by its file', async () => {
    const env = { CATALOG_ID: 'c.example', OPERATOR_TOKEN_FILE: '/run/secrets/token', HOST_FILE: '/nothing' };
    const { out } = await runCommand(registerConfigCommand, ['config', 'list', '--json'], env);
    const rows: { name: string; isSet: boolean }[] = JSON.parse(out);
    expect(rows.filter(({ isSet }) => isSet).map(({ name }) => name)).toEqual([
      'OPERATOR_TOKEN',
      'CATALOG_ID',
    ]);
  });
});
