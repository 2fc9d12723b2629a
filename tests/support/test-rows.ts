// A row store without a server, and rows with the columns that a test does not care about.

import { afterAll, beforeAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Insertable } from 'kysely'
import {
  type DatabaseEngine,
  type DatabaseHandle,
  openDatabase,
} from '../../server/storage/database/open-database.ts'
import type { Tables } from '../../server/storage/database/tables.ts'
import { migratedDatabase } from './migrated-database.ts'

/** Opens a row store for the tests of this block, and closes it after them. @returns the open one */
export function useDatabase(
  engine: DatabaseEngine = 'sqlite',
  fill: (db: DatabaseHandle, dataDir: string) => unknown = () => {},
): { readonly db: DatabaseHandle; readonly dataDir: string } {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-rows-'))
  let db: DatabaseHandle | undefined
  let drop: (() => Promise<unknown>) | undefined
  beforeAll(async () => {
    const database = engine === 'postgres' ? await migratedDatabase() : undefined
    drop = database?.drop
    db = await openDatabase({ dataDir, databaseUrl: database?.url })
    await fill(db, dataDir)
  }, 240_000)
  afterAll(async () => {
    await db?.close()
    await drop?.()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return {
    dataDir,
    get db() {
      if (!db) throw new Error('the row store is open in tests only')
      return db
    },
  }
}

/** Inserts rows into several tables, in this order. */
export const insertRows = (
  db: DatabaseHandle,
  rows: { [T in keyof Tables]?: Insertable<Tables[T]>[] },
): Promise<unknown> =>
  db.write(async (connection) => {
    for (const [table, values] of Object.entries(rows))
      await connection
        .insertInto(table as keyof Tables)
        .values(values as never)
        .execute()
  })

type Row<T extends keyof Tables> = Insertable<Tables[T]>
/** A row of which a test names some columns. */
type Some<T extends keyof Tables, Named extends keyof Row<T>> = Pick<Row<T>, Named> & Partial<Row<T>>

export const workspaceRow = ({ id, ...row }: Some<'workspaces', 'id'>): Row<'workspaces'> => ({
  id,
  public_id: `p${id}`,
  name: 'w',
  plan: 'pro',
  created_at: 1,
  updated_at: 1,
  ...row,
})

export const formRow = (row: Some<'forms', 'id' | 'form_key'>): Row<'forms'> => ({
  workspace_id: 1,
  name: 'f',
  redirect_url: null,
  success_message: null,
  created_at: 1,
  updated_at: 1,
  ...row,
})

export const linkRow = ({ id, slug = `s${id}`, ...row }: Some<'links', 'id'>): Row<'links'> => ({
  id,
  slug,
  workspace_id: 1,
  domain: '',
  slug_key: slug?.toLowerCase(),
  search_text: '',
  redirect_status: 302,
  destination_url: `https://example.com/${id}`,
  geo_targeting: '{}',
  device_targeting: '{}',
  archived: 0,
  clicks_used: 0,
  forward_query: 0,
  track_conversions: 0,
  clicks: 0,
  leads: 0,
  created_at: 1,
  updated_at: 1,
  ...row,
})

export const tagRow = ({ name, ...row }: Some<'tags', 'id' | 'name'>): Row<'tags'> => ({
  name,
  workspace_id: 1,
  name_key: name.toLowerCase(),
  color: 'gray',
  created_at: 1,
  ...row,
})
