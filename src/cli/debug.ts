import type { FoundKey } from '../console/debug.ts';
import type { SignatureDiagnosis } from '../protocol/debug-signature.ts';
import { parseTime } from './arguments.ts';
import { paint } from './colour.ts';
import { type CommandContext, CommandError, printResult, type Register } from './command.ts';

interface SignatureOptions {
  body?: string;
  answering?: string;
  now?: Date;
}

export const register: Register = (program, context) =>
  program
    .command('debug')
    .command('signature')
    .description('explain why the signature of a message is valid or not')
    .argument(
      '<file>',
      'the message as it was sent: headers, an empty line, the body; - reads standard input',
    )
    .option('--body <file>', 'the body, if the first file has only headers')
    .option('--answering <file>', 'headers of the request that this message answers')
    .option('--now <time>', 'as of this time, such as when it was received (default: now)', parseTime)
    .addHelpText('after', help)
    .action((file: string, options: SignatureOptions) => debugSignature(file, options, context));

const help = `
The key comes from the registry (REGISTRY_URL). Every byte of the body counts: save it as it was sent, not as an editor or a log shows it.

Exit codes: 0 the signature is valid; 1 otherwise.

Examples:
  $ signpost debug signature request.http
  $ signpost debug signature headers.txt --body body.json --now 2026-01-31T12:00:00Z
  $ signpost debug signature callback.http --answering request.http`;

async function debugSignature(
  file: string,
  { body, answering, now = new Date() }: SignatureOptions,
  context: CommandContext,
): Promise<void> {
  const [{ readInput }, { withRegistry }, { diagnoseSignature }] = await Promise.all([
    import('./read-input.ts'),
    import('./send/exchange.ts'),
    import('../console/debug.ts'),
  ]);
  const given = splitMessage((await readInput(file, context)).toString('utf8'));
  const message = body === undefined ? given : { ...given, body: await readText(body) };
  if (message.header.trim() === '') throw new CommandError(`${file} has no headers.`);
  const request = answering === undefined ? undefined : splitMessage(await readText(answering));
  const config = context.config();
  const diagnosis = await withRegistry(config, (registry) =>
    diagnoseSignature(registry, config, { ...message, now, requestAuthorization: request?.header }),
  );
  printResult(context, diagnosis, render(diagnosis));
  if (diagnosis.verdict !== 'holds') context.setExitCode(1);

  async function readText(name: string): Promise<string> {
    return (await readInput(name, context)).toString('utf8');
  }
}

/** The request line says nothing about the signature. */
export function splitMessage(text: string): { header: string; body: string } {
  const withoutLine = text.replace(/^(?:[A-Z]+ \S+ HTTP\/[\d.]+|HTTP\/[\d.]+ \d+.*)\r?\n/, '');
  const [, header = withoutLine, body = ''] = /^([\s\S]*?)\r?\n\r?\n([\s\S]*)$/.exec(withoutLine) ?? [];
  return { header, body };
}

function render(diagnosis: SignatureDiagnosis & { key?: FoundKey }): string {
  const { verdict, differs, steps, signingString, key, hints } = diagnosis;
  const lines = steps.flatMap(({ step, ok, detail, expected, got }) => [
    `${ok ? paint('good', '✓') : paint('bad', '✗')} ${step.padEnd(10)} ${detail}`,
    ...(!ok && expected !== undefined ? [`    expected  ${expected}`] : []),
    ...(!ok && got !== undefined ? [`    got       ${got}`] : []),
  ]);
  return [
    ...lines,
    ...(key ? ['', `Key: ${key.recordId} of ${key.identity}, ${key.state}`] : []),
    ...(signingString
      ? ['', 'What is signed:', ...signingString.split('\n').map((line) => `  ${line}`)]
      : []),
    '',
    verdict === 'holds'
      ? paint('good', 'The signature is valid.')
      : `${paint('bad', verdict === 'unreadable' ? 'The header cannot be read.' : 'The signature is not valid.')} ${differs ?? ''}`,
    ...hints.map((hint) => `  ${hint}`),
  ].join('\n');
}
