// Fills every table of a SQLite database with made-up rows, whatever tables the migrations make.

import type { Database } from 'bun:sqlite'
import { createRandom } from '../../server/lib/seeded-random.ts'
import { listSourceTables } from '../../server/storage/database/copy/source-tables.ts'

interface ColumnInfo {
  name: string
  type: string
  notnull: number
  pk: number
}

/** Texts that a careless copy would change. */
const TEXTS = [
  '',
  "it's",
  'line\nbreak',
  '\t"quoted"\\',
  '😀 Ünïcode',
  '{"a": [1, "\\u0000"]}',
  '\\N',
  'nul\0l',
]
/** Times and counters are of 64 bits. Other integers may be of 32 bits in PostgreSQL. */
const WIDE = /(^|_)(at|until|day|clicks|leads|hits)$/
const WIDE_INTEGERS = [0, -1, 4_102_444_800_000, Number.MAX_SAFE_INTEGER]
const INTEGERS = [0, 1, 2, 302]

/** @returns how many rows each table has now */
export function fillTables(database: Database, rowsEach: number, seed = 1): Map<string, number> {
  const random = createRandom(seed)
  const counts = new Map<string, number>()
  let unique = 0
  for (const { name } of listSourceTables(database)) {
    const columns = database
      .query<ColumnInfo, [string]>('select name, type, "notnull", pk from pragma_table_info(?)')
      .all(name)
    const references = listReferences(database, name)
    const isComposite = columns.filter(({ pk }) => pk > 0).length > 1
    const toValue = (column: ColumnInfo, row: number) => {
      const parents = references.get(column.name)
      if (parents) return parents[row % parents.length]
      if (/blob/i.test(column.type)) return new Uint8Array([0, 255, row, 92, 120])
      if (column.name === 'id') return name === 'instance' ? 1 : row * 3 + 1
      const isNumber = /int|real|num/i.test(column.type)
      if (column.pk > 0) return isNumber ? row + 1 : `${name}-${row}${isComposite ? '' : `-${++unique}`}`
      if (column.notnull === 0 && random() < 0.3) return null
      if (isNumber && column.name === 'founder') return row === 0 ? 1 : null
      if (isNumber) {
        const integers = WIDE.test(column.name) ? WIDE_INTEGERS : INTEGERS
        return integers[Math.floor(random() * integers.length)]
      }
      return `${TEXTS[Math.floor(random() * TEXTS.length)]}${++unique}`
    }
    const insert = database.query(
      `insert or ignore into "${name}" (${columns.map((column) => `"${column.name}"`).join(', ')})
       values (${columns.map(() => '?').join(', ')})`,
    )
    for (let row = 0; row < (name === 'instance' ? 1 : rowsEach); row++)
      insert.run(...(columns.map((column) => toValue(column, row)) as never[]))
    const { n } = database.query<{ n: number }, []>(`select count(*) as n from "${name}"`).get() ?? { n: 0 }
    counts.set(name, n)
  }
  return counts
}

/** The ids that the foreign keys of a table may name, by column. */
function listReferences(database: Database, table: string): Map<string, unknown[]> {
  const keys = database
    .query<{ table: string; from: string; to: string }, [string]>(
      'select "table", "from", "to" from pragma_foreign_key_list(?)',
    )
    .all(table)
  return new Map(
    keys.map(({ table: other, from, to }) => [
      from,
      // In one order: the columns of a key of several columns are of one row.
      database.query(`select "${to}" from "${other}" order by rowid`).values().flat(),
    ]),
  )
}
