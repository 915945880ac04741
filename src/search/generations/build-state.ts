import type { Queryable } from '../../storage/database.ts';

/** Which generations there are, and how far the build of one has come. */
export interface BuildState {
  inUse: GenerationRow;
  building?: GenerationRow;
  /** Catalogs that are not in the newest generation yet. */
  left: number;
}

export interface GenerationRow {
  number: number;
  version: number;
}

export async function readBuildState(queryable: Queryable): Promise<BuildState> {
  const { rows } = await queryable.query<GenerationRow & { state: string }>(
    `select number, version, state from discovery.generation where state <> 'retired' order by number`,
  );
  const [inUse, building] = ['in use', 'building'].map((state) => rows.find((row) => row.state === state));
  if (inUse === undefined) throw new Error('no generation of the index is in use');
  const left = building ? await countLeft(queryable, building.number) : 0;
  return { inUse, ...(building && { building }), left };
}

/** Catalogs that are not in a generation yet. */
export async function countLeft(queryable: Queryable, number: number): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(
    'select count(*) as count from discovery.catalog where generation < $1',
    [number],
  );
  return Number(rows[0]?.count ?? 0);
}
