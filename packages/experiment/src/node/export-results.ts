import { parquetWriteBuffer } from 'hyparquet-writer';
import { type NamedResult, type ResultTable, resultTables, tableCsv } from '../result-tables.js';
import { writeWhole } from './write-whole.js';

/** A format of tables. */
export type TableFormat = 'csv' | 'parquet';

/**
 * Writes results as tables, one file for each: `FOLDER/metrics.parquet` and so on. Tables without rows are written too.
 * @returns the paths. @throws HostError; a file that could be written before stays.
 */
export function exportResults(results: readonly NamedResult[], format: TableFormat, folder: string): string[] {
  return resultTables(results).map((table) => {
    const path = `${folder.replace(/(?<=.)\/+$/, '')}/${table.name}.${format}`;
    writeWhole(path, format === 'csv' ? tableCsv(table) : tableParquet(table));
    return path;
  });
}

/** A table as a Parquet file: texts as strings, numbers as doubles, null for NaN. */
export function tableParquet({ columns }: ResultTable): Uint8Array {
  const columnData = columns.map(({ name, type, values }) =>
    type === 'text'
      ? { name, type: 'STRING' as const, data: [...values] }
      : { name, type: 'DOUBLE' as const, data: values.map((value) => (Number.isNaN(value) ? null : value)) },
  );
  return new Uint8Array(parquetWriteBuffer({ columnData, createdBy: 'flashstack' }));
}
