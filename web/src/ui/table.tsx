import type { ComponentChildren } from 'preact';
import type { Paged } from '../api/load.ts';
import { Empty, Show } from './states.tsx';
import { spellCount } from './time.tsx';
import './table.css';

export interface Column<Row> {
  label: string;
  /** Numbers are right-aligned; numbers and short texts never wrap. */
  kind?: 'number' | 'short';
  cell(row: Row): ComponentChildren;
}

interface TableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  isChosen?(row: Row): boolean;
}

/** On a phone each row becomes a card: the style sheet writes the label before each cell. */
export function Table<Row>({ caption, columns, rows, keyOf, isChosen }: TableProps<Row>) {
  return (
    <div class="scroll">
      <table class="cards">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ label, kind }) => (
              <th key={label} scope="col" class={kind}>
                {label === 'Actions' ? <span class="hidden">{label}</span> : label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={isChosen?.(row) ? 'chosen' : undefined}>
              {columns.map(({ label, kind, cell }) => (
                <td key={label} data-label={label} class={kind}>
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

interface PagedProps<Row> extends Omit<TableProps<Row>, 'rows'> {
  list: Paged<Row>;
  empty: string;
  hint?: ComponentChildren;
}

/** A paged list with its states: loading, failed, empty, and more to come. A page of a filtered list may be empty before the last page. */
export function PagedTable<Row>({ list, empty, hint, ...table }: PagedProps<Row>) {
  return (
    <Show of={list} what={table.caption}>
      {({ items }) =>
        items.length === 0 && !list.more ? (
          <Empty title={empty}>{hint}</Empty>
        ) : (
          <>
            {items.length > 0 && <Table {...table} rows={items} />}
            {list.more && (
              <p class="table-end soft small">
                {items.length > 0 ? spellCount(items.length) : 'None so far'}
                <button type="button" onClick={list.more} disabled={list.loading}>
                  {items.length > 0 ? 'Show more' : 'Search further'}
                </button>
              </p>
            )}
          </>
        )
      }
    </Show>
  );
}
