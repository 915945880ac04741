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
  const { inUse, newest, processes } = status;
  const lines = [
    `Searches read generation ${inUse.number} of the index, of version ${inUse.version}; this program knows up to version ${newest}.`,
    describeNextStep(status),
  ];
  const rows = processes.map(({ name, version: known }) => [name, String(known)]);
  if (rows.length === 0) return [...lines, 'No running process uses it.'].join('\n');
  return [...lines, '', renderTable(['PROCESS', 'KNOWS VERSION'], rows)].join('\n');
}

function describeNextStep({
  inUse,
  building,
  left,
  newest,
  catalogs,
  isBuilding,
  processes,
}: IndexStatus): string {
  if (building) {
    const built = `${catalogs - left} of ${catalogs} catalogs are in generation ${building.number}, of version ${building.version}.`;
    if (isBuilding) return `${built} The others are being built.`;
    return `${built} The others will be built${processes.length > 0 ? '' : ' when a discovery service runs'}.`;
  }
  const older = processes.filter(({ version }) => version < newest).length;
  if (inUse.version < newest && older > 0)
    return `The generation for version ${newest} waits until ${older === 1 ? '1 process of an older version has' : `${older} processes of an older version have`} ended.`;
  return 'Nothing is left to build.';
}
