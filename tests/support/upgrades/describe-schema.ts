// Lists tables, columns in their order, constraints, indexes, triggers and functions: equal texts for equal schemas.

import { type Kysely, sql } from 'kysely'
import type { Connection, DatabaseEngine } from '../../../server/storage/database/database.ts'

const SQLITE = [
  `select name, sql like '%autoincrement%' from sqlite_schema where type = 'table' order by name`,
  `select t.name as t, c.* from sqlite_schema t, pragma_table_xinfo(t.name) c where t.type = 'table' order by t.name, c.cid`,
  `select t.name as t, k.* from sqlite_schema t, pragma_foreign_key_list(t.name) k where t.type = 'table' order by t.name, k.id`,
  `select t.name as t, i.name as i, i."unique", i.origin, i.partial, c.name, c."desc", c.coll, c.key
   from sqlite_schema t, pragma_index_list(t.name) i, pragma_index_xinfo(i.name) c
   where t.type = 'table' order by t.name, i.seq, c.seqno`,
  `select name, sql from sqlite_schema where type in ('index', 'trigger', 'view') order by name`,
]

const SCHEMA = `(select oid from pg_namespace where nspname = current_schema())`
const POSTGRES = [
  `select relname, relkind, relpersistence, reloptions from pg_class
   where relnamespace = ${SCHEMA} and relkind in ('r', 'v', 'S') order by 1`,
  `select c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
     a.attcollation::regcollation::text, pg_get_expr(d.adbin, d.adrelid)
   from pg_attribute a join pg_class c on c.oid = a.attrelid
     left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where c.relnamespace = ${SCHEMA} and c.relkind = 'r' and a.attnum > 0 order by 1, 2`,
  `select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
   where connamespace = ${SCHEMA} and contype in ('c', 'f', 'p', 'u', 'x') order by 1, 2`,
  `select tablename, indexname, indexdef from pg_indexes where schemaname = current_schema() order by 1, 2`,
  `select sequencename, start_value, increment_by from pg_sequences where schemaname = current_schema() order by 1`,
  `select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
   where c.relnamespace = ${SCHEMA} and not tgisinternal order by 1`,
  `select pg_get_functiondef(oid) from pg_proc where pronamespace = ${SCHEMA} order by 1`,
]

export async function describeSchema(engine: DatabaseEngine, db: Connection): Promise<string[]> {
  const lines: string[] = []
  for (const query of engine === 'sqlite' ? SQLITE : POSTGRES) {
    const { rows } = await sql.raw<object>(query).execute(db as Kysely<unknown>)
    // Statements of old and new steps differ in their quotes and line breaks.
    for (const row of rows)
      lines.push(
        JSON.stringify(Object.values(row))
          .replaceAll('\\"', '')
          .replace(/(\\n|\s)+/g, ' '),
      )
  }
  return lines
}
