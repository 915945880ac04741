import { type IndexStatus, readIndexStatus } from '../../search/status.ts';
import { type CommandContext, renderTable } from '../command.ts';
import { withDatabase } from '../database.ts';

export async function showStatus(context: CommandContext, { json }: { json?: boolean }): Promise<void> {
  await withDatabase(context, async (database) => {
    const status = await readIndexStatus(database);
    context.print(json ? JSON.stringify(status, null, 2) : renderStatus(status));
  });
}

function renderStatus(status: IndexStatus): string {
  const { version, newest, catalogs, begun, processes } = status;
  const total = catalogs.reduce((sum, { count }) => sum + count, 0);
  const lines = [
    `The index has version ${version}; this program knows up to version ${newest}.`,
    `${catalogs.find((each) => each.version === version)?.count ?? 0} of ${total} catalogs have entries of version ${version}. ${describeNextStep(status)}`,
    ...begun.map(({ id, documents }) => `Of catalog ${id}, ${documents} resources are done.`),
  ];
  const rows = processes.map(({ name, version: known }) => [name, String(known)]);
  if (rows.length === 0) return [...lines, 'No running process uses it.'].join('\n');
  return [...lines, '', renderTable(['PROCESS', 'KNOWS VERSION'], rows)].join('\n');
}

function describeNextStep({ version, next, newest, catalogs, isRebuilding, processes }: IndexStatus): string {
  if (isRebuilding) return 'The others are being rebuilt.';
  if (catalogs.some((each) => each.version !== version))
    return processes.length > 0
      ? 'The others will be rebuilt.'
      : 'The others will be rebuilt when a discovery service runs.';
  if (version < next) return `Searches are learning of version ${next}.`;
  const older = processes.filter((each) => each.version < newest).length;
  if (version < newest && older > 0)
    return `The rebuild for version ${newest} waits until ${older === 1 ? '1 process of an older version has' : `${older} processes of an older version have`} ended.`;
  return 'Nothing is left to rebuild.';
}
