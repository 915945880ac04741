import { type Config, settings } from '../config.ts';
import { hasCode } from '../error-code.ts';
import { CommandError, oneLine } from './command.ts';

/** Why a process could not start, as one sentence for the person who started it. */
export function explainStart(error: unknown, config: Config): CommandError {
  if (error instanceof CommandError) return error;
  return new CommandError(explainListening(error, config) ?? `Cannot start: ${reasonOf(error)}`, error);
}

function explainListening(error: unknown, config: Config): string | undefined {
  if (!hasCode(error, ...Object.keys(listeningProblems)) || !isListening(error)) return undefined;
  const { code = '', address, hostname, port } = error;
  const place = port === undefined ? (address ?? hostname) : `${address}:${port}`;
  return `Cannot listen on ${place}: ${listeningProblems[code]?.(portSetting(config, port))}`;
}

interface ListeningError extends NodeJS.ErrnoException {
  address?: string;
  hostname?: string;
  port?: number;
}

/** The only names that a start resolves itself, unwrapped, are those of the addresses to listen on. */
function isListening(error: NodeJS.ErrnoException): error is ListeningError {
  return error.syscall === 'listen' || error.syscall === 'getaddrinfo';
}

const noSuchAddress = () => 'this machine has no such address. Set another HOST (see .env.example).';
const listeningProblems: Record<string, (setting: string) => string> = {
  EADDRINUSE: (setting) => `another program does. Stop it, or set another ${setting}.`,
  EACCES: (setting) => `this user may not. Set another ${setting}, of 1024 or more.`,
  EADDRNOTAVAIL: noSuchAddress,
  ENOTFOUND: noSuchAddress,
};

function portSetting(config: Config, port: number | undefined): string {
  const names = Object.keys(settings) as (keyof typeof settings)[];
  return names.find((name) => name.endsWith('_PORT') && config[name] === port) ?? 'port (see .env.example)';
}

/** An error about several addresses has no message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return oneLine(error instanceof Error ? error.message : String(error));
}
