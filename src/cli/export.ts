import type { Register } from './command.ts';
import type { ExportOptions } from './export/run.ts';

export const register: Register = (program, context) =>
  program
    .command('export')
    .addHelpText('after', help)
    .command('datex')
    .description('DATEX II v3 EnergyInfrastructure, as JSON')
    .requiredOption('--country <code>', 'country of the publisher of the data, such as DE')
    .option('--creator <id>', 'identifier of the publisher there (default: PUBLISHER_ID)')
    .option('--lang <code>', 'language of the texts', 'en')
    .option('--out <file>', 'write the table publication there instead of printing it')
    .option('--status-out <file>', 'write the status publication there')
    .action(async (options: ExportOptions) =>
      (await import('./export/run.ts')).exportAsDatex(options, context),
    );

const help = `
Reads the catalogs published in PUBLISHER_DIR, except retired and inactive ones. Values that have no place in DATEX II are reported.
Exit codes: 0 success, 1 failure, 2 some values were lost.

Examples:
  $ signpost export datex --country DE --out table.json --status-out status.json`;
