import type { ComponentChildren } from 'preact';
import type { Paged } from '../api/paged.ts';
import { Show } from './states.tsx';
import { spellCount } from './time.tsx';
import './table.css';

export interface Column<Row> {
  label: string;
  /** Aligned to the right. */
  isNumber?: boolean;
  cell(row: Row): ComponentChildren;
}

/** On a phone each row becomes a card: the style sheet writes the label before each cell. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
}) {
  return (
    <div class="scroll">
      <table class="cards">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ label, isNumber }) => (
              <th key={label} scope="col" class={isNumber ? 'number' : undefined}>
                {label === 'Actions' ? <span class="hidden">{label}</span> : label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ label, isNumber, cell }) => (
                <td key={label} data-label={label} class={isNumber ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A paged list with its states: loading, failed, empty, and more to come. */
export function PagedTable<Row>({
  list,
  empty,
  ...table
}: {
  list: Paged<Row>;
  /** Shown where the list is empty. */
  empty: ComponentChildren;
  caption: string;
  columns: readonly Column<Row>[];
  keyOf(row: Row): string;
}) {
  return (
    <Show of={list} what={table.caption}>
      {({ items, total }) =>
        items.length === 0 ? (
          empty
        ) : (
          <>
            <Table {...table} rows={items} />
            <p class="table-end soft small">
              {spellCount(items.length)}
              {total !== undefined && total > items.length && ` of ${spellCount(total)}`}
              {list.more && (
                <button type="button" onClick={list.more} disabled={list.loading}>
                  Show more
                </button>
              )}
            </p>
          </>
        )
      }
    </Show>
  );
}
