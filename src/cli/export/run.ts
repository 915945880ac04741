import { writeFile } from 'node:fs/promises';
import { exportDatex } from '../../import/datex-export.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import { type CommandContext, CommandError, counted, joinSome } from '../command.ts';
import { readPublished } from '../import/published.ts';

export interface ExportOptions {
  country: string;
  creator?: string;
  lang: string;
  out?: string;
  statusOut?: string;
}

export async function exportAsDatex(options: ExportOptions, context: CommandContext): Promise<void> {
  const config = context.config();
  const { country, creator: nationalIdentifier = config.identities.publisher.id, lang } = options;
  const published = await readPublished(config);
  const catalogs: Catalog[] = [];
  for (const { catalogId, isActive, retiredAt } of published.entries.values()) {
    const { content } = (await published.find(catalogId)) ?? {};
    if (!content || isActive === false || retiredAt !== undefined) continue;
    const chargers = [...content.resources.values()].filter(
      ({ resourceAttributes }) => resourceAttributes?.['@type'] === 'EnergyResourceEVCharger',
    );
    if (chargers.length > 0)
      catalogs.push({ ...content.members, resources: chargers, offers: [...content.offers.values()] });
  }
  if (catalogs.length === 0) throw new CommandError(`No EV charger is published in ${config.publisherDir}.`);
  const { table, status, problems } = exportDatex(catalogs, {
    now: new Date(),
    lang,
    creator: { country, nationalIdentifier },
  });
  if (options.out === undefined) context.print(JSON.stringify(table));
  else await writeFile(options.out, JSON.stringify(table));
  if (options.statusOut !== undefined) await writeFile(options.statusOut, JSON.stringify(status));
  context.note(`${counted(catalogs.length, 'catalog')} exported.`);
  if (problems.length === 0) return;
  const places = [...new Set(problems.map(({ at, why }) => `${at} ${why}`))];
  context.note(`${counted(problems.length, 'value')} lost: ${joinSome(places)}.`);
  context.setExitCode(2);
}
